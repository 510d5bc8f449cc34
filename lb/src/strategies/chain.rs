//! Several strategies, one after another.

use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::{Strategy, Wants};

/// Each part starts from the plan of the one before.
///
/// Corresponds to giving several balancers to Charm++'s `+balancer`, which uses them in turn, a step each; here all of them work in each
/// step, so that a refinement follows whatever came first.
pub struct Chain {
    parts: Vec<Box<dyn Strategy>>,
    name: String,
}

impl Chain {
    /// The parts in their order.
    pub fn new(parts: Vec<Box<dyn Strategy>>) -> Self {
        let names: Vec<_> = parts.iter().map(|part| part.name()).collect();
        let name = names.join("+");
        Chain { parts, name }
    }
}

impl Strategy for Chain {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self) -> Wants {
        Wants { edges: self.parts.iter().any(|part| part.wants().edges) }
    }

    /// A part's nonsense is passed on with its own entries, for those who check the whole.
    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let mut between = snapshot.clone();
        for part in &mut self.parts {
            let plan = part.plan(&between);
            if plan.check(&between).is_err() {
                return plan;
            }
            for moved in &plan.moves {
                between.objects[moved.object as usize].pe = moved.to;
            }
        }
        let places: Vec<u32> = between.objects.iter().map(|object| object.pe).collect();
        Plan::to_places(snapshot, &places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Move, Nonsense};
    use crate::snapshot::tests::line;

    /// Moves every object by some PEs; those that would leave the end of the line make no sense.
    struct Onward(u32);

    impl Strategy for Onward {
        fn name(&self) -> &str {
            "onward"
        }
        fn plan(&mut self, snapshot: &Snapshot) -> Plan {
            let moved = (0..)
                .zip(&snapshot.objects)
                .map(|(object, at)| Move { object, to: at.pe.wrapping_add(self.0) });
            Plan { moves: moved.collect() }
        }
    }

    fn chain(steps: &[u32]) -> Chain {
        Chain::new(steps.iter().map(|&by| Box::new(Onward(by)) as Box<dyn Strategy>).collect())
    }

    #[test]
    fn each_part_starts_where_the_one_before_ended() {
        let snapshot = line(5, &[(0, 1.0), (1, 1.0)]);
        let plan = chain(&[1, 2]).plan(&snapshot);
        assert_eq!(plan.moves, [Move { object: 0, to: 3 }, Move { object: 1, to: 4 }]);
    }

    #[test]
    fn who_ends_where_it_began_does_not_move() {
        let snapshot = line(5, &[(1, 1.0)]);
        assert_eq!(chain(&[1, 2, 3u32.wrapping_neg()]).plan(&snapshot), Plan::default());
    }

    #[test]
    fn nonsense_of_a_part_comes_out() {
        let snapshot = line(3, &[(0, 1.0), (1, 1.0)]);
        let plan = chain(&[1, 1]).plan(&snapshot);
        assert!(matches!(plan.check(&snapshot), Err(Nonsense::UnknownPe { entry: 1, to: 3, .. })));
    }
}
