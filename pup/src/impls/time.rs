//! Durations. An `Instant` means nothing on another machine and is not `Pup`.

use std::time::Duration;

use crate::id::named;
use crate::{Packer, Pup, PupError, Unpacker};

const NANOS_PER_SECOND: u32 = 1_000_000_000;

named!("Duration", Duration);
/// Seconds in 8 bytes, then nanoseconds in 4.
impl Pup for Duration {
    const MIN_SIZE: usize = 12;

    fn pack(&self, p: &mut Packer) {
        self.as_secs().pack(p);
        self.subsec_nanos().pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (seconds, nanos) = <(u64, u32)>::unpack(u)?;
        if nanos >= NANOS_PER_SECOND {
            return Err(u.invalid(format!("{nanos} nanoseconds are more than a second")));
        }
        Ok(Duration::new(seconds, nanos))
    }
}
