//! A simulated disk that several have in hand: the process that uses it, and the world that does something to it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Disk, DiskError, SimulatedDisk};

/// A disk that several hold in turn.
#[derive(Clone, Debug)]
pub struct SharedDisk(Arc<Mutex<SimulatedDisk>>);

impl SharedDisk {
    pub fn new(disk: SimulatedDisk) -> Self {
        SharedDisk(Arc::new(Mutex::new(disk)))
    }

    /// Whether it is this one.
    pub fn is(&self, other: &SharedDisk) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Does something to it, or with it.
    pub fn with<R>(&self, act: impl FnOnce(&mut SimulatedDisk) -> R) -> R {
        // Nobody panics half way through an operation.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Disk for SharedDisk {
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        self.with(|disk| disk.write(name, parts))
    }

    fn sync(&mut self, name: &str) -> Result<(), DiskError> {
        self.with(|disk| disk.sync(name))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.with(|disk| disk.rename(from, to))
    }

    fn sync_names(&mut self) -> Result<(), DiskError> {
        self.with(Disk::sync_names)
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        self.with(|disk| disk.read(name))
    }

    fn list(&mut self) -> Result<Vec<String>, DiskError> {
        self.with(Disk::list)
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        self.with(|disk| disk.remove(name))
    }
}
