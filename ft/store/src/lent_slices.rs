//! Slices of a message that stay where they are: another process of the host maps them, and no byte of them is copied.
//!
//! The owner leaves them as they are for as long as whoever it has told may need them. Who has mapped them can tell if it did not
//! ([`Mapping::is_unchanged`]), and has them for as long as it wants, also when the owner is gone.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use crate::cma::Lent;
use crate::shm_map::{Mapping, Shared};
use crate::versions::Store;
use talisman_pup::{Packed, Pup, Segment};

/// Where some slices of a message are.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct LentSlices {
    /// Those that are lent, each a buffer.
    lent: Lent,
    /// Of each slice: its length and alignment if it is lent; none if it comes with the message.
    slices: Vec<Option<(u64, u32)>>,
}

/// All slices of a message, and what those that are lent are in.
#[derive(Default)]
pub struct Found {
    pub slices: Vec<Segment>,
    pub mapped: Vec<Arc<Mapping>>,
}

impl LentSlices {
    /// Lends those slices that are in this memory of the process. The others are to go with the message. None if none is.
    pub fn of(all: &[Segment], shared: Shared) -> Option<(LentSlices, Vec<Segment>)> {
        let mut slabs: Vec<_> = shared.slabs.iter().map(|slab| (slab.at, slab.at + slab.len)).collect();
        slabs.sort_unstable();
        let is_in_slab = |slice: &&Segment| {
            let (at, len) = (slice.bytes().as_ptr().addr() as u64, slice.bytes().len() as u64);
            let next = slabs.partition_point(|(from, _)| *from <= at);
            len > 0 && next.checked_sub(1).is_some_and(|slab| at + len <= slabs[slab].1)
        };
        let (lent, beside): (Vec<_>, Vec<_>) = all.iter().partition(is_in_slab);
        if lent.is_empty() {
            return None;
        }
        let place = |slice: &Segment| Some((slice.bytes().len() as u64, slice.align() as u32));
        let slices = all.iter().map(|slice| if is_in_slab(&slice) { place(slice) } else { None }).collect();
        let lent = Packed::new(Bytes::new(), lent.into_iter().cloned().collect(), Vec::new());
        let lent = Lent::of(&lent, Some(shared))?;
        Some((LentSlices { lent, slices }, beside.into_iter().cloned().collect()))
    }

    /// All slices of the message that came with these.
    ///
    /// # Errors
    /// This process may not map the memory of the other, or finds nothing of that kind there; it is another process by now, or has gone on
    /// without waiting for this one; or the message has more or fewer slices than it says.
    pub fn found(&self, store: &Store, beside: Vec<Segment>) -> io::Result<Found> {
        let mapped = store.map(&self.lent);
        let mut beside = beside.into_iter();
        // Buffer 0 of what is lent has no bytes.
        let mut lent = 1..;
        let slices = self.slices.iter().map(|place| match place {
            None => beside.next().ok_or_else(|| io::Error::other("a slice is missing")),
            Some(place) => {
                let slice = lent.next().and_then(|nth| self.mapped(&mapped, nth, *place));
                slice.ok_or_else(|| io::Error::other("a slice is not where it is said to be"))
            }
        });
        let slices = slices.collect::<io::Result<Vec<_>>>()?;
        if beside.next().is_some() {
            return Err(io::Error::other("it has more slices than it says"));
        }
        store.check_lent(&self.lent)?;
        match mapped.iter().all(|slab| slab.is_unchanged()) {
            true => Ok(Found { slices, mapped }),
            false => Err(io::Error::other("its owner has given it up")),
        }
    }

