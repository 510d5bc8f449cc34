//! Where envelopes come from: a free list of the PE's own, filled in blocks, levelled out between PEs.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, Mutex};

use super::envelope::Envelope;
use crate::witness::{self, Seen};

/// Envelopes allocated at once. An aligned allocation each would cost several times a message.
const BLOCK: usize = 64;
/// A PE that has this many free ones beyond those it allocated gives [`BLOCK`] of them to the others.
const SPILL: u32 = 4 * BLOCK as u32;

/// One PE's free envelopes. Messages to other PEs take their envelope along; what gathers where more arrive than
/// leave goes to the [`Depot`], so memory does not grow with the number of messages.
pub struct Pool {
    free: Cell<*mut Envelope>,
    count: Cell<u32>,
    /// As many free ones make it give some away.
    limit: Cell<u32>,
    depot: Arc<Depot>,
    /// The blocks this PE allocated: freed with the depot, when no PE is left.
    blocks: RefCell<Vec<Block>>,
}

impl Pool {
    pub fn new(depot: Arc<Depot>) -> Self {
        Pool {
            free: Cell::new(null_mut()),
            count: Cell::new(0),
            limit: Cell::new(SPILL),
            depot,
            blocks: RefCell::default(),
        }
    }

    /// A free envelope: empty, and linked to nothing.
    #[inline(always)]
    pub fn take(&self) -> NonNull<Envelope> {
        match NonNull::new(self.free.get()) {
            Some(envelope) => {
                // SAFETY: what is in the free list is a live envelope that nobody uses.
                self.free.set(unsafe { envelope.as_ref().link() });
                self.count.set(self.count.get() - 1);
                envelope
            }
            None => self.refill(),
        }
    }

    /// Gives an empty envelope back.
    #[inline(always)]
    pub fn put(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the caller owns the envelope and gives it up.
        unsafe { envelope.as_mut() }.set_link(self.free.get());
        self.free.set(envelope.as_ptr());
        self.count.set(self.count.get() + 1);
        if self.count.get() >= self.limit.get() {
            self.spill();
        }
    }

    #[cold]
    fn refill(&self) -> NonNull<Envelope> {
        let chain = self.depot.take().unwrap_or_else(|| {
            let block = Block::allocate();
            let chain = block.chain();
            self.blocks.borrow_mut().push(block);
            self.limit.set(self.limit.get().saturating_add(BLOCK as u32));
            chain
        });
        self.free.set(chain.0);
        self.count.set(BLOCK as u32);
        self.take()
    }

    #[cold]
    fn spill(&self) {
        let first = self.free.get();
        let mut last = first;
        for _ in 1..BLOCK {
            // SAFETY: the free list has at least `SPILL` live envelopes.
            last = unsafe { (*last).link() };
        }
        // SAFETY: as above.
        let rest = unsafe { (*last).link() };
        // SAFETY: as above.
        unsafe { (*last).set_link(null_mut()) };
        self.free.set(rest);
        self.count.set(self.count.get() - BLOCK as u32);
        self.depot.put(Chain(first));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.depot.retire(self.blocks.take(), self.count.get() as usize);
    }
}

/// [`BLOCK`] free envelopes, linked.
struct Chain(*mut Envelope);

// SAFETY: the envelopes of a chain are empty and belong to whoever has the chain.
unsafe impl Send for Chain {}

/// Free envelopes that some PE had too many of.
#[derive(Default)]
pub struct Depot(Mutex<Stock>);

#[derive(Default)]
struct Stock {
    chains: Vec<Chain>,
    /// Blocks of PEs that are gone; their envelopes may still be with others.
    retired: Vec<Block>,
    /// Free envelopes that those had.
    free: usize,
}

impl Depot {
    fn take(&self) -> Option<Chain> {
        self.lock().chains.pop()
    }

    fn put(&self, chain: Chain) {
        self.lock().chains.push(chain);
    }

    fn retire(&self, blocks: Vec<Block>, free: usize) {
        let mut stock = self.lock();
        stock.retired.extend(blocks);
        stock.free += free;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stock> {
        // Nothing in a critical section panics half way.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Depot {
    fn drop(&mut self) {
        witness::see(|| {
            let stock = self.lock();
            Seen::Envelopes {
                all: stock.retired.len() * BLOCK,
                free: stock.chains.len() * BLOCK + stock.free,
            }
        });
    }
}

/// The memory of [`BLOCK`] envelopes.
struct Block(NonNull<Envelope>);

// SAFETY: a block is only memory; who may use an envelope in it is decided by queues and free lists.
unsafe impl Send for Block {}

impl Block {
    const LAYOUT: Layout = match Layout::array::<Envelope>(BLOCK) {
        Ok(layout) => layout,
        Err(_) => panic!("a block fits into memory"),
    };

    fn allocate() -> Block {
        // SAFETY: the layout is not empty.
        let memory = unsafe { std::alloc::alloc(Self::LAYOUT) }.cast::<Envelope>();
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(Self::LAYOUT) };
        for i in 0..BLOCK {
            // SAFETY: inside the block.
            unsafe { memory.add(i).write(Envelope::empty()) };
        }
        Block(memory)
    }

    /// All its envelopes, linked.
    fn chain(&self) -> Chain {
        for i in 0..BLOCK {
            // SAFETY: inside the block, and initialised by `allocate`.
            let next = if i + 1 < BLOCK { unsafe { self.0.add(i + 1) }.as_ptr() } else { null_mut() };
            // SAFETY: as above.
            unsafe { self.0.add(i).as_mut() }.set_link(next);
        }
        Chain(self.0.as_ptr())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // Envelopes in use were emptied by their PE (`Pe::drop`); an empty one owns nothing.
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.0.as_ptr().cast(), Self::LAYOUT) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_pe_frees_another_can_use() {
        let depot = Arc::new(Depot::default());
        let (maker, consumer) = (Pool::new(depot.clone()), Pool::new(depot.clone()));
        for _ in 0..1000 {
            let taken: Vec<_> = (0..10).map(|_| maker.take()).collect();
            taken.into_iter().for_each(|envelope| consumer.put(envelope));
        }
        let blocks = maker.blocks.borrow().len();
        assert!(blocks <= 6, "10,000 messages in one direction took {blocks} blocks");
        assert!(consumer.count.get() < SPILL);
    }
}
