//! Reducers and partial results as the runtime sees them: without their types.

mod info;
mod listed;
mod partial;

pub use info::ReduceInfo;
pub use partial::AnyPartial;

use talisman_pup::Pup;

use super::{ReduceError, Reducer};

/// Makes the reducer `R` of values of type `T` known in this process, so that it can take part in reductions with it.
///
/// A program calls this only for a reducer that nothing but a shared library uses, at the start of every process: all
/// others are known in every process by themselves. ("Shared library" as in `dlopen` or `crate-type = "dylib"`;
/// ordinary Rust dependencies are none. Where the runtime itself is in one, and on processors other than x86-64 and
/// AArch64, every reducer wants it.)
///
/// ```
/// # extern crate talisman_reduce as talisman;
/// use talisman::reduce::{Sum, register_reducer};
///
/// # fn main() -> Result<(), talisman::reduce::ReduceError> {
/// register_reducer::<Vec<f64>, Sum>()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ReduceError::Clash`] when another reducer has the same id.
pub fn register_reducer<T, R>() -> Result<(), ReduceError>
where
    T: Pup + Send + 'static,
    R: Reducer<T>,
{
    ReduceInfo::of::<T, R>().map(|_| ())
}
