//! Long lives of jobs: checkpoints, losses of several nodes at once, recoveries that are interrupted.

use proptest::prelude::*;

use super::model::Model;
use crate::NodeId;

/// What happens next; numbers of nodes are taken modulo those that are left.
#[derive(Clone, Debug)]
enum Happening {
    Reads(usize),
    Hears(usize),
    Dies(Vec<usize>),
    /// Lost nodes of these numbers are to be replaced.
    Expects(Vec<NodeId>),
    /// The replacement comes, or not.
    Replaced(NodeId, bool),
    Releases(Vec<NodeId>),
    /// Lost nodes of these numbers have processes again.
    Adds(Vec<NodeId>),
    Settles,
    Checkpoint {
        told: Vec<NodeId>,
        missing: Vec<NodeId>,
    },
}

fn happening() -> impl Strategy<Value = Happening> {
    let nodes = || proptest::collection::vec(0_u32..8, 0..6);
    prop_oneof![
        6 => (0_usize..8).prop_map(Happening::Reads),
        6 => (0_usize..8).prop_map(Happening::Hears),
        1 => proptest::collection::vec(0_usize..8, 1..3).prop_map(Happening::Dies),
        1 => nodes().prop_map(Happening::Expects),
        2 => (0_u32..8, any::<bool>()).prop_map(|(node, comes)| Happening::Replaced(node, comes)),
        1 => proptest::collection::vec(0_u32..8, 1..3).prop_map(Happening::Releases),
        1 => nodes().prop_map(Happening::Adds),
        1 => Just(Happening::Settles),
        2 => (nodes(), nodes()).prop_map(|(told, missing)| Happening::Checkpoint { told, missing }),
        2 => nodes().prop_map(|told| Happening::Checkpoint { told, missing: vec![] }),
    ]
}

fn happen(model: &mut Model, happening: Happening) {
    let living = model.living();
    let one = |number: usize| living[number % living.len()];
    match happening {
        Happening::Reads(number) => {
            model.read(one(number));
        }
        Happening::Hears(number) => {
            model.hear(one(number));
        }
        Happening::Dies(numbers) => model.die(&numbers.into_iter().map(one).collect::<Vec<_>>()),
        Happening::Expects(nodes) => nodes.into_iter().for_each(|node| {
            model.expect(node);
        }),
        Happening::Replaced(node, comes) => model.replace(node, comes),
        Happening::Releases(nodes) => model.release(&nodes),
        Happening::Adds(nodes) => model.add(&nodes),
        Happening::Settles => settle(model),
        Happening::Checkpoint { told, missing } => model.checkpoint(&told, &missing),
    }
}

fn settle(model: &mut Model) {
    model.replace_all();
    while model.living().into_iter().any(|node| model.read(node) || model.hear(node)) {}
    model.check_rest();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_all_go_back_to_the_newest_whole_version(
        hosts in proptest::collection::vec(0_u32..4, 1..8),
        happenings in proptest::collection::vec(happening(), 0..80),
    ) {
        let mut model = Model::new(&hosts, |_| vec![]);
        for next in happenings {
            if !model.gave_up {
                happen(&mut model, next);
            }
        }
        settle(&mut model);
    }
}
