//! Where the values of a datatype lie: a tree whose size is that of its description, not of the data.

use talisman_pup::Pup;

use super::Basic;

/// The type map (MPI-3.1, 4.1). Displacements are in bytes from the address that a call is given.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Map {
    /// So many values, one after the other.
    Run(Basic, u64),
    /// The inner map, so many times, each so many bytes after the one before.
    Repeat(u64, i64, Box<Map>),
    /// Several, each at its displacement.
    At(Vec<(i64, Map)>),
}

impl Map {
    /// The inner map `count` times with this stride; one run if that leaves no gap.
    pub fn repeat(self, count: u64, stride: i64) -> Map {
        match self {
            Map::Run(basic, n) if i64::try_from(n * basic.size()) == Ok(stride) => {
                Map::Run(basic, n.saturating_mul(count))
            }
            inner if count == 1 => inner,
            inner => Map::Repeat(count, stride, Box::new(inner)),
        }
    }

    /// Several at their displacements; runs of a kind that follow each other become one.
    pub fn at(parts: Vec<(i64, Map)>) -> Map {
        let mut merged: Vec<(i64, Map)> = Vec::with_capacity(parts.len());
        for (at, map) in parts {
            match (merged.last_mut(), &map) {
                (Some((before, Map::Run(basic, n))), Map::Run(other, more))
                    if basic == other && *before + (*n * basic.size()) as i64 == at =>
                {
                    *n += more;
                }
                _ => merged.push((at, map)),
            }
        }
        match merged.as_slice() {
            [(0, _)] => merged.remove(0).1,
            _ => Map::At(merged),
        }
    }

    /// Calls back with the displacement, kind and number of each run of values, in the order of the type map.
    pub fn each_run(&self, at: i64, call: &mut impl FnMut(i64, Basic, u64)) {
        match self {
            Map::Run(basic, n) => call(at, *basic, *n),
            Map::Repeat(count, stride, inner) => {
                for step in 0..*count as i64 {
                    inner.each_run(at + step * stride, call);
                }
            }
            Map::At(parts) => parts.iter().for_each(|(offset, map)| map.each_run(at + offset, call)),
        }
    }

    /// Bytes of all values.
    #[inline(always)]
    pub fn size(&self) -> u64 {
        match self {
            Map::Run(basic, n) => n.saturating_mul(basic.size()),
            parts => parts.size_of_parts(),
        }
    }

    fn size_of_parts(&self) -> u64 {
        match self {
            Map::Run(..) => self.size(),
            Map::Repeat(count, _, inner) => count.saturating_mul(inner.size()),
            Map::At(parts) => parts.iter().fold(0, |sum, (_, map)| sum.saturating_add(map.size())),
        }
    }

    /// The first byte of any value and the one after the last; `None` if there is no value.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        match self {
            Map::Run(_, 0) | Map::Repeat(0, ..) => None,
            Map::Run(..) => Some((0, self.size() as i64)),
            Map::Repeat(count, stride, inner) => {
                let (low, high) = inner.bounds()?;
                let last = stride.saturating_mul(*count as i64 - 1);
                Some((low.saturating_add(last.min(0)), high.saturating_add(last.max(0))))
            }
            Map::At(parts) => {
                let bounds = parts.iter().filter_map(|(at, map)| {
                    let (low, high) = map.bounds()?;
                    Some((at.saturating_add(low), at.saturating_add(high)))
                });
                bounds.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)))
            }
        }
    }

    /// The alignment that a compiler of C would give a structure of these values.
    pub fn align(&self) -> u64 {
        match self {
            Map::Run(basic, _) => basic.align(),
            Map::Repeat(_, _, inner) => inner.align(),
            Map::At(parts) => parts.iter().map(|(_, map)| map.align()).max().unwrap_or(1),
        }
    }

    /// The kind of all values, if they are of one.
    pub fn basic(&self) -> Option<Basic> {
        match self {
            Map::Run(basic, _) => Some(*basic),
            Map::Repeat(_, _, inner) => inner.basic(),
            Map::At(parts) => {
                let first = parts.first()?.1.basic()?;
                parts.iter().all(|(_, map)| map.basic() == Some(first)).then_some(first)
            }
        }
    }
}
