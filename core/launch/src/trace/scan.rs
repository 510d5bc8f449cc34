//! Events where they lie in their packets: nothing of them is copied. A trace has a hundred million of them.
//!
//! Other packets are read as the messages of `perfetto`. The numbers of fields are those that stand there.

use std::ops::Range;

/// Bytes that are no message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a field is cut off, or is of another kind")]
pub struct Damaged;

/// What a field has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value<'a> {
    Number(u64),
    /// Eight bytes.
    Fixed(u64),
    Bytes(&'a [u8]),
    /// Four bytes, which no message of ours has.
    Other,
}

/// The fields of a message that are left.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The next field: its number and what it has; none at the end.
    #[inline]
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Damaged> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Fixed(u64::from_le_bytes(self.bytes(8)?.try_into().map_err(|_| Damaged)?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.bytes(usize::try_from(length).map_err(|_| Damaged)?)?)
            }
            5 => self.bytes(4).map(|_| Value::Other)?,
            _ => return Err(Damaged),
        };
        Ok(Some((tag >> 3, value)))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Damaged> {
        let mut value = 0;
        for (nth, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * nth);
            if byte & 0x80 == 0 {
                self.0 = &self.0[nth + 1..];
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    #[inline]
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }
}

impl<'a> Value<'a> {
    #[inline]
    fn number(self) -> Result<u64, Damaged> {
        if let Value::Number(number) = self { Ok(number) } else { Err(Damaged) }
    }

    #[inline]
    fn fixed(self) -> Result<u64, Damaged> {
        if let Value::Fixed(bits) = self { Ok(bits) } else { Err(Damaged) }
    }

    #[inline]
    fn bytes(self) -> Result<&'a [u8], Damaged> {
        if let Value::Bytes(bytes) = self { Ok(bytes) } else { Err(Damaged) }
    }

    fn text(self) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }
}

/// What a packet has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts<'a> {
    pub at: u64,
    pub sequence: u32,
    pub event: Option<&'a [u8]>,
    /// It tells names, or defaults, too.
    pub tells: bool,
}

impl<'a> Parts<'a> {
    /// Of a packet of these bytes.
    pub fn of(packet: &'a [u8]) -> Result<Parts<'a>, Damaged> {
        let (mut parts, mut fields) = (Parts::default(), Fields(packet));
        while let Some((field, value)) = fields.next()? {
            match field {
                8 => parts.at = value.number()?,
                10 => parts.sequence = value.number()? as u32,
                11 => parts.event = Some(value.bytes()?),
                12 | 59 => parts.tells = true,
                _ => {}
            }
        }
        Ok(parts)
    }
}

/// What an event has. It is used again for the next one.
#[derive(Debug, Default)]
pub struct Scanned {
    pub kind: i32,
    pub name_iid: Option<u64>,
    name: Option<Range<usize>>,
    pub track: Option<u64>,
    /// The first of its categories.
    pub category: Option<u64>,
    pub arrows_out: Vec<u64>,
    pub arrows_in: Vec<u64>,
    annotations: Vec<Range<usize>>,
}

impl Scanned {
    /// Reads an event of these bytes in place of the one before.
    pub fn read(&mut self, event: &[u8]) -> Result<(), Damaged> {
        (self.kind, self.name_iid, self.name, self.track, self.category) = (0, None, None, None, None);
        self.arrows_out.clear();
        self.arrows_in.clear();
        self.annotations.clear();
        let mut fields = Fields(event);
        while let Some((field, value)) = fields.next()? {
            // Where a field with bytes ends, the others begin.
            let end = event.len() - fields.0.len();
            match field {
                3 => {
                    self.category.get_or_insert(value.number()?);
                }
                4 => self.annotations.push(end - value.bytes()?.len()..end),
                9 => self.kind = value.number()? as i32,
                10 => self.name_iid = Some(value.number()?),
                11 => self.track = Some(value.number()?),
                23 => self.name = Some(end - value.text()?.len()..end),
                47 => self.arrows_out.push(value.fixed()?),
                48 => self.arrows_in.push(value.fixed()?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Its name, if it is told in full.
    pub fn name<'a>(&self, event: &'a [u8]) -> Option<&'a str> {
        std::str::from_utf8(event.get(self.name.clone()?)?).ok()
    }

    /// What it says; nothing of what cannot be read.
    pub fn annotations<'a>(&self, event: &'a [u8]) -> impl Iterator<Item = Said<'a>> {
        self.annotations.iter().filter_map(move |range| Said::of(event.get(range.clone())?).ok())
    }
}

/// One thing that an event says: its name, or the number of that, and what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Said<'a> {
    pub name: Option<&'a str>,
    pub name_iid: Option<u64>,
    pub number: Option<u64>,
    pub float: Option<f64>,
    pub text: Option<&'a str>,
    pub text_iid: Option<u64>,
}

