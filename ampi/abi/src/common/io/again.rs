//! What a file gives to a rank that does again what it did (`--ft logging`): what it gave then. Others may have written to it since.

use crate::class::Class;
use crate::common::agreement::{from_number, to_number};
use crate::hooks::hooks;

/// What something done with a file gave when it was first done.
#[derive(Clone, Copy, Debug)]
pub struct Then {
    pub result: Result<u64, Class>,
    /// That was before: it is being done again now, and was not done here.
    pub is_again: bool,
}

/// Does something that gives a number. It may not wait, and nothing that the rank keeps may be allocated in it.
pub fn then(does: impl Fn() -> Result<u64, Class>) -> Then {
    let mut is_again = true;
    let [error, number] = (hooks().world)(&mut || {
        is_again = false;
        let result = does();
        [to_number(result.map(|_| ())).cast_unsigned(), result.unwrap_or(0)]
    });
    Then { result: from_number(error.cast_signed()).map(|()| number), is_again }
}

/// The same of something that gives nothing.
pub fn done(does: impl Fn() -> Result<(), Class>) -> Then {
    then(|| does().map(|()| 0))
}

/// Reads bytes; how many.
///
/// # Errors
/// Those of `read`, then.
pub fn read(into: &mut [u8], read: impl Fn(&mut [u8]) -> Result<u64, Class>) -> Result<u64, Class> {
    let count = (hooks().world_bytes)(into, &mut |into| match read(into) {
        Ok(count) => count as isize,
        error => -(to_number(error.map(|_| ())) as isize),
    });
    match u64::try_from(count) {
        Ok(count) => Ok(count),
        Err(_) => from_number(-(count as i64)).map(|()| 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_gives_its_number_or_its_error() {
        assert_eq!(then(|| Ok(7)).result, Ok(7));
        assert!(!then(|| Ok(7)).is_again);
        assert_eq!(done(|| Err(Class::NoSuchFile)).result, Err(Class::NoSuchFile));
        let mut bytes = [0; 4];
        let fill = |into: &mut [u8]| {
            into[..3].fill(5);
            Ok(3)
        };
        assert_eq!((read(&mut bytes, fill), bytes), (Ok(3), [5, 5, 5, 0]));
        assert_eq!(read(&mut bytes, |_| Err(Class::ReadOnly)), Err(Class::ReadOnly));
    }
}
