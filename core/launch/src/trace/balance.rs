//! What objects did in a part of a trace, for a balancer to be tried on it.

use std::collections::BTreeMap;

use crate::balancer_trial::{Gain, Load};

/// What objects did in a part.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// By object: the PE it was on last, nanoseconds in its calls, and whether it can be moved.
    objects: BTreeMap<u64, (u32, u64, bool)>,
}

impl Loads {
    /// An object was called on a PE, for so long.
    pub fn add(&mut self, object: u64, pe: u32, ns: u64, can_move: bool) {
        let known = self.objects.entry(object).or_insert((pe, 0, can_move));
        *known = (pe, known.1.saturating_add(ns), can_move);
    }

    /// What could have been saved of so many nanoseconds, on so many PEs, as many of each node.
    pub fn gain(&self, ns: u64, pes: u64, pes_per_node: u64) -> Option<Gain> {
        let load = |(pe, ns, can_move): &(u32, u64, bool)| Load {
            pe: *pe,
            ns: *ns,
            can_move: *can_move,
            objects: 1,
        };
        let loads: Vec<Load> = self.objects.values().map(load).collect();
        Gain::of(&loads, ns, pes, pes_per_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_where_it_was_last_with_all_that_it_did() {
        let mut loads = Loads::default();
        (0..8).for_each(|object| loads.add(object, 1, 100_000_000, true));
        loads.add(3, 0, 100_000_000, true);
        let gain = loads.gain(1_000_000_000, 2, 1).unwrap();
        assert_eq!((gain.busiest, (gain.busy * 10.0).round(), gain.moves), (1, 7.0, 2), "{gain:?}");
        assert_eq!(loads.gain(1_000_000_000, 1, 1), None);
    }
}