    fn mapped(&self, mapped: &[Arc<Mapping>], nth: usize, (len, align): (u64, u32)) -> Option<Segment> {
        let (at, len) = (self.lent.at(nth)?, usize::try_from(len).ok()?);
        // They are in the order of their addresses.
        let next = mapped.partition_point(|slab| slab.begins_at() <= at);
        mapped.get(next.checked_sub(1)?)?.segment(at, len, align as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slabs::{Room, SlabSource};
    use talisman_pup::{from_bytes, to_bytes};

    fn store() -> Store {
        let store = Store::default();
        store.share();
        store
    }

    /// Three slices, of which the second is in memory of its own, and where the others are.
    fn slices(store: &Store) -> (Vec<Segment>, Room) {
        let mut room = Room::default();
        let mut copy = |byte: u8, len: usize| {
            let source: &dyn SlabSource = store;
            room.copy(source, &vec![byte; len], 8).expect("there is memory")
        };
        let (first, last) = (copy(1, 100_000), copy(3, 70_000));
        (vec![first, Segment::of_vec(vec![2_u64; 9]), last], room)
    }

    #[test]
    fn slices_are_mapped_where_they_are() {
        let store = store();
        let (slices, room) = slices(&store);
        let (lent, beside) = LentSlices::of(&slices, room.shared().unwrap()).expect("two are in slabs");
        assert_eq!(beside, slices[1..2]);
        let lent: LentSlices = from_bytes(&to_bytes(&lent)).unwrap();
        let found = lent.found(&store, beside).unwrap();
        assert!(found.slices == slices);
        let at = |slice: &Segment| slice.bytes().as_ptr();
        assert!(at(&found.slices[0]) != at(&slices[0]), "another process would have it at another place");
        assert!(found.slices.iter().zip(&slices).all(|(found, slice)| found.align() == slice.align()));
    }

    #[test]
    fn what_its_owner_has_given_up_is_not_found() {
        let store = store();
        let (slices, room) = slices(&store);
        let (lent, beside) = LentSlices::of(&slices, room.shared().unwrap()).unwrap();
        let found = lent.found(&store, beside.clone()).unwrap();
        drop(slices);
        let mut slabs = crate::slabs::Slabs::default();
        slabs.add(room);
        while let Some(slab) = slabs.take(1) {
            Room::default().begin(slab);
        }
        assert!(found.mapped.iter().any(|slab| !slab.is_unchanged()), "who has mapped it can tell");
        assert!(lent.found(&store, beside).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let store = store();
        let (slices, room) = slices(&store);
        let (lent, beside) = LentSlices::of(&slices, room.shared().unwrap()).unwrap();
        assert!(lent.found(&store, Vec::new()).is_err(), "one is missing");
        assert!(lent.found(&store, [beside.clone(), beside.clone()].concat()).is_err(), "one is too many");
        let with = |change: fn(&mut LentSlices)| {
            let mut changed = lent.clone();
            change(&mut changed);
            changed.found(&store, beside.clone()).is_err()
        };
        assert!(with(|lent| lent.slices[0] = Some((u64::MAX, 8))), "it is longer than the slab");
        assert!(with(|lent| lent.slices[0] = Some((100, 3))), "there is no such alignment");
        assert!(with(|lent| lent.slices.push(Some((8, 8)))), "there are two");
        assert!(with(|lent| lent.lent.mark ^= 1), "it is another process");
        assert!(!with(|_| {}));
        let other = Segment::of_vec(vec![0_u8; 100]);
        assert!(LentSlices::of(&[other], room.shared().unwrap()).is_none(), "it is in no slab");
    }
    #[test]
    fn what_is_cut_off_is_none() {
        let store = store();
        let (slices, room) = slices(&store);
        let (lent, _) = LentSlices::of(&slices, room.shared().unwrap()).unwrap();
        let bytes = to_bytes(&(lent, b"the word".to_vec()));
        let read = |bytes: &[u8]| from_bytes::<(LentSlices, Vec<u8>)>(bytes).map(drop);
        assert!(read(&bytes).is_ok());
        assert!((0..bytes.len()).all(|end| read(&bytes[..end]).is_err()));
        // Lengths that nothing of that kind has: an error, and no memory is asked for.
        for at in 0..bytes.len() - 8 {
            let mut changed = bytes.clone();
            changed[at..at + 8].fill(0xff);
            let Ok((lent, _)) = from_bytes::<(LentSlices, Vec<u8>)>(&changed) else { continue };
            let _ = lent.found(&store, vec![slices[1].clone()]);
        }
    }
}
