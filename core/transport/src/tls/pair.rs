//! Both ends of a connection at once, without one.

use super::{Broken, Credentials, Session, Unavailable};

/// Two sessions that have agreed, for tests and benchmarks.
///
/// # Errors
/// As [`Session::dialling`].
pub fn pair(credentials: &Credentials) -> Result<[Session; 2], Unavailable> {
    let mut ends = [Session::dialling(credentials)?, Session::accepting(credentials)?];
    let agreed = agree(&mut ends);
    agreed.map(|()| ends).map_err(|Broken| Unavailable("two ends with the same key do not agree".into()))
}

/// Lets both go on until neither has more to say.
///
/// # Errors
/// One of them does not want the other.
pub(super) fn agree([a, b]: &mut [Session; 2]) -> Result<(), Broken> {
    while !(a.greet()? & b.greet()?) || !a.leaving().is_empty() || !b.leaving().is_empty() {
        carry(a, b)?;
        carry(b, a)?;
    }
    Ok(())
}

/// Carries what is leaving one to the other.
pub(super) fn carry(from: &mut Session, to: &mut Session) -> Result<(), Broken> {
    while !from.leaving().is_empty() {
        let room = to.room()?;
        let n = from.leaving().len().min(room.len());
        room[..n].copy_from_slice(&from.leaving()[..n]);
        to.filled(n);
        from.left(n);
    }
    Ok(())
}
