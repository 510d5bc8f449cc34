//! Moving objects between PEs.

use talisman::prelude::*;

use crate::common::{Budget, CHARM, alone, nanos, ns_each, on_pes, row, sample, table};

const SMALL: &str = "migrate a chare of 24 bytes and one message, ns";
const LARGE: &str = "migrate a chare of 16 MiB and one message, ns | memcpy of it";

const LARGE_BYTES: usize = 16 << 20;

pub fn measure() {
    on_pes::<__Main>(2, ());
    let rows = [row(SMALL, Budget::Open).beside(CHARM, 16_000.0), row(LARGE, Budget::Times(1.0))];
    table("Migration between two PEs", "ns", &rows);
}

/// The limit for a large one, if its state had to be copied.
fn copy(bytes: &[u8]) -> f64 {
    ns_each(1, || {
        std::hint::black_box(bytes.to_vec());
    })
}

#[derive(Pup)]
struct Wanderer {
    state: Vec<u8>,
}

#[chare(array1d)]
impl Wanderer {
    #[init]
    fn new() -> Self {
        Wanderer { state: Vec::new() }
    }

    #[entry]
    fn grow(&mut self, bytes: usize) -> u64 {
        self.state = vec![1; bytes];
        self.state.len() as u64
    }

    /// Goes to the other PE, where its own message follows it.
    #[entry]
    fn hop(&mut self, cx: &mut Cx<Self>, left: u32) {
        if left == 0 {
            return cx.array().at(cx.index()).arrived();
        }
        cx.migrate_to(1 - cx.pe());
        cx.array().at(cx.index()).hop(left - 1);
    }

    #[entry]
    fn arrived();

    #[entry]
    async fn wander(&mut self, cx: &mut Cx<Self>, hops: u32) -> f64 {
        let start: u64 = nanos();
        cx.array().at(cx.index()).hop(hops);
        cx.when(Self::arrived).await;
        (nanos() - start) as f64 / hops as f64
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let wanderers: Array<Wanderer> = Wanderer::array(2).new();
    let _grown: u64 = wanderers.at(1).grow(LARGE_BYTES).await;
    let memory: Vec<u8> = vec![1; LARGE_BYTES];
    for _ in 0..31 {
        let small: f64 = wanderers.at(0).wander(200).await;
        alone(SMALL, small);
        let large: f64 = wanderers.at(1).wander(20).await;
        sample(LARGE, large, copy(&memory));
    }
    cx.exit();
}
