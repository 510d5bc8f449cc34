//! Placement maps: on which PE an element of an array is created, and where the directory looks for it first.
//!
//! A map is a function of the index alone, the same on every PE: whoever needs the home of an element computes it
//! (*array map* in the Charm++ manual, `CkArrayMap::procNum`). Later migration does not change it.

mod user;

use std::iter::StepBy;
use std::ops::Range;

use talisman_pup::{Fault, Packer, Pup, PupError, Unpacker};
use thiserror::Error;

use crate::index::{ArrayIndex, Bounds};

pub use user::{IntoMap, Placement, Registered, UserMap};

#[doc(hidden)]
pub use user::{ObjectEntry, inventory, map_entry};

/// Where the elements of an array start. Not bound to PEs for good: they may migrate.
#[derive(Clone, Debug)]
pub enum Map {
    /// Neighbours together: each PE has a run of consecutive elements in index order, the first PEs one more when they
    /// cannot all have the same number.
    Block,
    /// Element by element in index order, each to the next PE.
    RoundRobin,
    /// Spread by a hash of the index. Arrays without bounds, and elements outside of them, always are.
    Hash,
    /// A [`Placement`] of the user's own.
    User(UserMap),
}

/// A user's map named a PE that there is not.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the map `{map}` puts the element {index} on PE {pe}, but there are only PEs 0 to {last}", last = pes - 1)]
pub struct MapError {
    /// The wire name of the map.
    pub map: String,
    /// The element, as its `Debug` shows it.
    pub index: String,
    /// The PE named.
    pub pe: u32,
    /// The number of PEs.
    pub pes: u32,
}

impl Map {
    /// The home PE of an element, `0..pes`.
    ///
    /// # Errors
    /// When a user's map names a PE that there is not.
    ///
    /// # Panics
    /// When there are no PEs.
    pub fn pe<I: ArrayIndex>(&self, index: I, bounds: Option<&Bounds>, pes: u32) -> Result<u32, MapError> {
        assert!(pes > 0, "an array needs a PE");
        if let Map::User(map) = self {
            let pe = map.pe(index.to_bits(), bounds, pes);
            return if pe < pes { Ok(pe) } else { Err(map.error(index, pe, pes)) };
        }
        let numbered = bounds.and_then(|bounds| Some((bounds.ordinal(index)?, bounds.len())));
        Ok(match (self, numbered) {
            (Map::Block, Some((ordinal, len))) => block_pe(ordinal, len, pes),
            (Map::RoundRobin, Some((ordinal, _))) => (ordinal % u64::from(pes)) as u32,
            _ => hash_pe(index.to_bits(), pes),
        })
    }

    /// The positions in `bounds` of the elements whose home is `pe`, when they follow from a rule; `None` when each
    /// has to be asked for with [`Map::pe`]. Meant for indices that have ordinals.
    pub fn ordinals(&self, pe: u32, bounds: &Bounds, pes: u32) -> Option<StepBy<Range<u64>>> {
        match self {
            Map::Block => Some(block_ordinals(pe, bounds.len(), pes).step_by(1)),
            Map::RoundRobin => Some((u64::from(pe)..bounds.len()).step_by(pes as usize)),
            Map::Hash | Map::User(_) => None,
        }
    }
}

/// The PE of a position below `len` when consecutive positions are dealt out evenly.
fn block_pe(ordinal: u64, len: u64, pes: u32) -> u32 {
    let (each, extra) = (len / u64::from(pes), len % u64::from(pes));
    // The first `extra` PEs have `each + 1`. That cannot overflow: `each` is below `len` unless there is one PE.
    let longer = extra * (each + u64::from(extra > 0));
    let pe = if ordinal < longer { ordinal / (each + 1) } else { extra + (ordinal - longer) / each };
    pe as u32
}

/// The positions that [`block_pe`] deals out to a PE.
fn block_ordinals(pe: u32, len: u64, pes: u32) -> Range<u64> {
    let (each, extra) = (len / u64::from(pes), len % u64::from(pes));
    let start = |pe: u64| pe * each + pe.min(extra);
    start(pe.into())..start(u64::from(pe) + 1)
}

