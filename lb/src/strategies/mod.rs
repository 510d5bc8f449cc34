//! The strategies, one file each, and how one is found by its name.

use crate::distributed::Distributed;
use crate::strategy::{Strategy, Wants};
use std::fmt;

mod chain;
mod comm;
pub mod diffusion;
mod geometry;
pub mod gossip;
mod graph;
mod greedy;
mod greedy_refine;
pub mod hierarchical;
mod least;
mod mapping;
mod memory;
#[cfg(feature = "metis")]
mod metis;
mod overload;
mod random;
mod rcb;
mod refine;
mod rotate;
#[cfg(test)]
mod samples;
mod sfc;
mod work;

pub use chain::Chain;
pub use comm::Comm;
pub use diffusion::Diffusion;
pub use gossip::Gossip;
pub use graph::Graph;
pub use greedy::Greedy;
pub use greedy_refine::GreedyRefine;
pub use hierarchical::Hierarchical;
#[cfg(feature = "metis")]
pub use metis::Metis;
pub use random::Random;
pub use rcb::Rcb;
pub use refine::Refine;
pub use rotate::Rotate;
pub use sfc::Sfc;

/// What was chosen.
pub enum Choice {
    /// One place sees everything and decides.
    Central(Box<dyn Strategy>),
    /// Every PE decides on its own objects.
    Distributed(Box<dyn Distributed>),
}

/// A strategy that can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What it is called.
    pub name: &'static str,
    /// Makes one.
    pub make: fn() -> Choice,
}

/// The strategies of this crate, in the order in which they are listed for users.
pub const KNOWN: &[Known] = &[
    Known { name: "greedy", make: || Choice::Central(Box::new(Greedy)) },
    Known { name: "greedy-refine", make: || Choice::Central(Box::new(GreedyRefine)) },
    Known { name: "refine", make: || Choice::Central(Box::new(Refine)) },
    Known { name: "diffusion", make: || Choice::Distributed(Box::new(Diffusion::default())) },
    Known { name: "gossip", make: || Choice::Distributed(Box::new(Gossip::default())) },
    Known { name: "hierarchical", make: || Choice::Distributed(Box::new(Hierarchical::default())) },
    Known { name: "comm", make: || Choice::Central(Box::new(Comm)) },
    Known { name: "rcb", make: || Choice::Central(Box::new(Rcb)) },
    Known { name: "sfc", make: || Choice::Central(Box::new(Sfc)) },
    Known { name: "graph", make: || Choice::Central(Box::new(Graph)) },
    #[cfg(feature = "metis")]
    Known { name: "metis", make: || Choice::Central(Box::new(Metis)) },
    Known { name: "rotate", make: || Choice::Central(Box::new(Rotate)) },
    Known { name: "random", make: || Choice::Central(Box::new(Random)) },
];

/// The strategy of this name, or a chain of them: `greedy+refine`.
///
/// # Errors
/// When there is none of the name, or a strategy stands in a chain that cannot.
pub fn by_name(names: &str) -> Result<Choice, UnknownStrategy> {
    by_name_among(names, &[])
}

/// The strategy of this name, or a chain, where a program has strategies of its own. They go before those of this crate that have
/// the same name.
///
/// # Errors
/// When there is none of the name, or a strategy stands in a chain that cannot.
pub fn by_name_among(names: &str, own: &[Known]) -> Result<Choice, UnknownStrategy> {
    let mut parts = names.split('+').map(|name| single(name.trim(), own)).collect::<Result<Vec<_>, _>>()?;
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let parts: Result<Vec<_>, _> = parts.into_iter().map(Choice::into_part).collect();
    Ok(Choice::Central(Box::new(Chain::new(parts?))))
}

fn single(name: &str, own: &[Known]) -> Result<Choice, UnknownStrategy> {
    let known = || own.iter().chain(KNOWN);
    match known().find(|known| known.name == name) {
        Some(known) => Ok((known.make)()),
        None => {
            let known: Vec<_> = known().map(|known| known.name).collect();
            Err(UnknownStrategy::NotKnown { name: name.to_owned(), known: known.join(", ") })
        }
    }
}

impl Choice {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Choice::Central(strategy) => strategy.name(),
            Choice::Distributed(strategy) => strategy.name(),
        }
    }

    /// What it needs to know beside loads.
    pub fn wants(&self) -> Wants {
        match self {
            Choice::Central(strategy) => strategy.wants(),
            Choice::Distributed(strategy) => strategy.wants(),
        }
    }

    fn into_part(self) -> Result<Box<dyn Strategy>, UnknownStrategy> {
        match self {
            Choice::Central(strategy) => Ok(strategy),
            Choice::Distributed(strategy) => Err(UnknownStrategy::Alone { name: strategy.name().to_owned() }),
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Choice::Central(_) => "Central",
            Choice::Distributed(_) => "Distributed",
        };
        f.debug_tuple(kind).field(&self.name()).finish()
    }
}

/// Why a name stands for no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownStrategy {
    /// There is none of the name.
    #[error("there is no balancing strategy {name:?}; there are {known}; several are joined by +")]
    NotKnown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// It cannot be part of a chain.
    #[error(
        "the balancing strategy {name:?} stands alone, not in a chain: no PE sees the plan that it would start from"
    )]
    Alone {
        /// The name.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::{Action, Event, Member};
    use crate::plan::Plan;
    use crate::snapshot::Snapshot;

    struct Own;

    impl Strategy for Own {
        fn name(&self) -> &str {
            "own"
        }
        fn wants(&self) -> Wants {
            Wants { edges: true }
        }
        fn plan(&mut self, _: &Snapshot) -> Plan {
            Plan::default()
        }
    }

    impl Distributed for Own {
        fn name(&self) -> &str {
            "everywhere"
        }
        fn wants(&self) -> Wants {
            Wants::default()
        }
        fn member(&self, _: u32, _: u32) -> Box<dyn Member> {
            Box::new(Own)
        }
    }

    impl Member for Own {
        fn step(&mut self, _: Event, _: &mut Vec<Action>) {}
        fn held(&self) -> usize {
            0
        }
    }

    const OWN: &[Known] = &[
        Known { name: "own", make: || Choice::Central(Box::new(Own)) },
        Known { name: "everywhere", make: || Choice::Distributed(Box::new(Own)) },
    ];

    #[test]
    fn each_is_found_by_the_name_it_gives_itself() {
        for known in KNOWN {
            assert_eq!(by_name(known.name).unwrap().name(), known.name);
        }
    }

    #[test]
    fn a_chain_is_found_by_the_names_of_its_parts() {
        let chain = by_name_among("rotate + own", OWN).unwrap();
        assert_eq!(chain.name(), "rotate+own");
        assert!(chain.wants().edges, "what any part wants");
        assert!(!by_name("rotate+greedy").unwrap().wants().edges);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        for names in ["greed", "", "greedy+", "greedy+Greedy"] {
            let said = by_name_among(names, OWN).unwrap_err().to_string();
            assert!(said.contains("own, everywhere, greedy, "), "{said}");
        }
        assert!(
            by_name("a+greedy").unwrap_err().to_string().starts_with("there is no balancing strategy \"a\";")
        );
    }

    #[test]
    fn what_no_pe_sees_as_a_whole_is_no_part_of_a_chain() {
        assert_eq!(by_name_among("everywhere", OWN).unwrap().name(), "everywhere");
        let said = by_name_among("greedy+everywhere", OWN).unwrap_err();
        assert_eq!(said, UnknownStrategy::Alone { name: "everywhere".into() });
    }
}
