//! Migration at any moment: no message lost, none doubled, none out of order where order is promised.

mod counters {
    use talisman::prelude::*;

    const ALL: i32 = 12;
    const SENT: u64 = 30;

    #[derive(Pup)]
    struct Mover {
        sent: u64,
        heard: Vec<u64>,
        bytes: u64,
        mapped: u32,
    }

    #[chare(array1d)]
    impl Mover {
        #[init]
        fn new() -> Self {
            Mover { sent: 0, heard: vec![0; ALL as usize], bytes: 0, mapped: 0 }
        }

        #[restored]
        fn restored(&mut self, _cx: &mut Cx<Self>, why: Restored) {
            assert!(matches!(
                why,
                Restored::AfterMigration | Restored::FromCheckpoint | Restored::AfterFailure
            ));
        }

        #[entry]
        fn run(&mut self, cx: &mut Cx<Self>) {
            if self.sent == SENT {
                return;
            }
            self.sent += 1;
            for _ in 0..2 {
                let to = cx.rng().below(ALL as u64) as i32;
                cx.array().at(to).hear(cx.index(), 1, vec![1; to as usize * 30]);
            }
            if cx.rng().below(3) > 0 {
                let pe = cx.rng().below(cx.pes().into()) as u32;
                cx.migrate_to(pe);
            }
            cx.me().run();
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, from: i32, n: u64, bytes: Vec<u8>) {
            self.heard[from as usize] += n;
            self.bytes += bytes.len() as u64;
            if bytes.len().is_multiple_of(4) {
                cx.migrate_to((cx.pe() + 1) % cx.pes());
            }
        }

        #[entry]
        fn counts(&mut self) -> (u64, Vec<u64>) {
            (self.sent, self.heard.clone())
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let movers: Array<Mover> = Mover::array(ALL).map(Map::RoundRobin).new();
        movers.run();
        cx.quiescence().await;
        let (sent, heard): (u64, Vec<u64>) = movers.counts().reduce((Sum, Sum)).await;
        writeln!(cx.output(), "{sent} {heard:?}");
    }

    #[test]
    fn agree_in_the_end() {
        let heard = [2 * SENT; ALL as usize];
        crate::common::same_everywhere::<__Main, _>(|| (), &[&format!("{} {heard:?}", SENT * ALL as u64)]);
    }
}

mod a_crowd {
    use talisman::prelude::*;
    use talisman::testing::Test;

    const SENT: u32 = 1_000;
    const PES: u32 = 12;

    #[derive(Pup)]
    struct Runner {
        next: u32,
    }

    /// Moves at every message, so that most messages come early at one PE or another.
    #[chare(array1d, ordered)]
    impl Runner {
        #[init]
        fn new() -> Self {
            Runner { next: 0 }
        }

        #[entry]
        fn throw(&mut self, cx: &mut Cx<Self>, left: u32) {
            for number in 0..4 {
                cx.array().at(1).hear(SENT - left + number);
            }
            let pe = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(pe);
            if left > 4 {
                cx.me().throw(left - 4);
            }
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, number: u32) {
            assert_eq!(number, self.next);
            self.next += 1;
            let pe = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(pe);
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        Runner::array(2).new().at(0).throw(SENT);
        cx.quiescence().await;
    }

