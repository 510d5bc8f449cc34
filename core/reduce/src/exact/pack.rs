//! A partial sum on the wire: only the buckets in use travel, in a form that is the same for equal sums.

use talisman_pup::{Packer, Pup, PupError, Unpacker};

use super::add::trimmed;
use super::{BUCKETS, ExactSum, Seen, WINDOW};

impl Pup for ExactSum {
    const MIN_SIZE: usize = 2;

    /// What was seen, the number of buckets, and if there are any the first one's place and all of them.
    fn pack(&self, p: &mut Packer) {
        let (base, buckets) = self.buckets();
        let mut seen = self.seen;
        if !buckets.is_empty() {
            seen.add(Seen::OTHER);
        }
        seen.0.pack(p);
        let (base, buckets) = trimmed(base, buckets).unwrap_or((0, &[]));
        (buckets.len() as u8).pack(p);
        if !buckets.is_empty() {
            (base as u8).pack(p);
            Pup::pack_slice(buckets, p);
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let seen = Seen(u8::unpack(u)?);
        if seen.0 & !Seen::ALL.0 != 0 {
            return Err(u.invalid("an exact sum has seen values of an unknown kind"));
        }
        let mut sum = ExactSum { seen, ..ExactSum::new() };
        let len = usize::from(u8::unpack(u)?);
        if len == 0 {
            return Ok(sum);
        }
        let base = usize::from(u8::unpack(u)?);
        if base + len > BUCKETS {
            return Err(
                u.invalid(format_args!("an exact sum has {BUCKETS} buckets, not {len} from {base} on"))
            );
        }
        if len <= WINDOW {
            for slot in sum.slots(base, len) {
                *slot = i128::unpack(u)?;
            }
        } else {
            sum.wide = i128::unpack_vec(len, u)?;
            sum.wide_base = base as u8;
        }
        Ok(sum)
    }
}
