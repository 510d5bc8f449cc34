//! Parts that go to a process which has come in place of a lost one, or is added: from whoever holds them, before the PEs there begin.

use std::collections::BTreeSet;

use easy_ext::ext;
use serde::{Deserialize, Serialize};

use super::reading::handed;
use talisman_base::ids::PeId;
use talisman_base::limits::HEAD_MAX;
use talisman_base::view::View;
use talisman_ft::Version;
use talisman_ft::double::Order;
use talisman_kernel::net::Net;
use talisman_kernel::pe::Pe;
use talisman_kernel::port::Port;
use talisman_pup::Segment;
use talisman_store::pieces::Manifest;
use talisman_store::versions::{Store, StoreError};

/// What is sent for what holds parts; slices travel beside it.
#[derive(Serialize, Deserialize)]
enum Handed {
    /// The part of a PE is to come.
    Part {
        pe: PeId,
        /// Who was there when it was taken.
        taken_in: talisman_ft::view::View,
        /// As in [`Manifest`].
        buffers: Vec<(u64, u32)>,
        pieces: u32,
    },
    /// The next piece of it, with its checksum.
    Piece { pe: PeId, piece: u32, sum: u32 },
    /// It cannot be had, for this reason.
    Missing { pe: PeId, why: String },
}

/// Sends the parts of a lane that this node is to send.
pub fn hand_out(store: &Store, order: &Order, lane: u32, lanes: u32, net: &Net) {
    if order.send.is_empty() {
        return;
    }
    let view = View::new(order.view.clone(), lanes);
    for (part, to) in &order.send {
        let pe = part * lanes + lane;
        order.version.into_iter().for_each(|version| hand(store, version, pe, &view, (*to, net)));
    }
}

fn hand(store: &Store, version: Version, pe: PeId, view: &View, (to, net): (u32, &Net)) {
    let send = |handed: &Handed, slices| {
        let head = rmp_serde::to_vec(handed).expect("numbers and texts can be written");
        match head.len() <= HEAD_MAX {
            true => net.hand(to, &head, slices),
            // Of a part of a terabyte: what says how it is made is too much for one message.
            false => net.hand(to, &missing(pe, "it has too many slices"), Vec::new()),
        }
    };
    match handed(store, version, pe, view) {
        Ok((taken_in, Manifest { buffers, pieces: count }, pieces)) => {
            send(&Handed::Part { pe, taken_in, buffers, pieces: count }, Vec::new());
            for (piece, (slices, sum)) in (0..).zip(pieces) {
                send(&Handed::Piece { pe, piece, sum }, slices);
            }
        }
        Err(error) => send(&Handed::Missing { pe, why: error.to_string() }, Vec::new()),
    }
}

fn missing(pe: PeId, why: &str) -> Vec<u8> {
    rmp_serde::to_vec(&Handed::Missing { pe, why: why.into() }).expect("numbers and texts can be written")
}

#[ext(ImageTransferOnPe)]
pub impl Pe {
    /// Fetches the parts that this PE is to restore and that are not here; whether they came before the job halted again.
    ///
    /// # Errors
    /// One cannot be had, or is not what it was.
    fn fetch(&self, version: Version, order: &Order) -> Result<bool, StoreError> {
        let Port::Threads(port) = &self.port else { return Ok(true) };
        let Some(net) = &port.net else { return Ok(true) };
        let senders: BTreeSet<u32> = order.fetch.iter().map(|(_, from)| *from).collect();
        for sender in senders {
            let mut left = order.fetch.iter().filter(|(_, from)| *from == sender).count();
            let mut wrong = None;
            let take = |head: &[u8], slices: Vec<Segment>| {
                match self.take_handed(version, head, slices) {
                    Ok(is_whole) => left -= usize::from(is_whole),
                    Err(error) => wrong = Some(error),
                }
                left == 0 || wrong.is_some()
            };
            let has_come = net.fetch(self, sender, take);
            if let Some(wrong) = wrong {
                return Err(wrong);
            }
            if !has_come {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a part is whole with that.
    fn take_handed(&self, version: Version, head: &[u8], slices: Vec<Segment>) -> Result<bool, StoreError> {
        let wrong = |pe, why: String| StoreError::File { pe, version, why };
        let store = &self.node.store;
        match rmp_serde::from_slice(head).map_err(|error| wrong(self.id, error.to_string()))? {
            Handed::Part { pe, taken_in, buffers, pieces } if taken_in.nodes() == self.node.shape.nodes => {
                let view = View::new(taken_in, self.node.shape.pes_per_node);
                Ok(store.expect(version, &view, pe, Manifest { buffers, pieces }))
            }
            Handed::Part { pe, .. } => Err(wrong(pe, "it is of a job of another size".into())),
            Handed::Piece { pe, piece, sum } => store.add(version, pe, piece, sum, slices),
            Handed::Missing { pe, why } => Err(wrong(pe, why)),
        }
    }
}
