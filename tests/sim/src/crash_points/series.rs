//! What strikes at which steps.

use talisman::rng::Rng;

use crate::case::{Blow, Case, Strike, Strikes};
use crate::verdict::borne_ns;

/// What happens at the steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Series {
    /// Each node, and the launcher, is killed
    #[default]
    Crashes,
    /// The same, and somebody else is killed at a random step soon after
    Pairs,
    /// Each node is killed at some steps, and somebody else at every step of what follows: the job survives losses
    Recover,
    /// The launcher is killed, and at some of the steps whoever takes its place, soon after: the job survives that
    Takeover,
    /// Each host but the launcher's loses its power
    Hosts,
    /// Each node is stopped for as long as has to be borne
    Stops,
    /// Each node is stopped for longer than that
    LongStops,
    /// All connections are reset
    Resets,
}

/// A job that has lost a node is over after some hundred steps.
const SOON: u64 = 400;
/// One that survives goes on after so many at most, and has its next checkpoint.
const RECOVERY: u64 = 1_500;
/// Recoveries of a run that are looked at for each who is killed first.
const RECOVERIES: u64 = 4;
/// Losses of the launcher after which another loss is looked at.
const TAKEOVERS: u64 = 8;

impl Series {
    /// All strikes on a run of so many steps, at one in so many of them. Which steps are left out is another matter for each
    /// who is struck, so that few are left out for all.
    pub(super) fn strikes(
        self,
        case: &Case,
        steps: u64,
        every: u64,
    ) -> impl Iterator<Item = Strikes> + Send + use<> {
        let blows = self.blows(case);
        match self {
            Series::Recover => return Left(recoveries(blows, case.seed, steps, every)),
            Series::Takeover => return Middle(takeovers(case.nodes(), case.seed, steps, every)),
            _ => {}
        }
        let (seed, of) = (case.seed, blows.len().max(1) as u64);
        let first = move |turn: usize| seed.wrapping_add(turn as u64 * every / of) % every;
        let all = blows.clone().into_iter().enumerate().flat_map(move |(turn, blow)| {
            let blows = blows.clone();
            (first(turn)..steps).step_by(every as usize).map(move |step| {
                let second = (self == Series::Pairs).then(|| second(&blows, turn, seed, step));
                Strikes([Strike { blow, step }].into_iter().chain(second).collect())
            })
        });
        Right(all)
    }

    /// Whether it is about jobs that survive losses.
    pub(super) fn survives(self) -> bool {
        matches!(self, Series::Recover | Series::Takeover)
    }

    fn blows(self, case: &Case) -> Vec<Blow> {
        let (nodes, hosts) = (case.nodes(), case.hosts.len() as u32);
        let borne_ms = borne_ns(case.silence) / 1_000_000;
        match self {
            Series::Crashes | Series::Pairs => (0..nodes).map(Blow::Crash).chain([Blow::Launcher]).collect(),
            Series::Recover => (0..nodes).map(Blow::Crash).collect(),
            Series::Takeover => vec![Blow::Launcher],
            Series::Hosts => (1..hosts).map(Blow::Host).collect(),
            Series::Stops => (0..nodes).map(|node| Blow::Stop(node, borne_ms)).collect(),
            Series::LongStops => (0..nodes).map(|node| Blow::Stop(node, 3 * borne_ms + 2_000)).collect(),
            Series::Resets => vec![Blow::Resets],
        }
    }
}

/// Each is killed at some steps of a run, and by turns each of the others at one in so many of the steps after that.
fn recoveries(
    blows: Vec<Blow>,
    seed: u64,
    steps: u64,
    every: u64,
) -> impl Iterator<Item = Strikes> + Send + use<> {
    let mut rng = Rng::new(seed);
    let firsts: Vec<_> = (0..blows.len())
        .flat_map(|turn| (0..RECOVERIES).map(move |_| turn))
        .map(|turn| (turn, rng.below(steps.max(1)), rng.below(every)))
        .collect();
    firsts.into_iter().flat_map(move |(turn, step, from)| {
        let blows = blows.clone();
        (from..RECOVERY).step_by(every as usize).enumerate().map(move |(count, later)| {
            let others = blows.len().saturating_sub(1).max(1);
            let other = (turn + 1 + count % others) % blows.len();
            Strikes(vec![
                Strike { blow: blows[turn], step },
                Strike { blow: blows[other], step: step + 1 + later },
            ])
        })
    })
}

