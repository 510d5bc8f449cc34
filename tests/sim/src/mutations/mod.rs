//! Deliberate mistakes: whether a sweep notices each of them.
//!
//! A simulation that finds nothing is worth as much as it would find. So the runtime can be made to break each of its
//! rules, one at a time (`talisman_core::mutations`), and the sweep has to notice: in how many seeds tells how sharp
//! it is.

mod checkpoints;
mod control;
mod ft;
mod kernel;
mod logging;
mod ranks;
mod services;
mod tickets;
mod transport;

/// A small mistake in the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// As `talisman_core::mutations::choose` takes it.
    pub name: &'static str,
    /// The files of `core/src` in which it is made; `ft/…` are those of `ft/src`.
    pub places: &'static [&'static str],
    /// The rule that does not hold then.
    pub rule: &'static str,
    /// Where it can be noticed.
    pub level: Level,
    /// What is said to see a case that notices it, if a world can: CI runs that. A seed stands for another case when
    /// what is drawn from it changes, or what the runtime does; `mutations --mistake NAME --shrunk` finds another.
    pub seen_by: &'static str,
}

/// What of the runtime has to be simulated for a mistake to be made at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// PEs that exchange whole messages.
    Messages,
    /// The same, with an eye on what is left over in the end.
    Resources,
    /// The whole world: connections, nodes, their launcher.
    World,
    /// The leader alone, which is told of holdings that no world comes to, or a protocol that no world drives yet:
    /// the tests of `talisman-ft` go through these, and notice it. So does `tests/logging.rs` here, for what real PEs log.
    Leader,
    /// The machine that ranks run on: threads, stacks, programs that were mapped. No world has any of it. The tests of
    /// `talisman-ampi` (`tests/threads`) and of `talisman-loader` (`tests/run`) have, and notice it.
    Machine,
}

impl Level {
    /// Whether a world comes to where the mistake is made.
    pub fn is_simulated(self) -> bool {
        !matches!(self, Level::Leader | Level::Machine)
    }
}

/// Every mistake that can be made, by where in the runtime it is.
const TABLES: [&[Mutation]; 9] = [
    kernel::MUTATIONS,
    services::MUTATIONS,
    checkpoints::MUTATIONS,
    ft::MUTATIONS,
    logging::MUTATIONS,
    tickets::MUTATIONS,
    control::MUTATIONS,
    transport::MUTATIONS,
    ranks::MUTATIONS,
];

/// Every mistake that can be made.
pub fn all() -> impl Iterator<Item = &'static Mutation> + Send {
    TABLES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::regressions::case_of;
    use crate::sources::{Call, calls_with_texts};

    #[test]
    fn every_mistake_is_on_the_list_with_its_places() {
        let listed = all().flat_map(|mutation| {
            mutation.places.iter().map(|place| (mutation.name.to_owned(), (*place).to_owned()))
        });
        let made = calls_with_texts("mutated").into_iter().map(|Call { file, text }| (text, file));
        assert_eq!(listed.collect::<BTreeSet<_>>(), made.collect::<BTreeSet<_>>(), "the list, and core/src");
    }

    #[test]
    fn every_mistake_that_a_world_can_notice_has_a_case_that_does() {
        for Mutation { name, level, seen_by, .. } in all() {
            let is_read = case_of(seen_by).is_ok();
            assert_eq!(is_read, level.is_simulated(), "{name}: {seen_by:?}");
        }
    }

    #[test]
    fn every_mistake_has_one_name() {
        let names: BTreeSet<_> = all().map(|mutation| mutation.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
