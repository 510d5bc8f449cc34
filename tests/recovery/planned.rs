//! Whom a run's own options have killed (`--kill`), and whether the report has lost just these.

/// A `--kill NODE@WHEN` of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    node: u64,
    /// None if it is to happen at a time, by which the run may be over.
    step: Option<u64>,
}

/// All of a run.
#[derive(Clone, Debug)]
pub struct Kills(Vec<Planned>);

impl Kills {
    /// Those that options ask for, in the order of their steps.
    pub fn of(options: &str) -> Kills {
        let words: Vec<&str> = options.split_whitespace().collect();
        let asked = words.windows(2).filter(|two| two[0] == "--kill");
        let mut planned: Vec<Planned> = asked.map(|two| Planned::of(two[1])).collect();
        planned.sort_by_key(|kill| (kill.step, kill.node));
        Kills(planned)
    }

    /// Whoever was to be killed at a step has been lost, in the order of these steps; those of one step in any order. Whoever was to be killed
    /// at a time may have been, and nobody else. Options that kill nobody say nothing of losses.
    #[track_caller]
    pub fn check(&self, lost: &[u64], said: &str) {
        let agrees = self.0.is_empty() || self.all_at_steps_are(lost) || self.some_at_times_are(lost);
        assert!(agrees, "lost {lost:?}, asked for {:?}: {said}", self.0);
    }

    fn all_at_steps_are(&self, lost: &[u64]) -> bool {
        let mut left = lost;
        let mut of_one_step = self.0.chunk_by(|one, other| one.step == other.step);
        let each_is_lost = |kills: &[Planned]| {
            let Some((now, later)) = left.split_at_checked(kills.len()) else { return false };
            left = later;
            let mut now = now.to_vec();
            now.sort_unstable();
            kills.iter().map(|kill| kill.node).eq(now)
        };
        self.0.iter().all(|kill| kill.step.is_some()) && of_one_step.all(each_is_lost) && left.is_empty()
    }

    /// These are all at times.
    fn some_at_times_are(&self, lost: &[u64]) -> bool {
        let mut left = self.0.clone();
        let takes = |node: &u64| {
            let at = left.iter().position(|kill| kill.node == *node);
            at.map(|at| left.swap_remove(at)).is_some()
        };
        self.0.iter().all(|kill| kill.step.is_none()) && lost.iter().all(takes)
    }
}

impl Planned {
    fn of(word: &str) -> Planned {
        let (node, when) = word.split_once('@').expect("a kill has a node and a time");
        let step = when.strip_prefix("step").map(|step| step.parse().expect("a step is a number"));
        Planned { node: node.parse().expect("a node is a number"), step }
    }
}
