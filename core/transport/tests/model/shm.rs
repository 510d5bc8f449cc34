//! The links of `core/transport/src/shm/` under the model checker: memory that two processes share is memory that two
//! threads share.

#[path = "../../src/shm/arriving.rs"]
mod arriving;
#[path = "../../src/shm/bytes.rs"]
mod bytes;
#[path = "../../src/shm/flaw.rs"]
mod flaw;
#[path = "../../src/shm/frame.rs"]
mod frame;
#[path = "../../src/shm/in_place.rs"]
mod in_place;
#[path = "../../src/shm/inbound.rs"]
mod inbound;
#[path = "memory.rs"]
mod memory;
#[path = "../../src/shm/out.rs"]
mod out;
#[path = "../../src/shm/slots.rs"]
mod slots;
#[path = "../../src/shm/table.rs"]
mod table;
#[path = "../../src/shm/waiting.rs"]
mod waiting;

use std::ptr::NonNull;
use std::sync::Arc;

use talisman_pup::{Segment, SegmentBuffer, SegmentError};
use talisman_transport::{
    HEAD_MAX, Incoming, LinkError, Peer, SEGMENT_BYTES_MAX, SEGMENTS_MAX, TO_LINK, TO_STORE,
};

use self::memory::Bytes;
use self::slots::{Positions, Ring, Slot};
use crate::park::Parker;
use crate::sync;

pub use self::in_place::Arrived;
pub use self::inbound::Receiver;
pub use self::out::Sender;

struct Shared {
    slots: Vec<Slot>,
    positions: Positions,
}

// SAFETY: loom finds out whether it is.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// One direction with so many slots and a byte ring of eight chunks of one line.
pub fn direction(capacity: usize, receiver: Arc<Parker>) -> (Sender, Receiver) {
    let slots = (0..capacity).map(|_| Slot::new()).collect();
    let shared = Arc::new(Shared { slots, positions: Positions::new() });
    let ring = || {
        let (slots, positions) = (NonNull::from(&shared.slots[0]), NonNull::from(&shared.positions));
        // SAFETY: so many slots, kept by what is shared.
        unsafe { Ring::new(slots, capacity, positions, shared.clone()) }
    };
    let [written, read] = Bytes::pair(8);
    let peer = Peer { node: 1, lane: 0 };
    let sender = Sender::new(slots::Writer::new(ring()), bytes::Writer::new(written), peer, receiver);
    (sender, Receiver::new(slots::Reader::new(ring()), bytes::Reader::new(read), peer, 1))
}
