//! Functions that a callback can call: found by name on every node.

#[doc(hidden)]
pub use inventory;

use easy_ext::ext;

use talisman_base::ids::PeId;
use talisman_kernel::message::service::{About, Service, ServiceMessage, WhenFrozen, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::Checked;
use talisman_pup::{Packed, Pup, PupError};

/// A function that a [`Callback`](crate::callback::Callback) can call on a PE. It has no object and no state; it may
/// use proxies. Register it with [`register_function!`](crate::register_function).
///
/// ```
/// use talisman::function::Function;
///
/// struct Tell;
///
/// impl Function for Tell {
///     const NAME: &'static str = "docs::Tell";
///     type Value = f64;
///
///     fn call(value: f64) {
///         println!("the sum is {value}");
///     }
/// }
///
/// talisman::register_function!(Tell);
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that a callback can call",
    note = "`impl Function for {Self} {{ … }}`, and `talisman::register_function!({Self});`"
)]
pub trait Function: 'static {
    /// Its name on the wire, unlike any other function's.
    const NAME: &'static str;
    /// Its argument.
    type Value: Pup;

    /// Does it.
    fn call(value: Self::Value);

    #[doc(hidden)]
    const KEY: u64 = talisman_pup::key(Self::NAME);
}

/// One line of the registry of functions.
#[doc(hidden)]
pub struct FunctionEntry {
    key: u64,
    name: &'static str,
    call: fn(Packed) -> Result<(), PupError>,
}

impl FunctionEntry {
    #[doc(hidden)]
    pub const fn of<F: Function>() -> Self {
        FunctionEntry { key: F::KEY, name: F::NAME, call: |value| value.into_value().map(F::call) }
    }
}

inventory::collect!(FunctionEntry);

/// Registers a type with `impl Function`, so that callbacks find it on every node.
#[macro_export]
macro_rules! register_function {
    ($function:ty) => {
        $crate::function::inventory::submit! { $crate::function::FunctionEntry::of::<$function>() }
    };
}

/// Two functions of one name: the first of their names that is taken twice.
pub fn clash() -> Option<&'static str> {
    let mut all: Vec<_> = inventory::iter::<FunctionEntry>().map(|entry| (entry.key, entry.name)).collect();
    all.sort_unstable();
    all.windows(2).find(|two| two[0].0 == two[1].0).map(|two| two[0].1)
}

/// Calls a registered function.
#[doc(hidden)]
#[derive(Debug, Pup)]
pub struct FunctionMessage {
    /// Which one.
    pub id: u64,
    /// With what.
    pub value: Packed,
}

service!(FunctionMessage);

impl ServiceMessage for FunctionMessage {
    const SERVICE: Service = Service::Functions;

    fn run(self, pe: &Pe, _: PeId) {
        pe.on_function(self.id, self.value);
    }

    fn check(&self, _: &Pe) -> Checked {
        Ok(())
    }

    fn packed(&self) -> Option<&Packed> {
        Some(&self.value)
    }

    fn when_frozen(&self) -> WhenFrozen {
        WhenFrozen::Waits
    }

    fn about(&self) -> About {
        About::of_collection("the value of a callback", None)
    }
}

#[ext(FunctionsOnPe)]
pub(crate) impl Pe {
    /// Calls one on a PE, or on that in its place.
    #[doc(hidden)]
    fn call_function(&self, pe: PeId, id: u64, value: Packed) {
        self.tell(self.view().acting_for(pe), FunctionMessage { id, value });
    }

    /// A message that calls one.
    #[doc(hidden)]
    fn on_function(&self, id: u64, value: Packed) {
        let Some(entry) = inventory::iter::<FunctionEntry>().find(|entry| entry.key == id) else {
            let message = format!(
                "a callback calls a function that is not registered ({id:#x}): add `talisman::register_function!(…)`"
            );
            return self.node.job.end(1, Some(message));
        };
        if let Err(error) = (entry.call)(value) {
            self.node.job.end(1, Some(format!("the argument of `{}` cannot be read: {error}", entry.name)));
        }
    }
}
