//! A chare that sends large messages one way, one after the other.

use talisman::prelude::*;

use crate::common::nanos;

/// On the first node it sends, on the second it takes.
#[derive(Pup)]
pub struct Streamer {
    stock: Vec<Vec<f64>>,
}

#[chare(group)]
impl Streamer {
    #[init]
    pub fn new() -> Self {
        Streamer { stock: Vec::new() }
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, data: Vec<f64>, left: usize) {
        drop(data);
        if left == 0 {
            cx.group().on(0).finished();
        }
    }

    /// One message an entry, so that the runtime can send meanwhile.
    #[entry]
    fn pour(&mut self, cx: &mut Cx<Self>) {
        if let Some(data) = self.stock.pop() {
            cx.group().on(1).take(data, self.stock.len());
            cx.group().on(0).pour();
        }
    }

    #[entry]
    fn finished();

    /// Nanoseconds per message. The data is made before.
    #[entry]
    pub async fn stream(&mut self, cx: &mut Cx<Self>, bytes: usize, messages: u64) -> f64 {
        self.stock = (0..messages).map(|number| vec![number as f64; bytes / 8]).collect();
        let start: u64 = nanos();
        cx.group().on(0).pour();
        cx.when(Self::finished).await;
        (nanos() - start) as f64 / messages as f64
    }
}
