//! Load balancing: what objects and PEs see of it, in every manner of running.

mod at_sync {
    use talisman::launch::balancing::Every;
    use talisman::prelude::*;

    const ALL: i32 = 24;
    const ITERATIONS: u32 = 6;

    #[derive(Pup)]
    struct Block {
        sum: u64,
        at: Vec<u32>,
    }

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block { sum: 0, at: Vec::new() }
        }

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
            for iteration in 0..ITERATIONS {
                let right = (cx.index() + 1) % ALL;
                cx.array().at(right).take(iteration);
                cx.at_sync().await;
                self.at.push(cx.pe());
            }
            self.sum
        }

        #[entry]
        fn take(&mut self, iteration: u32) {
            self.sum += u64::from(iteration) + 1;
        }

        #[entry]
        fn sum(&self) -> u64 {
            self.sum
        }

        #[entry]
        fn moved(&self) -> u64 {
            self.at.windows(2).filter(|two| two[0] != two[1]).count() as u64
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let blocks: Array<Block> = Block::array(ALL).new();
        let _: u64 = blocks.run().reduce(Sum).await;
        cx.quiescence().await;
        let moved: u64 = blocks.moved().reduce(Sum).await;
        let sum: u64 = blocks.sum().reduce(Sum).await;
        writeln!(cx.output(), "{sum}");
        cx.result("moved", moved);
    }

    #[test]
    fn elements_go_on_together_wherever_they_are() {
        let sum = u64::from(ITERATIONS * (ITERATIONS + 1) / 2) * ALL as u64;
        for balancer in ["off", "rotate", "random", "greedy"] {
            for (name, test) in crate::common::manners() {
                let tested = test.balancing(balancer, Every::Sync).run::<__Main>(());
                let name = format!("{name}, {balancer}");
                crate::common::assert_ended_well(&name, &tested);
                assert_eq!(tested.output, [sum.to_string()], "{name}");
                let moved = tested.results.value("moved").cloned();
                let all = u64::from(ITERATIONS - 1) * ALL as u64;
                match balancer {
                    "off" => assert_eq!(moved, Some(0u64.into()), "{name}"),
                    "rotate" if tested.pe.len() > 1 => assert_eq!(moved, Some(all.into()), "{name}"),
                    _ => {}
                }
            }
        }
    }
}
