//! The one rank of a process whose program is at fixed addresses.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SlotError;

/// Which slot's rank is there.
static THERE: Mutex<Option<u32>> = Mutex::new(None);

/// This rank's program is going to be there.
///
/// # Errors
/// If another one's is.
pub fn occupy(slot: u32) -> Result<(), SlotError> {
    match *there().get_or_insert(slot) {
        first if first == slot => Ok(()),
        first => Err(SlotError::FixedTwice { slot, first }),
    }
}

/// This rank's program is not there any more, if it was.
pub fn leave(slot: u32) {
    there().take_if(|first| *first == slot);
}

fn there() -> MutexGuard<'static, Option<u32>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_is_there_at_a_time() {
        occupy(7).expect("nobody is there");
        occupy(7).expect("it is there already");
        let error = occupy(8).expect_err("7 is there");
        assert!(matches!(error, SlotError::FixedTwice { slot: 8, first: 7 }), "{error}");
        leave(8);
        occupy(8).expect_err("that was nothing");
        leave(7);
        occupy(8).expect("nobody is there");
        leave(8);
    }
}
