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

mod steps {
    use talisman::launch::BalancingStep;
    use talisman::launch::balancing::Every;
    use talisman::lb::{Move, Plan, Snapshot, Strategy};
    use talisman::prelude::*;
    use talisman::testing::{Test, Tested};

    const ALL: i32 = 10;
    const SYNCS: u32 = 3;

    /// Waits for its syncs in no async entry.
    #[derive(Pup)]
    struct Plain {
        syncs: u32,
    }

    #[chare(array1d)]
    impl Plain {
        #[init]
        fn new() -> Self {
            Plain { syncs: 0 }
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            if self.syncs < SYNCS {
                self.syncs += 1;
                cx.at_sync_then(Self::go);
            }
        }

        #[entry]
        fn syncs(&self) -> u64 {
            self.syncs.into()
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let plain: Array<Plain> = Plain::array(ALL).new();
        plain.go();
        cx.quiescence().await;
        let syncs: u64 = plain.syncs().reduce(Sum).await;
        writeln!(cx.output(), "{syncs}");
    }

    fn run(test: &Test, balancer: &str) -> Tested {
        let tested = test.clone().balancing(balancer, Every::Sync).run::<__Main>(());
        crate::common::assert_ended_well(balancer, &tested);
        assert_eq!(tested.output, [(u64::from(SYNCS) * ALL as u64).to_string()], "{balancer}");
        tested
    }

    #[test]
    fn are_told_of_in_the_report() {
        for (name, test) in crate::common::manners() {
            let tested = run(&test, "rotate");
            let steps = &tested.balancing;
            let numbers: Vec<_> = steps.iter().map(|step| step.number).collect();
            assert_eq!(numbers, [1, 2, 3], "{name}");
            let last = steps.last().unwrap();
            assert!(steps.iter().all(|step| step.max_after.is_some() == (step != last)), "{name}");
            let moved = if tested.pe.len() > 1 { ALL as u64 } else { 0 };
            for step in steps {
                let BalancingStep { objects, pes, moves, out_of_date, .. } = *step;
                let expected = (ALL as u64, tested.pe.len() as u32, moved, 0);
                assert_eq!((objects, pes, moves, out_of_date), expected, "{name}");
                assert_eq!((step.trigger.as_str(), step.strategy.as_str()), ("sync", "rotate"), "{name}");
                assert_eq!((step.refused.clone(), step.bytes_moved > 0), (None, moved > 0), "{name}");
            }
        }
    }

    /// A strategy that is a function.
    struct By(&'static str, fn(&Snapshot) -> Plan);

    impl Strategy for By {
        fn name(&self) -> &str {
            self.0
        }

        fn plan(&mut self, snapshot: &Snapshot) -> Plan {
            (self.1)(snapshot)
        }
    }

    fn all_to_the_last(snapshot: &Snapshot) -> Plan {
        Plan::to_places(snapshot, &vec![snapshot.pes.len() as u32 - 1; snapshot.objects.len()])
    }

    fn plan(moves: &[(u32, u32)]) -> Plan {
        Plan { moves: moves.iter().map(|&(object, to)| Move { object, to }).collect() }
    }

    talisman::balancer!("test-last", By("test-last", all_to_the_last));
    talisman::balancer!("test-panics", By("test-panics", |_| panic!("no idea")));
    talisman::balancer!("test-object", By("test-object", |_| plan(&[(0, 0), (99, 0)])));
    talisman::balancer!("test-pe", By("test-pe", |_| plan(&[(3, 99)])));
    talisman::balancer!("test-twice", By("test-twice", |_| plan(&[(1, 0), (2, 0), (1, 1)])));

    #[test]
    fn are_made_by_a_strategy_of_the_programs_own() {
        let tested = run(&Test::new().pes(3).simulated(2, 1), "test-last");
        let moves: Vec<_> = tested.balancing.iter().map(|step| step.moves).collect();
        assert_eq!(moves[1..], [0, 0]);
        assert!(moves[0] > 0 && moves[0] < ALL as u64, "{moves:?}");
    }

    #[test]
    fn are_refused_if_they_make_no_sense_and_the_program_goes_on() {
        for (balancer, parts) in [
            ("test-panics", ["test-panics", "no idea"]),
            ("test-object", ["test-object", "entry 1 "]),
            ("test-pe", ["test-pe", "entry 0 "]),
            ("test-twice", ["test-twice", "entry 2 "]),
        ] {
            for test in [Test::new().pes(2), Test::new().pes(2).simulated(2, 3)] {
                let tested = run(&test, balancer);
                assert_eq!(tested.balancing.len(), SYNCS as usize);
                for step in &tested.balancing {
                    let why = step.refused.as_deref().unwrap_or_default();
                    assert!(parts.iter().all(|part| why.contains(part)), "{balancer}: {why}");
                    assert_eq!(step.moves, 0, "{balancer}");
                }
            }
        }
    }

    #[test]
    fn are_known_by_name_or_those_that_there_are_are_told() {
        let tested = Test::new().with_options(|options| {
            options.balancer = "gready".into();
            let told = options.validate().unwrap_err().to_string();
            assert!(["gready", "greedy", "test-last"].iter().all(|part| told.contains(part)), "{told}");
            options.balancer = "off".into();
        });
        assert!(run(&tested, "off").balancing.is_empty());
    }
}

mod triggers {
    use std::time::Duration;