/// The launcher is killed at one in so many of the steps, and at some of them, by turns, whoever leads or is about to, or another node, at one
/// in so many of the steps after that.
fn takeovers(nodes: u32, seed: u64, steps: u64, every: u64) -> impl Iterator<Item = Strikes> + Send + use<> {
    let launcher = |step| Strike { blow: Blow::Launcher, step };
    let alone = (seed % every..steps).step_by(every as usize).map(move |step| Strikes(vec![launcher(step)]));
    let mut rng = Rng::new(seed);
    let firsts: Vec<_> = (0..TAKEOVERS).map(|_| (rng.below(steps.max(1)), rng.below(every))).collect();
    let pairs = firsts.into_iter().flat_map(move |(step, from)| {
        (from..RECOVERY).step_by(every as usize).enumerate().map(move |(count, later)| {
            let blow = match count % 3 {
                0 => Blow::Crash(0),
                1 => Blow::Launcher,
                _ => Blow::Crash(1 % nodes),
            };
            Strikes(vec![launcher(step), Strike { blow, step: step + 1 + later }])
        })
    });
    alone.chain(pairs)
}

/// Somebody else, soon after: as often at once as much later, by orders of magnitude.
fn second(blows: &[Blow], first: usize, seed: u64, step: u64) -> Strike {
    let mut rng = Rng::new(seed ^ step << 8 ^ first as u64);
    let others = blows.len() - 1;
    let other = (first + 1 + rng.below(others as u64) as usize) % blows.len();
    let later = (SOON as f64).powf(rng.unit_f64()) as u64;
    Strike { blow: blows[other], step: step + later }
}

/// One of three series.
enum Either<A, B, C> {
    Left(A),
    Middle(B),
    Right(C),
}

use Either::{Left, Middle, Right};

impl<A, B, C> Iterator for Either<A, B, C>
where
    A: Iterator<Item = Strikes>,
    B: Iterator<Item = Strikes>,
    C: Iterator<Item = Strikes>,
{
    type Item = Strikes;

    fn next(&mut self) -> Option<Strikes> {
        match self {
            Left(all) => all.next(),
            Middle(all) => all.next(),
            Right(all) => all.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Overrides;

    fn strikes(series: Series, steps: u64, every: u64) -> Vec<String> {
        let overrides = Overrides { hosts: Some("1,2".parse().expect("hosts")), ..Overrides::default() };
        let case = Case::draw(1, &overrides).expect("it can be drawn");
        series.strikes(&case, steps, every).map(|strikes| strikes.to_string()).collect()
    }

    #[test]
    fn everybody_is_struck_at_every_step() {
        assert_eq!(
            strikes(Series::Crashes, 2, 1),
            ["0@0", "0@1", "1@0", "1@1", "2@0", "2@1", "launcher@0", "launcher@1"]
        );
        assert_eq!(strikes(Series::Hosts, 2, 1), ["host1@0", "host1@1"]);
        assert_eq!(strikes(Series::Resets, 3, 1), ["resets@0", "resets@1", "resets@2"]);
        assert_eq!(strikes(Series::Stops, 5, 1).len(), 15);
    }

    #[test]
    fn different_steps_are_left_out_for_each() {
        assert_eq!(strikes(Series::Crashes, 5, 4), ["0@1", "1@2", "2@3", "launcher@0", "launcher@4"]);
    }

    #[test]
    fn somebody_else_is_killed_at_every_step_of_a_recovery() {
        let all = strikes(Series::Recover, 100, 1);
        assert_eq!(all.len() as u64, 3 * RECOVERIES * RECOVERY);
        for pair in all {
            let Strikes(pair) = pair.parse().expect("it is of the form");
            assert!(pair[0].blow != pair[1].blow && pair[0].step < pair[1].step, "{pair:?}");
        }
    }

    #[test]
    fn the_launcher_is_killed_at_every_step_and_somebody_else_soon_after() {
        let all = strikes(Series::Takeover, 100, 1);
        assert_eq!(all.len() as u64, 100 + TAKEOVERS * RECOVERY);
        assert_eq!(all[..3], ["launcher@0", "launcher@1", "launcher@2"]);
        for pair in &all[100..] {
            let Strikes(pair) = pair.parse().expect("it is of the form");
            assert!(pair[0].blow == Blow::Launcher && pair[0].step < pair[1].step, "{pair:?}");
        }
        assert_eq!(strikes(Series::Takeover, 10, 4)[..3], ["launcher@1", "launcher@5", "launcher@9"]);
    }

    #[test]
    fn of_a_pair_somebody_else_comes_later() {
        for pair in strikes(Series::Pairs, 50, 1) {
            let Strikes(pair) = pair.parse().expect("it is of the form");
            assert!(pair[0].blow != pair[1].blow && pair[0].step < pair[1].step, "{pair:?}");
        }
    }
}
