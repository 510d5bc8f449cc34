//! What a strategy decides.

use talisman_pup::Pup;

/// An object goes to another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Move {
    /// Its number in the snapshot.
    pub object: u32,
    /// Where it goes.
    pub to: u32,
}

/// Who goes where; whoever is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Plan {
    /// Each object once at most.
    pub moves: Vec<Move>,
}
