//! Reaching many: broadcasts, reductions, and messages from many to one.

use std::hint::black_box;

use talisman::prelude::*;

use crate::common::{Budget, CHARM, alone, bare, nanos, ns_each, on_pes, row, sample, table};

const BROADCAST: &str = "broadcast and reduction, 100,000 elements, per element | loop";
const EXACT: &str = "… with an exact f64 sum | loop";
const FAN_IN: &str = "1,000,000 messages to one chare, per message | bare message";
const GROUP: &str = "broadcast and reduction over 2 PEs, ns";

const ELEMENTS: u32 = 100_000;
const EACH: u32 = 10;

pub fn measure() {
    many::measure();
    few::measure();
    table(
        "Reaching many",
        "ns",
        &[
            row(BROADCAST, Budget::Open),
            row(EXACT, Budget::Open),
            row(FAN_IN, Budget::Open),
            row(GROUP, Budget::Open).beside(CHARM, 3100.0),
        ],
    );
}

/// The limit of a broadcast: a call through a pointer for each of as many boxes.
fn loop_over(boxes: &[Box<u64>]) -> f64 {
    let touch: fn(&u64) -> u64 = black_box(|number| number + 1);
    ns_each(boxes.len() as u64, || {
        black_box(boxes.iter().map(|number| touch(number)).sum::<u64>());
    })
}

mod many {
    use super::*;

    const ROUNDS: usize = 15;

    pub fn measure() {
        on_pes::<__Main>(1, ());
    }

    #[derive(Pup)]
    struct Element {
        seen: u64,
        sink: Group<Sink>,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(sink: Group<Sink>) -> Self {
            Element { seen: 0, sink }
        }

        #[entry]
        fn one(&mut self) -> u64 {
            self.seen += 1;
            1
        }

        #[entry]
        fn tenth(&mut self) -> f64 {
            0.1
        }

        #[entry]
        fn send(&mut self, each: u32) {
            (0..each).for_each(|number| self.sink.on(0).take(number as u64));
        }
    }

    #[derive(Pup)]
    struct Sink {
        left: u32,
    }

    #[chare(group)]
    impl Sink {
        #[init]
        fn new() -> Self {
            Sink { left: 0 }
        }

        #[entry]
        fn take(&mut self, cx: &mut Cx<Self>, number: u64) {
            black_box(number);
            self.left -= 1;
            if self.left == 0 {
                cx.group().on(0).all();
            }
        }

        #[entry]
        fn all();

        #[entry]
        async fn wait(&mut self, cx: &mut Cx<Self>, from: Array<Element>) -> f64 {
            self.left = ELEMENTS * EACH;
            let start: u64 = nanos();
            from.send(EACH);
            cx.when(Self::all).await;
            (nanos() - start) as f64 / (ELEMENTS * EACH) as f64
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let sink: Group<Sink> = Sink::group().new();
        let elements: Array<Element> = Element::array(ELEMENTS as i32).new(sink);
        let _made: u64 = elements.one().reduce(Sum).await;
        for _ in 0..ROUNDS {
            let start: u64 = nanos();
            let all: u64 = elements.one().reduce(Sum).await;
            let ns: f64 = (nanos() - start) as f64 / ELEMENTS as f64;
            assert_eq!(all, ELEMENTS as u64);
            let start: u64 = nanos();
            let _sum: f64 = elements.tenth().reduce(Sum).await;
            let exact: f64 = (nanos() - start) as f64 / ELEMENTS as f64;
            let boxes: Vec<Box<u64>> = (0..ELEMENTS as u64).map(Box::new).collect();
            let limit = loop_over(&boxes);
            sample(BROADCAST, ns, limit);
            sample(EXACT, exact, limit);
            drop(boxes);
            let fan_in: f64 = sink.on(0).wait(elements).await;
            sample(FAN_IN, fan_in, bare::sequence(100_000, 1000));
        }
        cx.exit();
    }
}

mod few {
    use super::*;

    const ROUNDS: usize = 51;
    const TIMES: u32 = 100;

    pub fn measure() {
        on_pes::<__Main>(2, ());
    }

    #[derive(Pup)]
    struct Member {}

    #[chare(group)]
    impl Member {
        #[init]
        fn new() -> Self {
            Member {}
        }

        #[entry]
        fn one(&mut self) -> u64 {
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let members: Group<Member> = Member::group().new();
        for _ in 0..ROUNDS {
            let start: u64 = nanos();
            for _ in 0..TIMES {
                let _all: u64 = members.one().reduce(Sum).await;
            }
            let ns: f64 = (nanos() - start) as f64 / TIMES as f64;
            alone(GROUP, ns);
        }
        cx.exit();
    }
}
