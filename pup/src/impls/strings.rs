//! Text and paths: a length in bytes, then the bytes.

use std::borrow::Cow;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::id::named;
use crate::{Fault, Lender, Packer, Pup, PupError, Unpacker};

named!("str", str);
named!("String", String);
impl Pup for String {
    const MIN_SIZE: usize = 8;

    #[inline]
    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_bytes(), p);
    }
    #[inline]
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let bytes = unpack_bytes(u)?;
        std::str::from_utf8(bytes).map(String::from).map_err(|_| u.fault(Fault::Utf8))
    }
}

impl Pup for Box<str> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_bytes(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        String::unpack(u).map(String::into_boxed_str)
    }
}

named!("Cow<str>", Cow<'_, str>);
/// Arrives owned.
impl Pup for Cow<'_, str> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_bytes(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        String::unpack(u).map(Cow::Owned)
    }
}

named!("CString", CString);
impl Pup for CString {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_bytes(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let bytes = unpack_bytes(u)?;
        CString::new(bytes).map_err(|_| u.invalid("a zero byte inside a C string"))
    }
}

named!("OsString", OsString);
/// The bytes of the operating system (Unix): no encoding is assumed.
impl Pup for OsString {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_bytes(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(OsString::from_vec(unpack_bytes(u)?.to_vec()))
    }
}

named!("PathBuf", PathBuf);
impl Pup for PathBuf {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self.as_os_str().as_bytes(), p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        OsString::unpack(u).map(PathBuf::from)
    }
}

named!("Bytes", bytes::Bytes);
impl Pup for bytes::Bytes {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        pack_bytes(self, p);
    }
    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        l.slice::<u8>(self);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let word = u64::unpack(u)?;
        u.bytes_or_segment(word)
    }
}

#[inline]
fn pack_bytes(bytes: &[u8], p: &mut Packer) {
    p.len(bytes.len());
    p.bytes(bytes);
}

#[inline]
fn unpack_bytes<'a>(u: &mut Unpacker<'a>) -> Result<&'a [u8], PupError> {
    let len = u.len()?;
    u.bytes(len)
}
