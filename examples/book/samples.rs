//! A reducer and a balancing strategy of the program's own. See `docs/src/howto/reducer.md` and `strategy.md`.

use talisman::lb::{Plan, Snapshot, Strategy};
use talisman::prelude::*;

// ANCHOR: merge
/// The lowest and the highest of some values.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
struct Range {
    low: f64,
    high: f64,
}

impl Merge for Range {
    const COMMUTES: bool = true; // the order of the values changes nothing, in no bit

    fn merge(&mut self, other: Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}
// ANCHOR_END: merge

// ANCHOR: reducer
/// The arithmetic mean. What is kept on the way up, the exact sum and a count, is not what goes in.
#[derive(Clone, Copy)]
struct Mean;

impl Reducer<f64> for Mean {
    type Partial = (<Sum as Reducer<f64>>::Partial, u64);
    type Output = f64;

    fn lift(value: f64, at: u128) -> Self::Partial {
        (Sum::lift(value, at), 1)
    }

    fn combine(total: &mut Self::Partial, next: Self::Partial) {
        <Sum as Reducer<f64>>::combine(&mut total.0, next.0);
        total.1 += next.1;
    }

    fn finish(total: Self::Partial) -> Result<f64, ReduceError> {
        Ok(<Sum as Reducer<f64>>::finish(total.0)? / total.1 as f64)
    }
}
// ANCHOR_END: reducer

// ANCHOR: strategy
/// Deals objects out to the PEs in turn, whatever they take.
struct Deal;

impl Strategy for Deal {
    fn name(&self) -> &str {
        "deal"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let pes = snapshot.pes.len() as u32;
        let places: Vec<u32> = (0..snapshot.objects.len() as u32).map(|object| object % pes).collect();
        Plan::to_places(snapshot, &places)
    }
}

talisman::balancer!("deal", Deal); // from here on there is `--balancer deal`
// ANCHOR_END: strategy

#[derive(Pup)]
struct Sample;

#[chare(array1d)]
impl Sample {
    #[init]
    fn new() -> Self {
        Sample
    }

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..5 {
            cx.at_sync().await;
        }
    }

    // ANCHOR: entries
    #[entry]
    fn value(&mut self, cx: &mut Cx<Self>) -> f64 {
        f64::from(cx.index()).sqrt()
    }

    #[entry]
    fn range(&mut self, cx: &mut Cx<Self>) -> Range {
        let value = self.value(cx);
        Range { low: value, high: value }
    }
    // ANCHOR_END: entries
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let samples: Array<Sample> = Sample::array(100).new();
    samples.run().await;
    // ANCHOR: use
    let range: Range = samples.range().reduce(Merged).await;
    let mean: f64 = samples.value().reduce(Mean).await;
    // ANCHOR_END: use
    writeln!(cx.output(), "from {} to {:.6}, on average {mean:.12}", range.low, range.high);
    cx.result("mean", mean);
}
