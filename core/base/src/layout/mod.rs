//! Addresses that are the same in all processes of a job.
//!
//! Stacks that move from one process to another hold addresses of code, of data and of thread-locals. So programs with
//! such stacks ask for a *fixed layout* of their node processes: no randomization of addresses, one limit on the main
//! thread's stack, one PE per node, and that PE's thread at the same place everywhere. All other programs start as
//! ever.

pub mod mark;

use talisman_pup::inventory;

/// A row that asks for a fixed layout; a program that has one or several gets it.
///
/// ```
/// use talisman_base::layout::FixedLayout;
/// # use talisman_base::pup::inventory;
///
/// inventory::submit! { FixedLayout::needed_by("virtual MPI ranks") }
/// # fn main() {}
/// ```
///
/// Programs write `talisman::inventory` and `talisman::layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FixedLayout {
    by: &'static str,
}

inventory::collect!(FixedLayout);

impl FixedLayout {
    /// The row of what needs it: some words in the plural, as messages have them ("virtual MPI ranks need …").
    pub const fn needed_by(by: &'static str) -> Self {
        FixedLayout { by }
    }
}

/// What in this program needs a fixed layout, if anything does.
pub fn needed_by() -> Option<&'static str> {
    inventory::iter::<FixedLayout>().map(|row| row.by).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_row_needs_none() {
        assert_eq!(needed_by(), None);
    }
}
