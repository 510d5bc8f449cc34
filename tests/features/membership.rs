//! Who is in a broadcast while elements are inserted and go: the same on any number of PEs, in every manner of running.

/// Elements are inserted in the entry that a broadcast calls: they are in the next one.
mod within_a_broadcast {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn refine(&mut self, cx: &mut Cx<Self>, step: i32) -> u64 {
            if cx.index() < 8 {
                let to = cx.rng().below(cx.pes().into()) as u32;
                cx.array().insert(100 + 8 * step + cx.index()).on(to).new();
            }
            1
        }

        #[entry]
        fn one(&self) -> u64 {
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let blocks: Array<Block> = Block::array(8).new();
        let mut answers: Vec<u64> = vec![];
        for step in 0..6i32 {
            let sum: u64 = blocks.refine(step).reduce(Sum).await;
            answers.push(sum);
        }
        let all: u64 = blocks.one().reduce(Sum).await;
        writeln!(cx.output(), "{answers:?} {all}");
    }

    #[test]
    fn a_newborn_is_in_the_next() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["[8, 16, 24, 32, 40, 48] 56"]);
    }
}

/// Each goes in the entry that a broadcast calls, and inserts the next of its name elsewhere, or is so itself.
mod successors {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Block {
        life: u64,
    }

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new(life: u64) -> Self {
            Block { life }
        }

        #[entry]
        fn renew(&mut self, cx: &mut Cx<Self>, round: i32) -> u64 {
            let to = cx.rng().below(cx.pes().into()) as u32;
            match (cx.index() + round) % 3 {
                0 => cx.migrate_to(to),
                1 => {
                    cx.array().insert(cx.index()).on(to).new(self.life + 1);
                    cx.destroy();
                }
                _ => {}
            }
            1 << (8 * self.life)
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let blocks: Array<Block> = Block::array(9).new(0);
        let mut answers: Vec<u64> = vec![];
        for round in 0..9i32 {
            let sum: u64 = blocks.renew(round).reduce(Sum).await;
            answers.push(sum);
        }
        writeln!(cx.output(), "{answers:x?}");
    }

    #[test]
    fn the_next_of_a_name_is_in_the_next_broadcast() {
        // A third of nine has one life more after each round.
        let lives = "[9, 306, 603, 900, 30600, 60300, 90000, 3060000, 6030000]";
        crate::common::same_everywhere::<__Main, _>(|| (), &[lives]);
    }
}

/// Who inserts, who tells of it, and who broadcasts are three chares, on three PEs where there are as many.
mod by_way_of_another {
    use talisman::prelude::*;

    const ROUNDS: i32 = 12;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn grow(&mut self, cx: &mut Cx<Self>, round: i32, heralds: Array<Herald>) {
            let to = cx.rng().below(cx.pes().into()) as u32;
            cx.array().insert(100 + round).on(to).new();
            heralds.at(round).announce(cx.array());
        }

        #[entry]
        fn one(&self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    struct Herald {
        main: Proxy<Main>,
    }

    #[chare(array1d)]
    impl Herald {
        #[init]
        fn new(main: Proxy<Main>) -> Self {
            Herald { main }
        }

        #[entry]
        fn announce(&mut self, blocks: Array<Block>) {
            blocks.one().reduce(Sum).reply(self.main.callback(Main::counted));
        }
    }

    #[derive(Pup)]
    struct Main {
        blocks: Array<Block>,
        heralds: Array<Herald>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let (blocks, heralds) = (Block::array(8).new(), Herald::array(ROUNDS).new(cx.me()));
            let main = Main { blocks, heralds, counts: vec![] };
            main.go_on();
            main
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            if self.counts.len() < ROUNDS as usize {
                return self.go_on();
            }
            writeln!(cx.output(), "{:?}", self.counts);
            cx.exit();
        }
    }

    impl Main {
        fn go_on(&self) {
            let round = self.counts.len() as i32;
            self.blocks.at(7 - round % 8).grow(round, self.heralds);
        }
    }

    #[test]
    fn what_was_inserted_before_is_in() {
        let counts = "[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]";
        crate::common::same_everywhere::<Main, _>(|| (), &[counts]);
    }
}

/// Chares of another type insert before and after they broadcast.
mod from_outside {
    use talisman::prelude::*;

