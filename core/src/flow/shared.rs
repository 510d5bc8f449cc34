//! Variables around an `overlap` that a part of it must not move.

/// A variable that another part of the `overlap` uses is not moved away.
#[diagnostic::on_unimplemented(
    message = "two parts of this `overlap` use the same variable, of type `{Self}`, and this one moves it",
    label = "moved here, although another part of the `overlap` uses it",
    note = "the parts take turns, and none may take away what another still needs: clone it here (`.clone()`), or give each part a clone of \
            its own before the `overlap`"
)]
pub trait UsedByAnotherPart {}

#[diagnostic::do_not_recommend]
impl<T: Copy> UsedByAnotherPart for T {}

/// A variable that what follows the `overlap` uses is not moved away.
#[diagnostic::on_unimplemented(
    message = "a part of this `overlap` moves a variable, of type `{Self}`, that is used after the `overlap`",
    label = "moved here, although it is used after the `overlap`",
    note = "clone it here: `.clone()`"
)]
pub trait UsedAfterOverlap {}

#[diagnostic::do_not_recommend]
impl<T: Copy> UsedAfterOverlap for T {}

/// What generated code says where a part moves a variable; it is never called.
pub fn used_by_another_part<T: UsedByAnotherPart>(_: &T) {}

/// The same of a variable that is used afterwards.
pub fn used_after_overlap<T: UsedAfterOverlap>(_: &T) {}
