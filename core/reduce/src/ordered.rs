//! Values that wait to be put in the order of their contributors' indices.

use talisman_pup::{Packer, Pup, PupError, Unpacker};

/// Values with the index bits of their contributors, in any order until they are asked for.
#[derive(Clone, Debug)]
pub struct Ordered<T> {
    entries: Vec<(u128, T)>,
    /// Values of several contributors have become one.
    joined: bool,
}

impl<T> Ordered<T> {
    /// The value of the contributor `at`.
    pub fn one(value: T, at: u128) -> Self {
        Ordered { entries: vec![(at, value)], joined: false }
    }

    /// Takes in the value of another contributor.
    pub fn push(&mut self, value: T, at: u128) {
        self.entries.push((at, value));
    }

    /// Takes in the values of other contributors.
    pub fn append(&mut self, mut other: Self) {
        if other.entries.len() > self.entries.len() {
            std::mem::swap(self, &mut other);
        }
        self.entries.append(&mut other.entries);
        self.joined |= other.joined;
    }

    /// The value that came first, which may become one with those of others.
    pub fn first_mut(&mut self) -> Option<&mut T> {
        self.joined = true;
        self.entries.first_mut().map(|entry| &mut entry.1)
    }

    /// Makes one value of all, in any order; it counts as the first contributor's.
    pub fn fold_with(&mut self, join: impl Fn(&mut T, T)) {
        if self.entries.len() <= 1 {
            return;
        }
        let mut entries = std::mem::take(&mut self.entries).into_iter();
        self.entries.extend(entries.next());
        if let Some(first) = self.first_mut() {
            entries.for_each(|(_, value)| join(first, value));
        }
    }

    /// The values with their contributors' index bits, in index order.
    pub fn into_entries(mut self) -> impl Iterator<Item = (u128, T)> {
        self.entries.sort_by_key(|entry| entry.0);
        self.entries.into_iter()
    }

    /// The values in index order.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.into_entries().map(|entry| entry.1)
    }
}

/// Indices travel as differences from the smallest, all in as many bytes as the largest difference needs: a few
/// instead of sixteen.
impl<T: Pup> Pup for Ordered<T> {
    const MIN_SIZE: usize = 25;

    fn pack(&self, p: &mut Packer) {
        let indices = || self.entries.iter().map(|entry| entry.0);
        let low = indices().min().unwrap_or(0);
        let width = bytes_of(indices().max().unwrap_or(0) - low);
        p.len(self.entries.len());
        low.pack(p);
        (width as u8).pack(p);
        for (at, value) in &self.entries {
            p.bytes(&(at - low).to_le_bytes()[..width]);
            match self.joined {
                true => value.pack(p),
                false => p.given_by(*at, |p| value.pack(p)),
            }
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u.len()?;
        let low = u128::unpack(u)?;
        let width = usize::from(u8::unpack(u)?);
        if width > size_of::<u128>() {
            return Err(u.invalid(format_args!("an index of {width} bytes")));
        }
        u.check_len(len, width + T::MIN_SIZE)?;
        let mut entries = Vec::with_capacity(len);
        for i in 0..len {
            let at = low.wrapping_add(unpack_index(width, u)?);
            entries.push((at, T::unpack(u).map_err(|error| error.index(i))?));
        }
        Ok(Ordered { entries, joined: false })
    }
}

fn bytes_of(difference: u128) -> usize {
    (u128::BITS - difference.leading_zeros()).div_ceil(8) as usize
}

fn unpack_index(width: usize, u: &mut Unpacker<'_>) -> Result<u128, PupError> {
    let mut bytes = [0; size_of::<u128>()];
    bytes[..width].copy_from_slice(u.bytes(width)?);
    Ok(u128::from_le_bytes(bytes))
}
