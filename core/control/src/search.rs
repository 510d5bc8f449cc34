//! Whom a node follows when its launcher is gone: the lowest node that lives, which may be itself.
//!
//! Pure. Nodes that are dead stay dead, so all that look go through them in the same order, and none goes past one that lives.

use talisman_observe::mutations::mutated;

/// Where a node is in its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    own: u32,
    candidate: u32,
    /// So many ticks it has been waited for.
    waited: u32,
    limit: u32,
}

/// What is to be done about one that has not said anything yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Wait,
    /// It is there and says nothing: it is to be killed.
    Fence,
}

impl Search {
    /// Of a node that has lost its launcher. Whoever says nothing for so many ticks counts as dead.
    pub fn new(own: u32, limit: u32) -> Self {
        Search { own, candidate: 0, waited: 0, limit }
    }

    /// Whom it tries: connects with, and says who it is. If it is itself, it leads.
    pub fn candidate(&self) -> u32 {
        self.candidate
    }

    /// The one that it tries is dead. Whoever has found all others dead goes no further.
    pub fn on_dead(&mut self) {
        self.waited = 0;
        let next = if mutated("search-passes-over-one") { 2 } else { 1 };
        self.candidate = (self.candidate + next).min(self.own);
    }

    /// The one that it tries is there, and does not know more yet.
    pub fn on_word(&mut self) {
        self.waited = 0;
    }

    /// A tick went by, and the one that it tries has not said anything.
    pub fn on_tick(&mut self) -> Patience {
        self.waited += 1;
        let is_late = self.waited > self.limit && self.candidate != self.own;
        if is_late { Patience::Fence } else { Patience::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whom a node follows if these are dead.
    fn found_by(own: u32, dead: &[u32]) -> u32 {
        let mut search = Search::new(own, 2);
        while dead.contains(&search.candidate()) {
            search.on_dead();
        }
        search.candidate()
    }

    #[test]
    fn all_that_live_follow_the_same_one_which_lives() {
        for dead in 0_u32..31 {
            let (dead, living): (Vec<u32>, Vec<u32>) = (0..5).partition(|node| dead >> node & 1 == 1);
            assert!(living.iter().all(|node| found_by(*node, &dead) == living[0]), "{dead:?}");
        }
    }

    #[test]
    fn who_says_nothing_is_fenced_and_then_passed_over() {
        let mut search = Search::new(2, 3);
        assert_eq!(search.candidate(), 0);
        let ticks = [(); 4].map(|()| search.on_tick());
        assert_eq!(ticks, [Patience::Wait, Patience::Wait, Patience::Wait, Patience::Fence]);
        search.on_dead();
        assert_eq!((search.candidate(), search.on_tick()), (1, Patience::Wait), "each has its own time");
    }

    #[test]
    fn who_says_that_it_is_there_is_waited_for() {
        let mut search = Search::new(2, 2);
        for _ in 0..9 {
            assert_eq!([search.on_tick(), search.on_tick()], [Patience::Wait; 2]);
            search.on_word();
        }
        assert_eq!(search.candidate(), 0);
    }

    #[test]
    fn nobody_fences_itself() {
        let mut search = Search::new(0, 1);
        assert!((0..9).all(|_| search.on_tick() == Patience::Wait));
        search.on_dead();
        assert_eq!(search.candidate(), 0);
    }
}
