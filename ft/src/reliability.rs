//! How likely it is that a job loses both copies of something.
//!
//! Nodes fail independently of each other, each after a time of the exponential distribution, and are replaced at once, or are so
//! few of so many that their number hardly changes. A loss leaves single copies behind for a while, the *exposure*; a
//! loss of one who has such a copy, in this time, ends the job. How long the exposure is depends on what is done about a loss:
//!
//! - **Fixed**: lost copies are made again at once, which takes the same time after every loss. So does this runtime, which takes a
//!   checkpoint as soon as all have gone back.
//! - **Residual**: they are missing until the next checkpoint, which comes every so often whatever happens. A part is lost if all who hold it
//!   fail in the same period.
//!
//! All times are in one unit, whichever.

#[cfg(test)]
mod tests;

/// A job, as far as matters here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// How many nodes it has.
    pub nodes: u32,
    /// The mean time until one of them fails.
    pub life: f64,
    /// For how long it runs.
    pub runs: f64,
}

/// For how long there are single copies after a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// For so long after each.
    Fixed(f64),
    /// To the end of the period of this length in which it happens.
    Residual(f64),
}

/// Who keeps the other copy of a node's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buddies {
    /// Two nodes are each other's: the paper.
    Pairs,
    /// The next node around the ring: this runtime. Each loss leaves two with single copies.
    Ring,
}

impl Job {
    /// How many losses there are on average.
    #[must_use]
    pub fn losses(&self) -> f64 {
        f64::from(self.nodes) * self.runs / self.life
    }

    /// The probability that there is any: that a job without checkpoints does not come to its end.
    #[must_use]
    pub fn fails_without(&self) -> f64 {
        -(-self.losses()).exp_m1()
    }

    /// The probability that both copies of something are lost.
    ///
    /// Exact for residual exposures. For fixed ones it holds as long as an exposure is short, compared with a node's life and
    /// with the job: those that overlap count as if they did not know of each other.
    #[must_use]
    pub fn fails_with(&self, exposure: Exposure, buddies: Buddies) -> f64 {
        match exposure {
            Exposure::Fixed(time) => {
                let fatal = -(-buddies.exposed() * time / self.life).exp_m1();
                -(-self.losses() * fatal).exp_m1()
            }
            Exposure::Residual(period) => {
                let fails = -(-period / self.life).exp_m1();
                let in_one = buddies.both_fail(self.nodes, fails);
                -((self.runs / period) * (-in_one).ln_1p()).exp_m1()
            }
        }
    }

    /// Lets the job run once without checkpoints, whether it loses anything. `random` gives numbers that are even between 0 and 1.
    pub fn simulate_without(&self, random: &mut impl FnMut() -> f64) -> bool {
        self.until_next(random) < self.runs
    }

    /// Lets the job run once, whether it loses both copies of something. `random` gives numbers that are even between 0 and 1.
    pub fn simulate(&self, exposure: Exposure, buddies: Buddies, random: &mut impl FnMut() -> f64) -> bool {
        let mut now = 0.0;
        let mut recent: Vec<(u32, f64)> = Vec::new();
        loop {
            now += self.until_next(random);
            if now >= self.runs {
                return false;
            }
            let node = (random() * f64::from(self.nodes)) as u32;
            recent.retain(|(_, at)| exposure.lasts(*at, now));
            if recent.iter().any(|(other, _)| buddies.share(node, *other, self.nodes)) {
                return true;
            }
            recent.push((node, now));
        }
    }

    /// The time from any moment to the next loss.
    fn until_next(&self, random: &mut impl FnMut() -> f64) -> f64 {
        -(1.0 - random()).ln() * self.life / f64::from(self.nodes)
    }
}

impl Exposure {
    /// Whether copies that were lost at one time are still missing at another.
    fn lasts(self, lost: f64, now: f64) -> bool {
        match self {
            Exposure::Fixed(time) => now - lost < time,
            Exposure::Residual(period) => (lost / period).floor() == (now / period).floor(),
        }
    }
}

impl Buddies {
    /// How many nodes have a single copy after a loss.
    fn exposed(self) -> f64 {
        match self {
            Buddies::Pairs => 1.0,
            Buddies::Ring => 2.0,
        }
    }

    /// Whether two nodes have the only two copies of anything.
    fn share(self, one: u32, other: u32, nodes: u32) -> bool {
        match self {
            Buddies::Pairs => one != other && one / 2 == other / 2,
            Buddies::Ring => (one + 1) % nodes == other || (other + 1) % nodes == one,
        }
    }

    /// The probability that two of so many nodes fail that share something, if each fails with this probability.
    fn both_fail(self, nodes: u32, fails: f64) -> f64 {
        let nodes = f64::from(nodes);
        match self {
            Buddies::Pairs => -((nodes / 2.0) * (-fails * fails).ln_1p()).exp_m1(),
            // Around a ring no two neighbours fail: the trace of a power of the matrix ((1-p, p), (1-p, 0)).
            Buddies::Ring => {
                let stays = 1.0 - fails;
                let root = (stays * (1.0 + 3.0 * fails)).sqrt();
                // The larger eigenvalue is hardly less than 1: what is missing would be lost in the difference.
                let missing = 2.0 * fails * fails / (1.0 + fails + root);
                let smaller = (stays - root) / 2.0;
                -(nodes * (-missing).ln_1p()).exp_m1() - smaller.powf(nodes)
            }
        }
    }
}
