//! Parts of a cut stay where they are if their keeper is on the same host: it maps them, and no byte of them is copied.
//!
//! They are what they were for as long as anybody goes back to them: a node begins the next line, and writes to the memory of the former
//! one, only once that is committed, and who writes a line to disk has it until all have. A process that is lost writes nothing. So what
//! its keeper has mapped is its image, which goes to the new process as it would if it had been copied.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use talisman_core::logging::image::Image;
use talisman_ft::{NodeId, Version};
use talisman_pup::{PupError, Segment, from_bytes, to_bytes};
use talisman_store::lent_slices::{Found, LentSlices};
use talisman_store::shm_map::{Mapping, Shared};
use talisman_store::versions::Store;

/// What a node lends, and has mapped.
#[derive(Default)]
pub(super) struct Lending {
    /// Nodes that cannot map it, as they have said.
    refused: BTreeSet<NodeId>,
    /// Nodes of which this one cannot.
    unreadable: BTreeSet<NodeId>,
    /// What images of others are in, by whose they are and their line.
    mapped: BTreeMap<(NodeId, Version), Vec<Arc<Mapping>>>,
}

/// The bytes of a word, and its slices.
pub(super) type Written = (Vec<u8>, Vec<Segment>);

/// Why what somebody lends is not here.
pub(super) enum NotFound {
    /// It is to be sent.
    Unreadable(io::Error),
    /// It is nothing that a node sends.
    Unknown(PupError),
}

impl Lending {
    /// A word that has this image of the node, with most slices where they are, if the other one may map them.
    pub(super) fn lend(&self, store: &Store, to: NodeId, image: &Image, word: &Written) -> Option<Written> {
        if self.refused.contains(&to) {
            return None;
        }
        let pes = image.states.len() as u32;
        let own = image.of * pes..(image.of + 1) * pes;
        let shared = own.filter_map(|pe| store.shared(image.line, pe)).reduce(together)?;
        let (lent, beside) = LentSlices::of(&word.1, shared)?;
        Some((to_bytes(&(lent, word.0.clone())), beside))
    }

    /// What a word that came is in whole, and what of it is mapped.
    pub(super) fn find(
        store: &Store,
        bytes: &[u8],
        beside: Vec<Segment>,
    ) -> Result<(Vec<u8>, Found), NotFound> {
        let (lent, word): (LentSlices, Vec<u8>) = from_bytes(bytes).map_err(NotFound::Unknown)?;
        Ok((word, lent.found(store, beside).map_err(NotFound::Unreadable)?))
    }

    /// An image of another node is in there.
    pub(super) fn keep(&mut self, image: &Image, mapped: Vec<Arc<Mapping>>) {
        self.mapped.insert((image.of, image.line), mapped);
    }

    /// A node has said that it cannot map what is lent to it.
    pub(super) fn refuse(&mut self, node: NodeId) {
        self.refused.insert(node);
    }

    /// What that node lends cannot be mapped here.
    pub(super) fn note_unreadable(&mut self, node: NodeId) {
        self.unreadable.insert(node);
    }

    /// Whether what it lends may be mapped here, as far as is known.
    pub(super) fn may_map(&self, node: NodeId) -> bool {
        !self.unreadable.contains(&node)
    }

    /// Whether an image is what it was, wherever it is.
    pub(super) fn is_whole(&self, image: &Image) -> bool {
        let mapped = self.mapped.get(&(image.made_of(), image.line)).into_iter().flatten();
        mapped.into_iter().all(|slab| slab.is_unchanged())
    }

    /// What images of this line are in.
    pub(super) fn mapped(&self, line: Version) -> Vec<Arc<Mapping>> {
        let of_line = self.mapped.iter().filter(|((_, of), _)| *of == line);
        of_line.flat_map(|(_, mapped)| mapped).cloned().collect()
    }

    /// There will be no such line.
    pub(super) fn give_up(&mut self, line: Version) {
        self.mapped.retain(|(_, of), _| *of != line);
    }

    /// This line has begun: nobody goes back behind it.
    pub(super) fn begin_line(&mut self, line: Version) {
        self.mapped.retain(|(_, of), _| *of >= line);
    }
}

/// The memory of several PEs of a process.
fn together(mut all: Shared, next: Shared) -> Shared {
    all.slabs.extend(next.slabs);
    all
}
