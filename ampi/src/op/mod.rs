//! Operations of reductions (MPI-3.1, 5.9).
//!
//! ```
//! use talisman_ampi::datatype::Basic;
//! use talisman_ampi::op::Predefined;
//!
//! let (left, mut right) = (3.5f64.to_ne_bytes(), 2.0f64.to_ne_bytes());
//! Predefined::Max.apply(Basic::F64, &left, &mut right).unwrap();
//! assert_eq!(right, left);
//! ```

mod extended;
mod pairs;
mod predefined;
mod quadruple;
mod table;
#[cfg(test)]
mod tests;

pub use pairs::Location;
pub use predefined::{Predefined, Unfit};
pub use table::{Op, Ops, UnknownOp};