/// The PE of an index by a hash that is the same on every machine and in every version.
fn hash_pe(bits: u128, pes: u32) -> u32 {
    let hash = mix((bits >> 64) as u64 ^ mix(bits as u64));
    ((u128::from(hash) * u128::from(pes)) >> 64) as u32
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014), after its increment so that zero does not stay zero.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl Pup for Map {
    const MIN_SIZE: usize = 1;

    fn pack(&self, p: &mut Packer) {
        match self {
            Map::Block => 0u8.pack(p),
            Map::RoundRobin => 1u8.pack(p),
            Map::Hash => 2u8.pack(p),
            Map::User(map) => {
                3u8.pack(p);
                map.pack(p);
            }
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        match u8::unpack(u)? {
            0 => Ok(Map::Block),
            1 => Ok(Map::RoundRobin),
            2 => Ok(Map::Hash),
            3 => Ok(Map::User(UserMap::unpack(u)?)),
            tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: "Map" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(len: u64) -> Bounds {
        Bounds::new([0], [len]).unwrap()
    }

    /// The elements of each PE, from the map's `pe`.
    fn dealt(map: &Map, len: u64, pes: u32) -> Vec<Vec<u64>> {
        let mut dealt = vec![Vec::new(); pes as usize];
        for index in 0..len {
            dealt[map.pe(index, Some(&row(len)), pes).unwrap() as usize].push(index);
        }
        dealt
    }

    #[test]
    fn blocks_are_even_and_the_first_are_longer() {
        assert_eq!(dealt(&Map::Block, 7, 3), [vec![0, 1, 2], vec![3, 4], vec![5, 6]]);
        assert_eq!(dealt(&Map::Block, 2, 4), [vec![0], vec![1], vec![], vec![]]);
        assert_eq!(dealt(&Map::RoundRobin, 7, 3), [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn the_largest_blocks() {
        let all = row(u64::MAX);
        assert_eq!(Map::Block.pe(u64::MAX - 1, Some(&all), 1), Ok(0));
        assert_eq!(Map::Block.pe(u64::MAX - 1, Some(&all), u32::MAX), Ok(u32::MAX - 1));
        assert_eq!(block_ordinals(u32::MAX - 1, u64::MAX, u32::MAX).end, u64::MAX);
    }

    #[test]
    fn hashes_are_the_same_everywhere() {
        // Computed once and written down: PEs of other machines must agree.
        let homes: Vec<u32> = (0..8i32).map(|i| Map::Hash.pe((i, -i), None, 1000).unwrap()).collect();
        assert_eq!(homes, [160, 304, 6, 925, 705, 164, 897, 385]);
    }

    #[test]
    fn hashes_are_even() {
        let mut counts = [0; 16];
        for i in 0..160 {
            for j in 0..100 {
                counts[Map::Hash.pe((i, j), None, 16).unwrap() as usize] += 1;
            }
        }
        // 1,000 each, give or take five standard deviations.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn without_bounds_or_outside_of_them_the_hash_is_taken() {
        let hashed = Map::Hash.pe(17u64, None, 5);
        for map in [Map::Block, Map::RoundRobin] {
            assert_eq!(map.pe(17u64, None, 5), hashed);
            assert_eq!(map.pe(17u64, Some(&row(17)), 5), hashed);
        }
    }

    proptest! {
        #[test]
        fn ordinals_are_those_of_pe(len in 0..200u64, pes in 1..20u32) {
            for map in [Map::Block, Map::RoundRobin] {
                for (pe, dealt) in (0..).zip(dealt(&map, len, pes)) {
                    prop_assert_eq!(map.ordinals(pe, &row(len), pes).unwrap().collect::<Vec<_>>(), dealt);
                }
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = talisman_pup::from_bytes::<Map>(&bytes);
        }
    }
}
