//! A whole message where its bytes are: in the memory of the program that sends it, or in a frame that nobody has unpacked.

use talisman_pup::{Packer, Pup, Purpose, Unpacker};

use super::frame::{Head, INLINE_MAX};

/// Packed as, and read from, the [`Frame`](super::Frame) with which its bytes would travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<'a> {
    /// Of the frame.
    pub head: Head,
    /// As many as the head says; fewer if others follow.
    pub bytes: &'a [u8],
}

/// [`Body::Eager`](super::Body::Eager), as it is packed.
const EAGER: u8 = 0;
/// [`Payload::Inline`](super::Payload::Inline), as it is packed.
const INLINE: u8 = 0;
/// [`Payload::Copied`](super::Payload::Copied), as it is packed.
const COPIED: u8 = 1;

impl Whole<'_> {
    /// Packs what stands before its bytes, which follow.
    pub fn pack_start(&self, p: &mut Packer) {
        self.head.pack(p);
        EAGER.pack(p);
        match self.bytes.len() <= INLINE_MAX {
            true => {
                INLINE.pack(p);
                (self.bytes.len() as u8).pack(p);
            }
            false => {
                COPIED.pack(p);
                p.len(self.bytes.len());
            }
        }
    }

    /// Reads it from the start of a packed frame, of which so many bytes follow. None if that is another one, or wrong.
    pub fn read(packed: &[u8], rest: usize) -> Option<Whole<'_>> {
        let u = &mut Unpacker::new(packed, Purpose::Message);
        let (head, EAGER) = <(Head, u8)>::unpack(u).ok()? else { return None };
        let len = match u8::unpack(u).ok()? {
            INLINE => usize::from(u8::unpack(u).ok()?),
            COPIED => u.len().ok()?,
            _ => return None,
        };
        let bytes = u.bytes(len.checked_sub(rest)?).ok()?;
        u.finish().ok()?;
        Some(Whole { head, bytes })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Body, Frame, Payload, Token};
    use crate::ports::{Ask, Wish};

    const HEAD: Head = Head { context: 2, source: 70_000, tag: i32::MAX, number: u32::MAX, bytes: 0 };

    fn written(whole: &Whole<'_>) -> Vec<u8> {
        let mut p = Packer::new(Purpose::Message);
        whole.pack_start(&mut p);
        p.bytes(whole.bytes);
        p.finish()
    }

    #[test]
    fn it_is_packed_as_its_frame_and_read_from_it() {
        for len in [0, 1, 8, INLINE_MAX, INLINE_MAX + 1, 1_000, 8 << 10] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let whole = Whole { head: Head { bytes: len as u64, ..HEAD }, bytes: &bytes };
            let frame = Frame { head: whole.head, body: Body::Eager(Payload::of(&bytes)) };
            let packed = talisman_pup::to_bytes(&frame);
            assert_eq!(written(&whole), packed, "of {len} bytes");
            assert_eq!(Whole::read(&packed, 0), Some(whole));
            let rest = len / 2;
            let start = Whole { bytes: &bytes[..len - rest], ..whole };
            assert_eq!(
                Whole::read(&packed[..packed.len() - rest], rest),
                Some(start),
                "all but {rest} bytes"
            );
        }
    }

    #[test]
    fn other_frames_are_left_to_others() {
        let send = Token { index: 0, generation: 0 };
        let payload = || Payload::of(&[1; 9]);
        for body in [
            Body::Announce { send, synchronous: false, loan: None },
            Body::Paid { send, payload: payload() },
            Body::Data { receive: send, payload: payload() },
            Body::Taken { send },
            Body::Offer { first: 0, parts: 1 },
            Body::Ask(Box::new(Ask { wish: Wish::Close(0), answer: 0 })),
        ] {
            assert_eq!(Whole::read(&talisman_pup::to_bytes(&Frame { head: HEAD, body }), 0), None);
        }
        let mut packed = talisman_pup::to_bytes(&Frame { head: HEAD, body: Body::Eager(payload()) });
        packed.push(0);
        assert_eq!(Whole::read(&packed, 0), None, "something follows");
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes: Vec<u8>, kind in 0..3_u8, rest in 0..64_usize) {
            if let [.., at] = &mut bytes[..] {
                *at = kind;
            }
            let _ = Whole::read(&bytes, rest);
        }
    }
}
