//! Whom a node follows when its launcher is gone: the lowest node that lives, which may be itself.
//!
//! Pure. Nodes that are dead stay dead, so all that look go through them in the same order, and none goes past one that lives.

/// Where a node is in its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    own: u32,
    candidate: u32,
    /// So many ticks it has been waited for.
    waited: u32,
    limit: u32,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Connect with this node, and say who one is. If it is oneself, lead first.
    Try(u32),
    /// Wait for another tick.
    Wait,
    /// It is there and says nothing: kill it, and then say that it is dead.
    Fence(u32),
}

impl Search {
    /// Of a node that has lost its launcher. Whoever says nothing for so many ticks counts as dead.
    pub(crate) fn new(own: u32, limit: u32) -> Self {
        Search { own, candidate: 0, waited: 0, limit }
    }

    /// Whom it tries.
    pub(crate) fn step(&self) -> Step {
        Step::Try(self.candidate)
    }

    /// The one that it tries is dead. None lives that is lower; if this node is itself dead, nothing is left to do.
    pub(crate) fn on_dead(&mut self) -> Step {
        self.waited = 0;
        self.candidate = (self.candidate + 1).min(self.own);
        self.step()
    }

    /// A tick went by, and the one that it tries has not said anything.
    pub(crate) fn on_tick(&mut self) -> Step {
        self.waited += 1;
        let is_late = self.waited > self.limit && self.candidate != self.own;
        if is_late { Step::Fence(self.candidate) } else { Step::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who leads if these are dead, as each of the others finds.
    fn leaders(nodes: u32, dead: &[u32]) -> Vec<u32> {
        let found = |own| {
            let mut search = Search::new(own, 2);
            while let Step::Try(node) = search.step() {
                if !dead.contains(&node) {
                    return node;
                }
                search.on_dead();
            }
            own
        };
        (0..nodes).filter(|node| !dead.contains(node)).map(found).collect()
    }

    #[test]
    fn all_that_live_follow_the_same_one_which_lives() {
        for dead in 0_u32..31 {
            let dead: Vec<u32> = (0..5).filter(|node| dead >> node & 1 == 1).collect();
            let lowest = (0..5).find(|node| !dead.contains(node)).unwrap();
            assert!(leaders(5, &dead).iter().all(|leader| *leader == lowest), "{dead:?}");
        }
    }

    #[test]
    fn who_says_nothing_is_fenced_and_then_passed_over() {
        let mut search = Search::new(2, 3);
        assert_eq!(search.step(), Step::Try(0));
        assert_eq!([(); 4].map(|()| search.on_tick()), [Step::Wait, Step::Wait, Step::Wait, Step::Fence(0)]);
        assert_eq!(search.on_dead(), Step::Try(1));
        assert_eq!(search.on_tick(), Step::Wait, "each has its own time");
    }

    #[test]
    fn nobody_fences_itself() {
        let mut search = Search::new(0, 1);
        assert!((0..9).all(|_| search.on_tick() == Step::Wait));
        assert_eq!(search.on_dead(), Step::Try(0));
    }
}
