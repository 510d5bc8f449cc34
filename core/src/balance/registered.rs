//! Strategies of the program's own.

use talisman_lb::strategies::{Choice, Known};

/// One line of the registry of strategies.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(Known);

impl Registered {
    #[doc(hidden)]
    pub const fn new(name: &'static str, make: fn() -> Choice) -> Self {
        Registered(Known { name, make })
    }
}

inventory::collect!(Registered);

/// Registers a strategy of the program's own under a name, for `--balancer`. It goes before one of Talisman's of the same name.
///
/// ```
/// # extern crate talisman_core as talisman;
/// use talisman::lb::{Plan, Snapshot, Strategy};
///
/// /// Everything to the PE with the highest number.
/// struct Last;
///
/// impl Strategy for Last {
///     fn name(&self) -> &str {
///         "last"
///     }
///
///     fn plan(&mut self, snapshot: &Snapshot) -> Plan {
///         let last = snapshot.pes.len() as u32 - 1;
///         Plan::to_places(snapshot, &vec![last; snapshot.objects.len()])
///     }
/// }
///
/// talisman::balancer!("last", Last);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! balancer {
    ($name:expr, $strategy:expr) => {
        $crate::inventory::submit! {
            $crate::lb::Registered::new($name, || {
                $crate::lb::strategies::Choice::Central(::std::boxed::Box::new($strategy))
            })
        }
    };
}

/// All of the program's, in the order of their names.
pub(super) fn all() -> Vec<Known> {
    let mut all: Vec<_> = inventory::iter::<Registered>().map(|one| one.0).collect();
    all.sort_by_key(|known| known.name);
    all
}
