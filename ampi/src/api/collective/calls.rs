//! Collectives in pairs: a call that returns when it has ended, and the same begun in a scope (MPI-3.1, 5.12).
//!
//! One line gives both: their names, their generics and arguments, the function that begins them, and what a report of a
//! stuck job calls them. What is borrowed is borrowed for `'a`. An operation comes last: by value for the call that waits.

use super::super::communicator::{Communicator, Process};

/// Whose ranks a collective is of.
pub trait Members: Copy {
    fn communicator(self) -> Communicator;
}

impl Members for Communicator {
    fn communicator(self) -> Communicator {
        self
    }
}

impl Members for Process {
    fn communicator(self) -> Communicator {
        Process::communicator(&self)
    }
}

macro_rules! calls {
    ($owner:ty: $(
        $(#[$doc:meta])*
        fn $name:ident, $immediate:ident [$($generics:tt)*] ($($argument:ident: $type:ty),*) $(with $op:ident: $operation:ident)?
            = $begin:path, $label:literal;
    )+) => {
        impl $owner {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name<'a, $($generics)*>(
                    &self,
                    $($argument: $type,)*
                    $($op: $operation)?
                ) -> Result<(), $crate::api::Error> {
                    let begun = $begin(*self, $($argument,)* $(&$op)?)?;
                    $crate::api::collective::end(begun, $label, std::panic::Location::caller())
                }

                #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") begun in a")]
                /// [scope](crate::api::scope()).
                ///
                /// # Errors
                /// The same.
                pub fn $immediate<'a, 's, $($generics)*>(
                    &self,
                    scope: &'s $crate::api::Scope<'a>,
                    $($argument: $type,)*
                    $($op: &'a $operation)?
                ) -> Result<$crate::api::Request<'s>, $crate::api::Error> {
                    let begun = $begin(*self, $($argument,)* $($op)?)?;
                    Ok(scope.add(begun, $crate::api::collective::calls::Members::communicator(*self)))
                }
            )+
        }
    };
}
pub(super) use calls;
