//! What goes between two PEs, as entries.

use talisman::prelude::*;

use crate::raw::clock::nanos;

/// What is thrown to and fro, and how often (bytes).
pub const SMALL: usize = size_of::<u64>();
pub const TRIPS: u64 = 300;
/// What is sent one after the other, and how many (bytes).
pub const LARGE: usize = 1 << 20;
pub const BLOCKS: u64 = 32;

/// One on each PE.
#[derive(Pup)]
pub struct Pair {
    other: u32,
    stock: Vec<Vec<f64>>,
}

#[chare(group)]
impl Pair {
    #[init]
    pub fn new() -> Self {
        Pair { other: 0, stock: Vec::new() }
    }

    #[entry]
    pub fn nothing(&mut self) {}

    /// Nanoseconds one way of a small message to and fro, and of a large one in a stream, to another PE.
    #[entry]
    pub async fn measure(&mut self, cx: &mut Cx<Self>, other: u32) -> (f64, f64) {
        self.other = other;
        let _met: bool = cx.group().on(other).meet(cx.pe()).await;
        let start: u64 = nanos();
        cx.group().on(other).ball(2 * TRIPS - 1);
        cx.when(Self::finished).await;
        let to_and_fro: f64 = (nanos() - start) as f64 / (2 * TRIPS) as f64;
        // Made before the clock runs.
        self.stock = (0..BLOCKS).map(|number| vec![number as f64; LARGE / size_of::<f64>()]).collect();
        let start: u64 = nanos();
        cx.group().on(cx.pe()).pour();
        cx.when(Self::finished).await;
        (to_and_fro, (nanos() - start) as f64 / BLOCKS as f64)
    }

    #[entry]
    fn meet(&mut self, other: u32) -> bool {
        self.other = other;
        true
    }

    #[entry]
    fn finished();

    #[entry]
    fn ball(&mut self, cx: &mut Cx<Self>, left: u64) {
        match left {
            0 => cx.group().on(cx.pe()).finished(),
            _ => cx.group().on(self.other).ball(left - 1),
        }
    }

    /// One message an entry, so that the runtime can send meanwhile.
    #[entry]
    fn pour(&mut self, cx: &mut Cx<Self>) {
        if let Some(block) = self.stock.pop() {
            cx.group().on(self.other).take(block, self.stock.len());
            cx.group().on(cx.pe()).pour();
        }
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, block: Vec<f64>, left: usize) {
        drop(block);
        if left == 0 {
            cx.group().on(self.other).finished();
        }
    }
}
