//! Who may still come to a node that takes over.
//!
//! Pure: a process is whatever tells one from others, and can be killed.

use std::collections::BTreeMap;
use std::time::Duration;

use talisman_control::heartbeat::Heartbeat;
use talisman_observe::mutations::mutated;

/// Those that live, and have not come yet.
#[derive(Debug)]
pub struct Missing<P> {
    processes: BTreeMap<u32, P>,
    patience: Heartbeat,
}

impl<P> Missing<P> {
    /// These, which may be silent for so long.
    pub fn new(processes: BTreeMap<u32, P>, silence: Duration) -> Self {
        Missing { processes, patience: Heartbeat::new(silence) }
    }

    /// This one has come.
    pub fn on_come(&mut self, node: u32) {
        self.processes.remove(&node);
    }

    /// Nobody waits for the dead.
    pub fn forget(&mut self, has_ended: impl Fn(u32, &P) -> bool) {
        self.processes.retain(|node, process| !has_ended(*node, process));
    }

    /// A tick went by: whoever is to be killed now, as it has not come in time.
    pub fn on_tick(&mut self) -> Vec<&P> {
        let is_over = self.patience.tick() && !mutated("who-does-not-follow-lives");
        self.processes.values().filter(|_| is_over).collect()
    }

    /// Whether nobody is missing any more.
    pub fn is_nobody(&self) -> bool {
        self.processes.is_empty() || mutated("not-all-are-waited-for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_control::heartbeat::TICK;

    fn missing() -> Missing<char> {
        Missing::new(BTreeMap::from([(1, 'a'), (2, 'b'), (3, 'c')]), TICK * 2)
    }

    #[test]
    fn who_has_come_or_has_ended_is_not_missing() {
        let mut missing = missing();
        missing.on_come(2);
        missing.forget(|node, _| node == 1);
        assert!(!missing.is_nobody());
        missing.forget(|_, process| *process == 'c');
        assert!(missing.is_nobody());
    }

    #[test]
    fn who_does_not_come_in_time_is_killed_once() {
        let mut missing = missing();
        missing.on_come(1);
        let killed: Vec<String> = (0..5).map(|_| missing.on_tick().into_iter().collect()).collect();
        assert_eq!(killed, ["", "", "bc", "", ""]);
        assert!(!missing.is_nobody(), "their ends are waited for");
    }
}