    const ROUNDS: i32 = 8;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn one(&self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    struct Herald {
        main: Proxy<Main>,
    }

    #[chare(array1d)]
    impl Herald {
        #[init]
        fn new(main: Proxy<Main>) -> Self {
            Herald { main }
        }

        #[entry]
        fn announce(&mut self, cx: &mut Cx<Self>, blocks: Array<Block>) {
            let to = cx.rng().below(cx.pes().into()) as u32;
            blocks.insert(100 + 2 * cx.index()).on(to).new();
            blocks.one().reduce(Sum).reply(self.main.callback(Main::counted));
            blocks.insert(101 + 2 * cx.index()).new();
        }
    }

    #[derive(Pup)]
    struct Main {
        blocks: Array<Block>,
        heralds: Array<Herald>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let (blocks, heralds) = (Block::array(8).new(), Herald::array(ROUNDS).new(cx.me()));
            heralds.at(0).announce(blocks);
            Main { blocks, heralds, counts: vec![] }
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            let next = self.counts.len() as i32;
            if next < ROUNDS {
                return self.heralds.at(next).announce(self.blocks);
            }
            writeln!(cx.output(), "{:?}", self.counts);
            cx.exit();
        }
    }

    #[test]
    fn what_was_inserted_before_is_in_and_what_was_after_is_not() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[9, 11, 13, 15, 17, 19, 21, 23]"]);
    }
}

/// Chares of another type insert, and tell others, who broadcast: some PEs further.
mod from_outside_by_way_of_others {
    use talisman::prelude::*;

    const ROUNDS: i32 = 12;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn one(&self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    struct Herald {
        main: Proxy<Main>,
    }

    #[chare(array1d)]
    impl Herald {
        #[init]
        fn new(main: Proxy<Main>) -> Self {
            Herald { main }
        }

        #[entry]
        fn begin(&mut self, cx: &mut Cx<Self>, blocks: Array<Block>, round: i32) {
            blocks.insert(100 + round).new();
            cx.array().at((cx.index() + 5) % 8).pass_on(blocks, round % 3);
        }

        #[entry]
        fn pass_on(&mut self, cx: &mut Cx<Self>, blocks: Array<Block>, hops: i32) {
            if hops > 0 {
                return cx.array().at((cx.index() + 3) % 8).pass_on(blocks, hops - 1);
            }
            blocks.one().reduce(Sum).reply(self.main.callback(Main::counted));
        }
    }

    #[derive(Pup)]
    struct Main {
        blocks: Array<Block>,
        heralds: Array<Herald>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let (blocks, heralds) = (Block::array(8).new(), Herald::array(8).new(cx.me()));
            heralds.at(7).begin(blocks, 0);
            Main { blocks, heralds, counts: vec![] }
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            let round = self.counts.len() as i32;
            if round < ROUNDS {
                return self.heralds.at(7 - round % 8).begin(self.blocks, round);
            }
            writeln!(cx.output(), "{:?}", self.counts);
            cx.exit();
        }
    }

    #[test]
    fn what_was_inserted_before_is_in() {
        let counts = "[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]";
        crate::common::same_everywhere::<Main, _>(|| (), &[counts]);
    }
}

/// Who inserts from outside has heard of the array before its announcement came: from an element, or from one who had heard of it so.
mod before_the_announcement {
    use talisman::prelude::*;

    const HERALDS: i32 = 8;
    const ROUNDS: i32 = 24;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn one(&self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    struct Herald {
        main: Proxy<Main>,
    }

    #[chare(array1d)]
    impl Herald {
        #[init]
        fn new(main: Proxy<Main>) -> Self {
            Herald { main }
        }

        #[entry]
        fn announce(&mut self, cx: &mut Cx<Self>, blocks: Array<Block>, round: i32) {
            blocks.insert(100).new();
            if round % 2 == 0 {
                return cx.array().at((cx.index() + round) % HERALDS).pass_on(blocks);
            }
            self.pass_on(blocks);
        }

        #[entry]
        fn pass_on(&mut self, blocks: Array<Block>) {
            blocks.one().reduce(Sum).reply(self.main.callback(Main::counted));
            blocks.insert(101).new();
        }
    }

    #[derive(Pup)]
    struct Main {
        heralds: Array<Herald>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let main = Main { heralds: Herald::array(HERALDS).new(cx.me()), counts: vec![] };
            main.go_on();
            main
        }

        #[entry]
        fn counted(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            if self.counts.len() < ROUNDS as usize {
                return self.go_on();
            }
            self.counts.dedup();
            writeln!(cx.output(), "{:?}", self.counts);
            cx.exit();
        }
    }

