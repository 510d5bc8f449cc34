//! Guards the packed state of an async entry against a changed body.

use talisman_pup::{Fault, Packer, Pup, PupError, Unpacker};

/// Which body a packed state belongs to: a hash of the entry's text, comments and layout aside.
///
/// A state is a place in a body and the variables there. In another body the same number may be another place, so a
/// checkpoint taken while the entry ran cannot be restored after its body has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    body: u64,
    /// The entry: `Block::run`.
    of: &'static str,
}

impl Stamp {
    /// The stamp of a body.
    pub const fn new(body: u64, of: &'static str) -> Self {
        Stamp { body, of }
    }

    /// Goes before a state.
    pub fn pack(self, p: &mut Packer) {
        self.body.pack(p);
    }

    /// Checks what was written before a state.
    ///
    /// # Errors
    /// [`Fault::Changed`] if that was the stamp of another body.
    pub fn check(self, u: &mut Unpacker<'_>) -> Result<(), PupError> {
        match u64::unpack(u)? == self.body {
            true => Ok(()),
            false => Err(u.fault(Fault::Changed { what: self.of })),
        }
    }
}

/// The error for a state number that the body of entry `of` does not have.
#[cold]
pub fn unknown_state(u: &Unpacker<'_>, tag: u16, of: &'static str) -> PupError {
    u.fault(Fault::Tag { tag: tag.into(), of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_pup::{Purpose, to_bytes};

    fn check(written: u64) -> Result<(), String> {
        let bytes = to_bytes(&written);
        let mut unpacker = Unpacker::new(&bytes, Purpose::Checkpoint);
        Stamp::new(7, "Block::run").check(&mut unpacker).map_err(|error| error.to_string())
    }

    #[test]
    fn another_body_is_refused_by_name() {
        assert_eq!(check(7), Ok(()));
        assert!(check(8).unwrap_err().contains("Block::run"));
    }
}
