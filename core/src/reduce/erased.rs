//! Reducers and partial results as the runtime sees them: without their types.

mod info;
mod partial;

pub use info::ReduceInfo;
pub use partial::AnyPartial;
