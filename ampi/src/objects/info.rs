//! Hints (MPI-3.1, chapter 9).

use talisman_pup::Pup;

/// Keys and values, in the order in which the program has set them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

impl Info {
    /// Sets a key (`MPI_Info_set`).
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|(other, _)| other == key) {
            Some((_, former)) => *former = value.to_vec(),
            None => self.0.push((key.to_vec(), value.to_vec())),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_slice())
    }

    /// Removes a key. Returns whether it was there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        let before = self.0.len();
        self.0.retain(|(other, _)| other != key);
        self.0.len() < before
    }

    /// How many keys it has.
    pub fn keys(&self) -> usize {
        self.0.len()
    }

    /// The key at this place.
    pub fn key(&self, at: usize) -> Option<&[u8]> {
        self.0.get(at).map(|(key, _)| key.as_slice())
    }
}
