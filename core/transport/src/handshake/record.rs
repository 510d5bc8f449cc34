//! The records of a handshake, and taking them in byte by byte.

use super::{Refusal, Shape, WIRE_VERSION};
use crate::auth::{BYTES, Nonce, Proof};
use crate::tls::HANDSHAKE;

const MAGIC: [u8; 8] = *b"TALISMAN";
/// Magic, version, kind, a zero, length of the body.
pub(super) const HEADER: usize = 16;

/// Where the nonce stands in a whole `Hello`.
#[cfg(test)]
pub(super) const HELLO_NONCE: std::ops::Range<usize> = HEADER + Hello::SIZE - BYTES..HEADER + Hello::SIZE;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Hello = 1,
    Challenge = 2,
    Proof = 3,
    Welcome = 4,
    Refusal = 5,
}

impl Kind {
    /// Bytes of its body: always the same.
    fn body(self) -> usize {
        match self {
            Kind::Hello => Hello::SIZE,
            Kind::Challenge => Challenge::SIZE,
            Kind::Proof => BYTES,
            Kind::Welcome => 0,
            Kind::Refusal => 1,
        }
    }
}

/// A record's bytes.
pub(super) fn encode(kind: Kind, body: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&WIRE_VERSION.to_le_bytes());
    bytes.extend_from_slice(&[kind as u8, 0]);
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A record that is arriving.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    kind: Option<Kind>,
}

impl Inbox {
    /// Most bytes that may be given next: what follows a record is another reader's.
    pub(super) fn wants(&self) -> usize {
        HEADER + self.kind.map_or(0, Kind::body) - self.bytes.len()
    }

    /// Takes bytes in, where only records of these kinds can come; the record, header and all, when it is complete.
    pub(super) fn feed(&mut self, bytes: &[u8], kinds: &[Kind]) -> Result<Option<(Kind, Vec<u8>)>, Refusal> {
        if bytes.len() > self.wants() {
            return Err(Refusal::Record);
        }
        self.bytes.extend_from_slice(bytes);
        if self.kind.is_none() {
            self.kind = header(&self.bytes, kinds)?;
        }
        match self.kind {
            Some(kind) if self.wants() == 0 => {
                self.kind = None;
                Ok(Some((kind, std::mem::take(&mut self.bytes))))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a record may begin with these bytes, as far as they go.
pub fn is_ours(bytes: &[u8]) -> bool {
    let known = bytes.len().min(MAGIC.len());
    bytes[..known] == MAGIC[..known]
}

/// The kind, once the header is complete. A stranger is known by the first byte that is wrong.
fn header(bytes: &[u8], kinds: &[Kind]) -> Result<Option<Kind>, Refusal> {
    if bytes.first() == Some(&HANDSHAKE) {
        return Err(Refusal::Encrypted);
    }
    if !is_ours(bytes) {
        return Err(Refusal::Stranger);
    }
    let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
    if header[8..10] != WIRE_VERSION.to_le_bytes() {
        return Err(Refusal::Version);
    }
    let kind = kinds.iter().copied().find(|&kind| kind as u8 == header[10]).ok_or(Refusal::Record)?;
    let exact = header[11] == 0 && header[12..16] == (kind.body() as u32).to_le_bytes();
    if exact { Ok(Some(kind)) } else { Err(Refusal::Record) }
}

/// The dialling node's claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) job: u128,
    pub(super) build: u128,
    pub(super) shape: Shape,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) lane: u32,
    pub(super) incarnation: u64,
    pub(super) nonce: Nonce,
}

impl Hello {
    const SIZE: usize = 16 + 16 + 4 * 5 + 8 + BYTES;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = [self.job.to_le_bytes(), self.build.to_le_bytes()].concat();
        for number in [self.shape.nodes, self.shape.pes, self.from, self.to, self.lane] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        body.extend_from_slice(&self.incarnation.to_le_bytes());
        body.extend_from_slice(&self.nonce);
        encode(Kind::Hello, &body)
    }

    /// Of a whole record.
    pub(super) fn decode(record: &[u8]) -> Hello {
        let mut fields = Fields(&record[HEADER..]);
        Hello {
            job: u128::from_le_bytes(fields.next()),
            build: u128::from_le_bytes(fields.next()),
            shape: Shape { nodes: u32::from_le_bytes(fields.next()), pes: u32::from_le_bytes(fields.next()) },
            from: u32::from_le_bytes(fields.next()),
            to: u32::from_le_bytes(fields.next()),
            lane: u32::from_le_bytes(fields.next()),
            incarnation: u64::from_le_bytes(fields.next()),
            nonce: fields.next(),
        }
    }
}

/// The accepting node's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) node: u32,
    pub(super) incarnation: u64,
    pub(super) nonce: Nonce,
    /// Of the hello and of this record up to here.
    pub(super) proof: Proof,
}

impl Challenge {
    const SIZE: usize = 4 + 8 + BYTES + BYTES;

    pub(super) fn encode(&self) -> Vec<u8> {
        let (node, incarnation) = (self.node.to_le_bytes(), self.incarnation.to_le_bytes());
        encode(Kind::Challenge, &[&node[..], &incarnation, &self.nonce, &self.proof].concat())
    }

    /// Of a whole record.
    pub(super) fn decode(record: &[u8]) -> Challenge {
        let mut fields = Fields(&record[HEADER..]);
        Challenge {
            node: u32::from_le_bytes(fields.next()),
            incarnation: u64::from_le_bytes(fields.next()),
            nonce: fields.next(),
            proof: fields.next(),
        }
    }
}

/// The part of a whole record in which a proof stands: a challenge or a proof ends with it.
pub(super) fn before_proof(record: &[u8]) -> &[u8] {
    &record[..record.len() - BYTES]
}

/// The proof of a whole `Proof` record.
pub(super) fn proof(record: &[u8]) -> Proof {
    Fields(&record[HEADER..]).next()
}

/// The reason in a whole `Refusal` record.
pub(super) fn reason(record: &[u8]) -> Refusal {
    Refusal::of(Fields(&record[HEADER..]).next::<1>()[0])
}

/// Fields of a body whose length [`Inbox`] has checked.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("bodies have the length of their kind");
        self.0 = rest;
        *field
    }
}
