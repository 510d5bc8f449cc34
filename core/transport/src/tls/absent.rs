//! Encryption of links, as a build without the feature `tls` has it: not at all. Options that ask for it are refused
//! before anything here could be reached.

use std::convert::Infallible;
use std::io::IoSlice;
use std::mem::MaybeUninit;

use super::auth::Secret;

/// The first byte of a TLS handshake, which no record of ours begins with.
pub const HANDSHAKE: u8 = 0x16;

/// Encryption cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("links cannot be encrypted (--tls): this program was built without the feature `tls`")]
pub struct Unavailable;

/// What cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// There are none.
#[derive(Clone, Debug)]
pub struct Credentials(Infallible);

impl Credentials {
    pub fn of(_: &Secret) -> Result<Credentials, Unavailable> {
        Err(Unavailable)
    }
}

/// There are none.
#[derive(Debug)]
pub struct Session(Infallible);

impl Session {
    pub fn dialling(credentials: &Credentials) -> Result<Session, Unavailable> {
        match credentials.0 {}
    }

    pub fn accepting(credentials: &Credentials) -> Result<Session, Unavailable> {
        match credentials.0 {}
    }

    pub fn greet(&mut self) -> Result<bool, Broken> {
        match self.0 {}
    }

    pub fn arrived(&self) -> &[u8] {
        match self.0 {}
    }

    pub fn room(&mut self) -> Result<&mut [u8], Broken> {
        match self.0 {}
    }

    pub fn filled(&mut self, _: usize) {
        match self.0 {}
    }

    pub fn open(&mut self, _: &mut [MaybeUninit<u8>]) -> Result<usize, Broken> {
        match self.0 {}
    }

    pub fn seal(&mut self, _: &[IoSlice<'_>]) -> Result<usize, Broken> {
        match self.0 {}
    }

    pub fn leaving(&self) -> &[u8] {
        match self.0 {}
    }

    pub fn left(&mut self, _: usize) {
        match self.0 {}
    }

    pub fn farewell(&mut self) {
        match self.0 {}
    }
}
