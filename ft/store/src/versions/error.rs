//! Why a part cannot be had.

use talisman_ft::Version;

use talisman_base::ids::PeId;
use talisman_pup::PupError;

/// A part cannot be had, or a piece of one cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It is not here.
    #[error("the part of PE {pe} in version {version} is not held here")]
    Missing {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
    },
    /// It is not what it was.
    #[error("piece {piece} of the part of PE {pe} in version {version} is damaged: its checksum is wrong")]
    Damaged {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// Which.
        piece: u32,
    },
    /// It was its owner's memory, and is something else by now.
    #[error("the part of PE {pe} in version {version} was given up by its owner, and so is not held here")]
    Overwritten {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
    },
    /// A piece is not the one that has to come.
    #[error(
        "piece {piece} of the part of PE {pe} in version {version} came where piece {expected} was to come"
    )]
    OutOfTurn {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// Which came.
        piece: u32,
        /// Which was to come.
        expected: u32,
    },
    /// It cannot be read.
    #[error("the part of PE {pe} in version {version} cannot be read: {error}")]
    Unreadable {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// What is wrong.
        error: PupError,
    },
    /// It cannot be had from its file.
    #[error("the part of PE {pe} in version {version} cannot be had: {why}")]
    File {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// What is wrong.
        why: String,
    },
}
