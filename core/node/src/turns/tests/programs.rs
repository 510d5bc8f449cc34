//! What runs in the worlds of the tests.

/// Elements that talk to each other, with messages of all sizes, and wander meanwhile.
pub(super) mod talk {
    use crate::turns::tests::world::{Nature, Seen, run as run_program};
    use talisman_core::prelude::*;

    const CELLS: u64 = 11;
    const ROUNDS: u64 = 5;

    #[derive(Pup)]
    struct Member {
        heard: u64,
        calls: u64,
    }

    #[chare(array1d, name = "turns::Member")]
    impl Member {
        #[init]
        fn new() -> Self {
            Member { heard: 0, calls: 0 }
        }

        #[entry]
        fn say(&mut self, cx: &mut Cx<Self>, round: u64) {
            for to in 0..3 {
                let len = if to == 0 { 1500 } else { 10 * to };
                let value = cx.index() as u64 + round;
                cx.array().at((cx.index() + 4 * to + 1) % CELLS as i32).hear(vec![value; len as usize]);
            }
            let place = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(place);
            if round + 1 < ROUNDS {
                cx.me().say(round + 1);
            }
        }

        #[entry]
        fn hear(&mut self, values: Vec<u64>) {
            assert!(values.iter().all(|value| *value == values[0]), "bytes are mixed up");
            self.heard += values[0] * values.len() as u64;
            self.calls += 1;
        }

        #[entry]
        fn heard(&mut self) -> u64 {
            self.heard
        }

        #[entry]
        fn calls(&mut self) -> u64 {
            self.calls
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let members: Array<Member> = Member::array(CELLS as i32).new();
        members.say(0);
        cx.quiescence().await;
        let heard: u64 = members.heard().reduce(Sum).await;
        let calls: u64 = members.calls().reduce(Sum).await;
        writeln!(cx.output(), "{calls} calls, {heard}");
    }

    /// What it prints.
    pub(in super::super) fn result() -> String {
        let said = (0..CELLS).flat_map(|cell| (0..ROUNDS).map(move |round| cell + round));
        format!("{} calls, {}", CELLS * ROUNDS * 3, said.sum::<u64>() * (1500 + 10 + 20))
    }

    pub(in super::super) fn run(nature: Nature) -> Seen {
        run_program::<__Main>(nature)
    }
}

/// Elements that each send another one, within an entry, more than links take.
pub(super) mod flood {
    use crate::turns::tests::world::{Nature, Seen, run as run_program};
    use talisman_core::prelude::*;

    const MESSAGES: u64 = 40;

    #[derive(Pup)]
    struct Pump {
        next: u64,
    }

    #[chare(group, name = "turns::Pump")]
    impl Pump {
        #[init]
        fn new() -> Self {
            Pump { next: 0 }
        }

        #[entry]
        fn pump(&mut self, cx: &mut Cx<Self>) {
            let to = (cx.pe() + cx.pes() / 2) % cx.pes();
            for number in 0..MESSAGES {
                cx.group().on(to).take(number, vec![number; if number % 8 == 0 { 4000 } else { 100 }]);
            }
            writeln!(cx.output(), "pumped");
        }

        #[entry]
        fn take(&mut self, number: u64, values: Vec<u64>) {
            assert_eq!((number, self.next), (self.next, values[0]), "in order");
            self.next += 1;
        }

        #[entry]
        fn taken(&mut self) -> u64 {
            self.next
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let pumps: Group<Pump> = Pump::group().new();
        pumps.pump();
        cx.quiescence().await;
        let taken: u64 = pumps.taken().reduce(Sum).await;
        writeln!(cx.output(), "{taken} of {}", MESSAGES * u64::from(cx.pes()));
    }

    pub(in super::super) fn run(nature: Nature) -> Seen {
        run_program::<__Main>(nature)
    }
}

/// A main chare that waits for what never comes, after a pause.
pub(super) mod stuck {
    use std::time::Duration;

    use crate::turns::tests::world::{Nature, Seen, run as run_program};
    use talisman_core::prelude::*;

    #[derive(Pup)]
    struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            cx.me().run();
            Main
        }

        #[entry]
        fn never();

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            cx.sleep(Duration::from_millis(20)).await;
            cx.when(Self::never).await;
        }
    }

    pub(in super::super) fn run(nature: Nature) -> Seen {
        run_program::<Main>(nature)
    }
}
