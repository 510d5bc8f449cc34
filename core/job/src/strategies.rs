//! Strategies of load balancing by their names: those of Talisman, and those of the program's own.

#[doc(hidden)]
pub use talisman_lb::strategies::Choice;
use talisman_lb::strategies::{KNOWN, Known, UnknownStrategy, by_name_among};

/// `--balancer off`.
pub const OFF: &str = "off";

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
/// # extern crate talisman_job as talisman;
/// use talisman_lb::plan::Plan;
/// use talisman_lb::snapshot::Snapshot;
/// use talisman_lb::strategy::Strategy;
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
            $crate::strategies::Registered::new($name, || {
                $crate::strategies::Choice::Central(::std::boxed::Box::new($strategy))
            })
        }
    };
}

/// Whether there is such a strategy; if not, which there are.
///
/// # Errors
/// A message that names the unknown one and those that there are.
pub fn check_name(name: &str) -> Result<(), String> {
    if name == OFF { Ok(()) } else { choice(name).map(drop).map_err(|error| format!("{name}: {error}")) }
}

/// What `--balancer` is, with the names that it takes: the program's own first.
pub fn help() -> String {
    let own = all();
    let names: Vec<&str> = own.iter().chain(KNOWN).map(|known| known.name).collect();
    format!(
        "Move objects between PEs so that all have equally much to do, as this strategy decides; several with + between them go one \
         after the other. \"off\": objects stay where they are.\n\nStrategies: {}",
        names.join(", ")
    )
}

/// The strategies of this name, the program's own among them.
pub fn choice(name: &str) -> Result<Choice, UnknownStrategy> {
    by_name_among(name, &all())
}

/// All of the program's, in the order of their names.
fn all() -> Vec<Known> {
    let mut all: Vec<_> = inventory::iter::<Registered>().map(|one| one.0).collect();
    all.sort_by_key(|known| known.name);
    all
}