    #[test]
    fn of_early_messages_moves_with_its_receiver() {
        for seed in 0..5 {
            let tested = Test::new().pes(PES / 3).simulated(3, seed).run::<__Main>(());
            crate::common::assert_ended_well(&format!("seed {seed}"), &tested);
            let messages = tested.messages.between_pes + tested.messages.between_nodes;
            assert!(messages < 60 * u64::from(SENT), "seed {seed}: {messages} messages for {SENT}");
        }
    }
}

/// Numbered messages from each of several senders to each of several receivers.
macro_rules! numbered {
    ($name:ident, $kind:meta, $sender_moves:expr, $receiver_moves:expr) => {
        mod $name {
            use talisman::prelude::*;

            const RECEIVERS: i32 = 4;
            const SENDERS: i32 = 6;
            const SENT: u32 = 24;

            #[derive(Pup)]
            struct Receiver {
                next: Vec<u32>,
            }

            #[chare(array1d, $kind)]
            impl Receiver {
                #[init]
                fn new() -> Self {
                    Receiver { next: vec![0; SENDERS as usize] }
                }

                #[entry]
                fn hear(&mut self, cx: &mut Cx<Self>, from: i32, number: u32) {
                    let next = &mut self.next[from as usize];
                    assert_eq!(*next, number, "from {from} to {}", cx.index());
                    *next += 1;
                    let moves: fn(u32) -> bool = $receiver_moves;
                    if moves(number) {
                        let pe = cx.rng().below(cx.pes().into()) as u32;
                        cx.migrate_to(pe);
                    }
                }

                #[entry(ack)]
                fn go(&mut self, cx: &mut Cx<Self>) {
                    let pe = cx.rng().below(cx.pes().into()) as u32;
                    cx.migrate_to(pe);
                }

                #[entry]
                fn heard(&mut self) -> Vec<u32> {
                    self.next.clone()
                }
            }

            #[derive(Pup)]
            struct Sender {
                to: Array<Receiver>,
                next: u32,
                until: u32,
            }

            #[chare(array1d)]
            impl Sender {
                #[init]
                fn new(to: Array<Receiver>) -> Self {
                    Sender { to, next: 0, until: 0 }
                }

                #[entry]
                fn send(&mut self, cx: &mut Cx<Self>, until: u32) {
                    self.until = until;
                    cx.me().one();
                }

                #[entry]
                fn one(&mut self, cx: &mut Cx<Self>) {
                    if self.next == self.until {
                        return;
                    }
                    for receiver in 0..RECEIVERS {
                        self.to.at(receiver).hear(cx.index(), self.next);
                    }
                    self.next += 1;
                    let moves: fn(u32) -> bool = $sender_moves;
                    if moves(self.next) {
                        let pe = cx.rng().below(cx.pes().into()) as u32;
                        cx.migrate_to(pe);
                    }
                    cx.me().one();
                }
            }

            #[talisman::main]
            async fn main(cx: &mut Cx) {
                let receivers: Array<Receiver> = Receiver::array(RECEIVERS).new();
                let senders: Array<Sender> = Sender::array(SENDERS).new(receivers);
                for round in 1..=3u32 {
                    senders.send(round * SENT / 3);
                    cx.quiescence().await;
                    for receiver in 0..RECEIVERS {
                        receivers.at(receiver).go().await;
                    }
                    // The senders know the old places still.
                    cx.quiescence().await;
                }
                let heard: Vec<u32> = receivers.heard().reduce(Sum).await;
                writeln!(cx.output(), "{heard:?}");
            }

            #[test]
            fn messages_keep_their_order() {
                let heard = vec![SENT * RECEIVERS as u32; SENDERS as usize];
                crate::common::same_everywhere::<__Main, _>(|| (), &[&format!("{heard:?}")]);
            }
        }
    };
}

// Without `ordered`, order is kept while neither moves: here between moves of the receivers.
numbered!(after_a_move, name = "after_a_move::Receiver", |_| false, |_| false);
// With it, always.
numbered!(receivers_that_move, ordered, |_| false, |number| number % 2 == 0);
numbered!(everybody_moves, ordered, |number| number % 3 == 1, |_| true);

mod before_it_is_known {
    use talisman::prelude::*;
    use talisman::testing::Test;

    const SENDERS: i32 = 12;
    const SENT: u32 = 20;

    #[derive(Pup)]
    struct Receiver {
        next: Vec<u32>,
    }

    #[chare(array1d, ordered, name = "before_it_is_known::Receiver")]
    impl Receiver {
        #[init]
        fn new() -> Self {
            Receiver { next: vec![0; SENDERS as usize] }
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, from: i32, number: u32) {
            assert_eq!(number, self.next[from as usize]);
            self.next[from as usize] += 1;
            let pe = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(pe);
        }
    }

    #[derive(Pup)]
    struct Sender;

    #[chare(array1d, name = "before_it_is_known::Sender")]
    impl Sender {
        #[init]
        fn new() -> Self {
            Sender
        }

        /// Often before its PE knows the receiver's collection, which a PE that it goes to may know.
        #[entry]
        fn send(&mut self, cx: &mut Cx<Self>, to: Array<Receiver>, number: u32) {
            if number < SENT {
                to.at(0).hear(cx.index(), number);
                let pe = cx.rng().below(cx.pes().into()) as u32;
                cx.migrate_to(pe);
                cx.me().send(to, number + 1);
            }
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let senders: Array<Sender> = Sender::array(SENDERS).new();
        for _ in 0..3 {
            cx.quiescence().await;
            let to: Array<Receiver> = Receiver::array(1).new();
            (0..SENDERS).for_each(|sender| senders.at(sender).send(to, 0));
        }
        cx.quiescence().await;
    }

    #[test]
    fn messages_to_an_ordered_collection_have_their_turn() {
        for seed in 0..10 {
            let tested = Test::new().pes(4).simulated(4, seed).run::<__Main>(());
            crate::common::assert_ended_well(&format!("seed {seed}"), &tested);
        }
    }
}

mod broadcasts {
    use talisman::prelude::*;

    const SENT: u32 = 60;

    #[derive(Pup)]
    struct Element {
        next: u32,
    }

    /// Moves at every broadcast, so that it arrives behind some of them, or before.
    #[chare(array1d, name = "broadcasts::Element")]
    impl Element {
        #[init]
        fn new() -> Self {
            Element { next: 0 }
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, number: u32) {
            assert_eq!(number, self.next);
            self.next += 1;
            let pe = cx.rng().below(cx.pes().into()) as u32;
            cx.migrate_to(pe);
            // Some are gone before the end, with broadcasts that wait for them.
            if number == SENT - 20 + cx.index() as u32 {
                cx.destroy();
            }
        }

        #[entry]
        fn has_all(&mut self) -> u32 {
            u32::from(self.next == SENT)
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Element> = Element::array(24).new();
        for number in 0..SENT {
            array.hear(number);
        }
        let heard: u32 = array.has_all().reduce(Sum).await;
        writeln!(cx.output(), "{heard} of 24 heard all");
    }

    #[test]
    fn come_in_order_however_an_element_moves() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["4 of 24 heard all"]);
    }
}