    impl Main {
        /// With a new array, which nobody knows yet.
        fn go_on(&self) {
            let round = self.counts.len() as i32;
            let blocks: Array<Block> = Block::array(8).new();
            self.heralds.at(round % HERALDS).announce(blocks, round);
        }
    }

    #[test]
    fn what_was_inserted_before_is_in_and_what_was_after_is_not() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[9]"]);
    }
}

/// What elements contribute in the entry that a broadcast calls, before they insert others.
mod contributors {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Block;

    #[chare(array1d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn step(&mut self, cx: &mut Cx<Self>, step: i32, then: Proxy<Main>) {
            cx.contribute(1u64, Sum, then.callback(Main::stepped));
            if cx.index() % 8 == step % 8 {
                let to = cx.rng().below(cx.pes().into()) as u32;
                cx.array().insert(cx.index() + 8).on(to).new();
            }
        }
    }

    #[derive(Pup)]
    struct Main {
        blocks: Array<Block>,
        counts: Vec<u64>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let blocks = Block::array(8).new();
            blocks.step(0, cx.me());
            Main { blocks, counts: vec![] }
        }

        #[entry]
        fn stepped(&mut self, cx: &mut Cx<Self>, count: u64) {
            self.counts.push(count);
            let next = self.counts.len() as i32;
            if next < 8 {
                return self.blocks.step(next, cx.me()).ignore();
            }
            writeln!(cx.output(), "{:?}", self.counts);
            cx.exit();
        }
    }

    #[test]
    fn are_those_that_the_broadcast_reached() {
        crate::common::same_everywhere::<Main, _>(|| (), &["[8, 9, 10, 11, 12, 13, 14, 15]"]);
    }
}

/// Elements that each insert the next one elsewhere, and go.
mod chain {
    use talisman::prelude::*;
    use talisman::testing::Test;

    #[derive(clap::Parser, Pup)]
    struct Options {
        #[arg(skip)]
        hops: i32,
    }

    #[derive(Pup)]
    struct Token {
        hops: i32,
    }

    #[chare(array1d)]
    impl Token {
        #[init]
        fn new(cx: &mut Cx<Self>, hops: i32) -> Self {
            cx.me().hop();
            Token { hops }
        }

        #[entry]
        fn hop(&mut self, cx: &mut Cx<Self>) {
            let next = cx.index() + 1;
            if next == self.hops {
                return Main::main_chare().arrived(next);
            }
            let to = (cx.pe() + 1) % cx.pes();
            cx.array().insert(next).on(to).new(self.hops);
            cx.destroy();
        }

        #[entry]
        fn name(&self, cx: &mut Cx<Self>) -> i32 {
            cx.index()
        }
    }

    #[derive(Pup)]
    struct Main {
        tokens: Array<Token>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(options: Options) -> Self {
            let tokens = Token::sparse();
            tokens.insert(0).new(options.hops);
            tokens.done_inserting();
            Main { tokens }
        }

        #[entry]
        fn arrived(&mut self, cx: &mut Cx<Self>, hops: i32) {
            writeln!(cx.output(), "{hops} hops");
            self.tokens.name().reduce(Sum).reply(cx.callback(Self::named));
        }

        #[entry]
        fn named(&mut self, cx: &mut Cx<Self>, sum: i32) {
            writeln!(cx.output(), "the last is {sum}");
            cx.exit();
        }
    }

    #[test]
    fn the_last_one_is_left() {
        crate::common::same_everywhere::<Main, _>(|| (Options { hops: 60 },), &["60 hops", "the last is 59"]);
    }

    /// Bytes between two nodes while there are so many hops.
    fn bytes(hops: i32) -> u64 {
        let tested = Test::new().simulated(2, 3).run::<Main>((Options { hops },));
        crate::common::assert_ended_well("simulated", &tested);
        tested.messages.bytes_between_nodes
    }

    #[test]
    fn takes_as_much_for_each_hop_however_many_there_are() {
        let (few, many) = (bytes(500), bytes(4000));
        assert!(many < 10 * few, "{few} bytes for 500 hops, {many} for 4000");
    }
}
