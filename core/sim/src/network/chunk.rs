//! What travels: pieces of what was written, and the words of the systems at both ends.

use super::frame_faults::Fate;
use talisman_base::rng::Rng;

/// The least that is cut off from a longer write: what a frame of Ethernet carries.
const CHUNK_BYTES_MIN: u64 = 1400;
/// The most that arrives at once: what network cards take over in one piece.
const CHUNK_BYTES_MAX: u64 = 64 << 10;
/// One of so many chunks ends anywhere. Who reads has to be able to cope with that.
const ODD_CHUNKS: u64 = 64;

/// A piece of what is under way.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) cargo: Cargo,
    /// When it arrives, once it has set off.
    pub(super) at: u64,
    /// Whether the line of the receiving host has taken it.
    pub(super) admitted: bool,
    /// What becomes of it on the way; decided when it first sets off.
    pub(super) fate: Option<Fate>,
}

/// What a chunk carries. All kinds stay in order, which is what makes a connection a connection.
#[derive(Debug)]
pub(super) enum Cargo {
    Bytes(Vec<u8>),
    /// The dialler asks for a connection.
    Dial,
    /// The system at the other side has accepted.
    Accept,
    /// Nobody listens there.
    Refuse,
    /// The sender has closed.
    End,
    /// The sender knows nothing of this connection any more.
    Reset,
}

impl Chunk {
    pub(super) fn new(cargo: Cargo) -> Self {
        Chunk { cargo, at: 0, admitted: false, fate: None }
    }

    /// What counts for bandwidth.
    pub(super) fn len(&self) -> usize {
        match &self.cargo {
            Cargo::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// Where to end the first chunk of so many bytes.
pub(super) fn chunk_len(bytes: usize, rng: &mut Rng) -> usize {
    let len = match rng.below(ODD_CHUNKS) {
        0 => 1 + rng.below(CHUNK_BYTES_MIN),
        _ => CHUNK_BYTES_MIN + rng.below(CHUNK_BYTES_MAX - CHUNK_BYTES_MIN + 1),
    };
    bytes.min(len as usize)
}
