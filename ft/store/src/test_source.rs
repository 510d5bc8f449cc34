//! What tests have in place of a store: it has nothing that was used before.

use std::sync::{Arc, OnceLock};

use talisman_pup::PageSource;

use crate::pages::PagePool;
use crate::shared::SharedMemory;
use crate::slab::Slab;
use crate::slabs::SlabSource;

/// Memory that parts go into.
#[derive(Default)]
pub struct TestSource {
    memory: OnceLock<Arc<SharedMemory>>,
    pages: OnceLock<Arc<PagePool>>,
}

impl TestSource {
    pub fn share(&self) {
        let memory = SharedMemory::new().expect("the system has it");
        assert!(self.memory.set(Arc::new(memory)).is_ok(), "once");
    }

    pub fn lend_pages(&self) {
        let pool = PagePool::new(self.memory.get().cloned());
        assert!(self.pages.set(Arc::new(pool)).is_ok(), "once");
    }

    pub fn pages(&self) -> Option<Arc<dyn PageSource>> {
        self.pages.get().map(|pages| pages.clone() as Arc<dyn PageSource>)
    }
}

impl SlabSource for TestSource {
    fn spare_slab(&self, _: usize) -> Option<Arc<Slab>> {
        None
    }

    fn new_slab(&self, len: usize) -> Option<Arc<Slab>> {
        Slab::new(len, self.memory.get())
    }
}
