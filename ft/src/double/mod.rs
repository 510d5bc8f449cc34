//! Coordinated double checkpoint, and restart on the survivors (FTC-Charm++: Zheng, Shi, Kalé 2004), with the repairs of
//! its holes (`ft/README.md`).
//!
//! ```text
//! Commit   at the root PE: freeze ─► take ─► stored twice everywhere ─► commit
//! Leader   where it is decided who is lost: halt ─► who holds what? ─► order to go on
//! ```

mod contents;
mod held;
pub mod leader;
pub mod survey;

pub use contents::{Contents, in_words};
pub use held::{Held, Lost, LostPart, Order};
pub use leader::Leader;
