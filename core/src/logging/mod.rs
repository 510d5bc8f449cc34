//! Message logging: what a node records of its PE, keeps of what it sends, and does when another is lost.
//!
//! The protocol is pure, and elsewhere ([`talisman_ft::logging`]); here it has real PEs. `README.md` beside this has the design, and
//! what is missing.

mod cut;
pub mod given;
pub mod hostile;
pub mod image;
pub mod letter;
pub mod line_door;
pub mod mark;
pub mod member;
mod newcomer;
pub mod on_disk;
pub mod recorder;
pub mod recovery;
pub mod replay;
mod ring;
mod sending;
mod standing;
#[cfg(test)]
mod tests;
mod ticketed;
mod twin;
pub mod wire;
pub mod words;