    use talisman::launch::balancing::Every;
    use talisman::prelude::*;
    use talisman::simulation::charge;
    use talisman::testing::Test;

    const ALL: i32 = 16;
    const ITERATIONS: u32 = 30;

    #[derive(Pup)]
    struct Uneven {
        at: u32,
    }

    #[chare(array1d)]
    impl Uneven {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            Uneven { at: cx.pe() }
        }

        /// The first half has much to do.
        fn compute(&mut self, cx: &mut Cx<Self>) {
            charge(Duration::from_micros(if cx.index() < ALL / 2 { 1_000 } else { 50 }));
        }

        #[entry]
        async fn iterate(&mut self, cx: &mut Cx<Self>) -> u64 {
            for _ in 0..ITERATIONS {
                self.compute(cx);
                cx.at_sync().await;
            }
            1
        }

        #[entry]
        async fn work(&mut self, cx: &mut Cx<Self>) -> u64 {
            for _ in 0..5 * ITERATIONS {
                self.compute(cx);
                cx.sleep(Duration::from_micros(10)).await;
            }
            1
        }

        #[entry]
        fn moved(&mut self, cx: &mut Cx<Self>) -> u64 {
            u64::from(cx.pe() != self.at)
        }

        #[entry]
        fn given();

        #[entry]
        async fn wait(&mut self, cx: &mut Cx<Self>) -> u64 {
            cx.when(Self::given).await;
            1
        }
    }

    mod sync {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let uneven: Array<Uneven> = Uneven::array(ALL).map(Map::Block).new();
            let _: u64 = uneven.iterate().reduce(Sum).await;
            cx.quiescence().await;
        }

        #[test]
        fn a_step_that_is_worth_it_comes_of_itself_and_no_other() {
            for seed in 0..5 {
                let test = Test::new().pes(2).simulated(2, seed).balancing("greedy", Every::Auto);
                let tested = test.run::<__Main>(());
                crate::common::assert_ended_well("auto", &tested);
                let steps = &tested.balancing;
                assert!((1..=4).contains(&steps.len()), "{} steps", steps.len());
                assert_eq!(steps[0].trigger, "auto");
                assert!(steps[0].max_before > 1.5 * steps[0].average_before, "{:?}", steps[0]);
                assert!(steps[0].max_predicted < 1.2 * steps[0].average_before, "{:?}", steps[0]);
            }
        }
    }

    mod period {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let uneven: Array<Uneven> = Uneven::array(ALL).map(Map::Block).new();
            let _: u64 = uneven.work().reduce(Sum).await;
            cx.quiescence().await;
        }

        #[test]
        fn steps_come_by_time_and_do_not_keep_a_job_from_rest() {
            for (name, test) in crate::common::manners() {
                let period = Every::Time(Duration::from_millis(1));
                let tested = test.balancing("greedy", period).run::<__Main>(());
                crate::common::assert_ended_well(&name, &tested);
                if tested.trace.is_some() {
                    assert!(tested.balancing.len() > 1, "{name}: {} steps", tested.balancing.len());
                    assert!(tested.balancing.iter().all(|step| step.trigger == "period"), "{name}");
                }
            }
        }
    }

    mod stuck {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let uneven: Array<Uneven> = Uneven::array(ALL).new();
            let _: u64 = uneven.at(0).wait().await;
        }

        #[test]
        fn a_job_that_is_stuck_says_so_in_spite_of_periods() {
            for every in [Every::Time(Duration::from_millis(1)), Every::Auto] {
                for (name, test) in crate::common::manners() {
                    let tested = test.balancing("rotate", every).run::<__Main>(());
                    let message = tested.message.clone().unwrap_or_default();
                    assert!(tested.status == 1 && message.contains("nothing is left"), "{name}: {message}");
                }
            }
        }
    }

    mod request {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let uneven: Array<Uneven> = Uneven::array(ALL).new();
            for _ in 0..3 {
                cx.balance();
            }
            cx.quiescence().await;
            let moved: u64 = uneven.moved().reduce(Sum).await;
            cx.result("moved", moved);
        }

        #[test]
        fn a_step_that_is_asked_for_comes_whatever_else_brings_them() {
            for (name, test) in crate::common::manners() {
                for every in [Every::Sync, Every::Time(Duration::from_secs(1000))] {
                    let tested = test.clone().balancing("rotate", every).run::<__Main>(());
                    crate::common::assert_ended_well(&name, &tested);
                    let steps = &tested.balancing;
                    assert!((1..=3).contains(&steps.len()), "{name}: {} steps", steps.len());
                    assert!(steps.iter().all(|step| step.trigger == "request"), "{name}");
                }
            }
        }
    }
}
