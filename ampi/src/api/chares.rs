//! Calls between ranks and other chares: of one program, with each other.
//!
//! A rank calls a chare by a callback that it was given ([`Universe::call`]), and gives chares a [`Mailbox`], whose values it
//! takes out one by one ([`Universe::next_post`]).

use std::marker::PhantomData;
use std::panic::Location;

use talisman_core::callback::Callback;
use talisman_pup::{Pup, Value};

use super::{Error, Universe};
use crate::rank::{mailbox, next_post};
use crate::slot::on_process_heap;

/// Where chares send values to a rank. It can be sent and kept as any value; the rank is found wherever it is.
#[derive(Debug, Pup)]
pub struct Mailbox<T> {
    rank: Callback<Vec<u8>>,
    values: PhantomData<T>,
}

impl<T: Value> Mailbox<T> {
    /// Sends a value to the rank. To be called by a chare; ranks send messages to each other.
    pub fn send(&self, value: &T) {
        self.rank.clone().send(talisman_pup::to_bytes(value));
    }
}

impl Universe {
    /// A mailbox of this rank, to be given to chares.
    ///
    /// # Errors
    /// If no rank calls.
    pub fn mailbox<T: Value>(&self) -> Result<Mailbox<T>, Error> {
        let rank = talisman_pup::from_bytes(&mailbox()?).map_err(|_| Error::Post)?;
        Ok(Mailbox { rank, values: PhantomData })
    }

    /// Waits for the next value that a chare has sent to a mailbox of this rank, and takes it out.
    ///
    /// # Errors
    /// If it is of another type.
    #[track_caller]
    pub fn next_post<T: Value>(&self) -> Result<T, Error> {
        let bytes = next_post("next_post", Location::caller())?;
        talisman_pup::from_bytes(&bytes).map_err(|_| Error::Post)
    }

    /// Calls a chare. The value is copied: what the rank has stays its own.
    ///
    /// # Errors
    /// If the value cannot be packed and read again.
    pub fn call<T: Value>(&self, chare: &Callback<T>, value: &T) -> Result<(), Error> {
        let (chare, value) = (talisman_pup::to_bytes(chare), talisman_pup::to_bytes(value));
        on_process_heap(|| {
            let chare: Callback<T> = talisman_pup::from_bytes(&chare).map_err(|_| Error::Post)?;
            let value: T = talisman_pup::from_bytes(&value).map_err(|_| Error::Post)?;
            chare.send(value);
            Ok(())
        })
    }
}