impl<'a> Said<'a> {
    fn of(bytes: &'a [u8]) -> Result<Said<'a>, Damaged> {
        let (mut said, mut fields) = (Said::default(), Fields(bytes));
        while let Some((field, value)) = fields.next()? {
            match field {
                1 => said.name_iid = Some(value.number()?),
                3 => said.number = Some(value.number()?),
                5 => said.float = Some(f64::from_bits(value.fixed()?)),
                6 => said.text = Some(value.text()?),
                10 => said.name = Some(value.text()?),
                17 => said.text_iid = Some(value.number()?),
                _ => {}
            }
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::super::perfetto::{Packet, SLICE_BEGIN, TrackEvent, with_float, with_number, with_text};
    use super::*;
    use prost::Message as _;

    fn packet() -> Packet {
        let event = TrackEvent {
            category_iids: vec![3, 4],
            debug_annotations: vec![with_number(1, 1 << 40), with_float(2, 0.5), with_text(300, "höher")],
            r#type: SLICE_BEGIN,
            name_iid: Some(7),
            track_uuid: Some(6 << 32 | 9),
            name: Some("Block.step".into()),
            flow_ids: vec![u64::MAX, 1],
            terminating_flow_ids: vec![5],
        };
        let (timestamp, trusted_packet_sequence_id) = (Some(123_456_789_012), 11);
        Packet { timestamp, trusted_packet_sequence_id, track_event: Some(event), ..Packet::default() }
    }

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let bytes = packet().encode_to_vec();
        let parts = Parts::of(&bytes).unwrap();
        assert_eq!((parts.at, parts.sequence, parts.tells), (123_456_789_012, 11, false));
        let (event, mut scanned) = (parts.event.unwrap(), Scanned::default());
        for _ in 0..2 {
            scanned.read(event).unwrap();
            assert_eq!((scanned.kind, scanned.name_iid, scanned.category), (SLICE_BEGIN, Some(7), Some(3)));
            assert_eq!((scanned.track, scanned.name(event)), (Some(6 << 32 | 9), Some("Block.step")));
            assert_eq!((&scanned.arrows_out[..], &scanned.arrows_in[..]), (&[u64::MAX, 1][..], &[5][..]));
            let said: Vec<_> = scanned.annotations(event).collect();
            assert_eq!(said.len(), 3);
            assert_eq!((said[0].name_iid, said[0].number), (Some(1), Some(1 << 40)));
            assert_eq!(
                (said[1].float, said[2].name_iid, said[2].text),
                (Some(0.5), Some(300), Some("höher"))
            );
        }
        scanned.read(&[]).unwrap();
        assert_eq!((scanned.name(event), scanned.annotations(event).count()), (None, 0));
    }

    #[test]
    fn whatever_is_cut_off_or_changed_is_refused_or_read() {
        let bytes = packet().encode_to_vec();
        let mut scanned = Scanned::default();
        let mut read = |bytes: &[u8]| {
            let event = Parts::of(bytes)?.event.unwrap_or_default();
            scanned.read(event)?;
            Ok::<_, Damaged>(scanned.annotations(event).count())
        };
        let refused = (1..bytes.len()).filter(|length| read(&bytes[..*length]).is_err()).count();
        assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let _ = read(&changed);
            }
        }
        assert_eq!(read(&[0xff; 11]), Err(Damaged), "a number without an end");
        assert_eq!(read(&[0x5a, 0xff, 0xff, 0xff, 0xff, 0x0f]), Err(Damaged), "more bytes than there are");
    }
}
