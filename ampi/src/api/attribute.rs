//! What a program attaches to communicators (MPI-3.1, 6.7).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Error, Key, Universe};
//!
//! fn program(universe: Universe) -> Result<(), Error> {
//!     let (level, own) = (Key::copied()?, Key::of_one()?);
//!     let world = universe.world();
//!     world.set_attribute(level, 3)?;
//!     world.set_attribute(own, 4)?;
//!     let other = world.duplicate()?;
//!     assert_eq!((other.attribute(level)?, other.attribute(own)?), (Some(3), None));
//!     assert!(world.delete_attribute(own)?);
//!     assert_eq!(world.attribute(own)?, None);
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(2, program);
//! ```

use super::{Communicator, Error};
use crate::comm::{Copying, Value};
use crate::rank::call;

/// Names a value that communicators may have. Each rank has keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u32);

impl Key {
    /// One whose value a duplicate has, too (`MPI_COMM_DUP_FN`).
    ///
    /// # Errors
    /// If no rank calls.
    pub fn copied() -> Result<Key, Error> {
        Key::new(Copying::Always)
    }

    /// One whose value only the communicator has that it was attached to (`MPI_COMM_NULL_COPY_FN`).
    ///
    /// # Errors
    /// If no rank calls.
    pub fn of_one() -> Result<Key, Error> {
        Key::new(Copying::Never)
    }

    fn new(copying: Copying) -> Result<Key, Error> {
        // SAFETY: no buffer is given.
        Ok(Key(unsafe { call(|process, _| process.comms.keyvals.insert(copying, None, 0)) }?))
    }

    /// Values of it stay, and are copied as before (`MPI_Comm_free_keyval`).
    ///
    /// # Errors
    /// If it was freed before.
    pub fn free(self) -> Result<(), Error> {
        // SAFETY: no buffer is given.
        let was_there =
            unsafe { call(|process, _| process.comms.keyvals.contains(self.0) && process.free_key(self.0)) }?;
        if was_there { Ok(()) } else { Err(Error::Key) }
    }
}

impl Communicator {
    /// Attaches a number, or replaces it (`MPI_Comm_set_attr`).
    ///
    /// # Errors
    /// If the communicator or the key was freed.
    pub fn set_attribute(&self, Key(key): Key, value: u64) -> Result<(), Error> {
        let handle = self.handle();
        // SAFETY: no buffer is given, and what is kept is made in the call.
        unsafe {
            call(|process, _| {
                if !process.comms.keyvals.contains(key) {
                    return Err(Error::Key);
                }
                process.comms.get_mut(handle)?.attributes.set(key, Value::address(value));
                Ok(())
            })
        }?
    }

    /// The number that is attached by a key (`MPI_Comm_get_attr`).
    ///
    /// # Errors
    /// If the communicator was freed.
    pub fn attribute(&self, Key(key): Key) -> Result<Option<u64>, Error> {
        self.look(|communicator| communicator.attributes.get(key).map(|value| value.word))
    }

    /// Takes it away (`MPI_Comm_delete_attr`). Whether there was one.
    ///
    /// # Errors
    /// If the communicator was freed.
    pub fn delete_attribute(&self, Key(key): Key) -> Result<bool, Error> {
        let handle = self.handle();
        // SAFETY: no buffer is given.
        unsafe { call(|process, _| Ok(process.comms.get_mut(handle)?.attributes.delete(key))) }?
    }
}
