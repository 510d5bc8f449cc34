//! Memory that a checkpoint is taken of.

use talisman::prelude::*;

use crate::raw::clock::nanos;

/// Each PE's (bytes).
pub const BYTES: usize = 16 << 20;

/// One on each PE.
#[derive(Pup)]
pub struct Weight {
    numbers: Vec<f64>,
}

#[chare(group)]
impl Weight {
    #[init]
    pub fn new() -> Self {
        Weight { numbers: vec![1.0; BYTES / size_of::<f64>()] }
    }

    #[entry]
    pub fn nothing(&mut self) {
        // Nothing that was kept before is as it was.
        self.numbers.iter_mut().for_each(|number| *number += 1.0);
    }

    #[entry]
    fn kept();

    /// Nanoseconds until a checkpoint is kept.
    #[entry]
    pub async fn checkpoint(&mut self, cx: &mut Cx<Self>) -> f64 {
        let start: u64 = nanos();
        cx.checkpoint(cx.callback(Self::kept));
        cx.when(Self::kept).await;
        (nanos() - start) as f64
    }
}
