//! Collections, sections and shared values that are destroyed.

use talisman::prelude::*;

/// An element that moves with every message.
#[derive(Pup)]
struct Element {
    heard: u32,
}

#[chare(array1d)]
impl Element {
    #[init]
    fn new() -> Self {
        Element { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>) {
        self.heard += 1;
        cx.migrate_to((cx.pe() + 1) % cx.pes());
    }

    #[entry]
    fn heard(&mut self) -> u32 {
        self.heard
    }

    #[entry]
    fn tell(&mut self, cx: &mut Cx<Self>, to: Callback<u32>) {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        cx.contribute(1u32, Sum, to);
    }

    #[entry]
    fn contribute(&mut self, cx: &mut Cx<Self>, part: Section<Element>, to: Callback<u32>) {
        cx.contribute_to(part, 1u32, Sum, to);
    }
}

#[derive(Pup)]
struct Member;

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member
    }

    #[entry]
    fn one(&mut self) -> u32 {
        1
    }
}

#[derive(Pup)]
struct PerNode;

#[chare(nodegroup)]
impl PerNode {
    #[init]
    fn new() -> Self {
        PerNode
    }

    #[entry]
    fn one(&mut self) -> u32 {
        1
    }
}

/// Makes and destroys one of each in rounds; what was broadcast before is received, and reductions are complete.
#[derive(Pup)]
struct Rounds {
    rounds: u32,
    round: u32,
    made: Option<Array<Element>>,
    sums: u32,
}

#[chare(single)]
impl Rounds {
    #[init]
    fn new(rounds: u32) -> Self {
        Rounds { rounds, round: 0, made: None, sums: 0 }
    }

    #[entry]
    async fn go(&mut self, cx: &mut Cx<Self>) -> bool {
        while self.round < self.rounds {
            let all: Array<Element> = Element::array(1 + self.round as i32 % 5).new();
            self.made = Some(all);
            all.hear();
            all.hear();
            let part: Section<Element> = all.section((0..1 + self.round as i32 % 5).step_by(2));
            let heard: u32 = all.heard().reduce(Sum).await;
            assert_eq!(heard, 2 * (1 + self.round % 5));
            let heard: u32 = part.heard().reduce(Sum).await;
            assert_eq!(heard, 2 * (1 + self.round % 5).div_ceil(2));
            if self.round % 2 == 0 {
                part.contribute(part, cx.callback(Self::sum));
                cx.quiescence().await;
                part.destroy();
            }
            // Nobody waits for these: they are on their way when the array is destroyed.
            all.hear();
            all.tell(cx.callback(Self::sum));
            all.destroy();
            let sparse = Element::sparse();
            for index in 0..3 {
                sparse.insert(index).new();
            }
            // Its insertions were not said to be over.
            sparse.hear();
            sparse.destroy();
            let group: Group<Member> = Member::group().new();
            let members: u32 = group.one().reduce(Sum).await;
            assert!(members > 0);
            group.destroy();
            let nodes: Group<PerNode> = PerNode::group().new();
            let there: u32 = nodes.one().reduce(Sum).await;
            assert!(there > 0);
            nodes.destroy();
            let table: Shared<Vec<u32>> = cx.share(vec![self.round; 100]);
            let shared: Group<Reader> = Reader::group().new(table.clone());
            let read: u32 = shared.read().reduce(Max).await;
            assert_eq!(read, 100 * self.round);
            table.destroy();
            // Who has it reads on.
            let again: u32 = shared.read().reduce(Max).await;
            assert_eq!(again, 100 * self.round);
            shared.destroy();
            self.round += 1;
        }
        cx.quiescence().await;
        let of_array = |round: u32| 1 + round % 5;
        let of_section = |round: u32| if round % 2 == 0 { of_array(round).div_ceil(2) } else { 0 };
        let expected: u32 = (0..self.rounds).map(|round| of_array(round) + of_section(round)).sum();
        self.sums == expected
    }

    #[entry]
    fn sum(&mut self, n: u32) {
        self.sums += n;
    }
}

#[derive(Pup)]
struct Reader {
    table: Shared<Vec<u32>>,
}

#[chare(group)]
impl Reader {
    #[init]
    fn new(table: Shared<Vec<u32>>) -> Self {
        Reader { table }
    }

    #[entry]
    fn read(&mut self) -> u32 {
        self.table.iter().sum()
    }
}

mod rounds {
    use super::*;

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let rounds: Proxy<Rounds> = Rounds::chare().on(cx.pes() - 1).new(8);
        let complete: bool = rounds.go().await;
        writeln!(cx.output(), "reductions over what was destroyed are complete: {complete}");
    }

    #[test]
    fn what_was_sent_before_is_done_before() {
        crate::common::same_everywhere::<__Main, _>(
            || (),
            &["reductions over what was destroyed are complete: true"],
        );
    }
}

mod too_late {
    use super::*;

    #[derive(Pup)]
    struct Main {
        all: Array<Element>,
        part: Section<Element>,
        quiet: u32,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let all: Array<Element> = Element::array(5).new();
            let part: Section<Element> = all.section(1..3);
            all.hear();
            all.destroy();
            all.destroy();
            let main = Main { all, part, quiet: 0 };
            main.ask(cx);
            main
        }

        fn ask(&self, cx: &mut Cx<Self>) {
            let rests = cx.callback(Self::rests);
            cx.on_quiescence(rests);
        }

        /// Nothing of this arrives, and nothing is in its way.
        #[entry]
        fn rests(&mut self, cx: &mut Cx<Self>) {
            self.quiet += 1;
            if self.quiet == 3 {
                writeln!(cx.output(), "quiet");
                return cx.exit();
            }
            self.all.at(2).hear();
            self.all.hear();
            self.part.hear();
            self.all.insert(7).new();
            self.all.section(0..2).hear();
            self.all.done_inserting();
            self.all.destroy();
            self.ask(cx);
        }
    }

    #[test]
    fn messages_to_what_was_destroyed_are_dropped() {
        crate::common::same_everywhere::<Main, _>(|| (), &["quiet"]);
    }
}

mod waits {
    use super::*;

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let all: Array<Element> = Element::array(3).new();
        all.destroy();
        let heard: u32 = all.heard().reduce(Sum).await;
        writeln!(cx.output(), "{heard}");
        cx.exit();
    }

    #[test]
    fn who_waits_for_an_answer_is_told() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["came too late", "broadcast", "destroyed"]);
    }
}

mod sections {
    use super::*;

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let all: Array<Element> = Element::array(4).new();
        let part: Section<Element> = all.section(0..4);
        part.destroy();
        // Its members are there as ever.
        let heard: u32 = all.heard().reduce(Sum).await;
        writeln!(cx.output(), "{heard}");
        let never: u32 = part.heard().reduce(Sum).await;
        writeln!(cx.output(), "{never}");
        cx.exit();
    }

    #[test]
    fn who_waits_for_a_section_that_was_destroyed_is_told() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["came too late", "multicast to a section"]);
    }
}

mod drops {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// Elements that live, wherever they are.
    static ALIVE: AtomicI64 = AtomicI64::new(0);

    struct Alive;

    impl Alive {
        fn new() -> Self {
            ALIVE.fetch_add(1, Ordering::Relaxed);
            Alive
        }
    }

    impl Drop for Alive {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    impl Pup for Alive {
        const MIN_SIZE: usize = 0;

        fn pack(&self, _: &mut Packer) {}

        fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
            Ok(Alive::new())
        }
    }

    #[derive(Pup)]
    struct Creature {
        alive: Alive,
    }

    #[chare(array1d)]
    impl Creature {
        #[init]
        fn new() -> Self {
            Creature { alive: Alive::new() }
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to((cx.pe() + cx.index() as u32) % cx.pes());
        }
    }

    #[derive(Pup)]
    struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>) -> Self {
            let all: Array<Creature> = Creature::array(9).new();
            (0..3).for_each(|_| all.go().ignore());
            all.destroy();
            let rests = cx.callback(Self::rests);
            cx.on_quiescence(rests);
            Main
        }

        #[entry]
        fn rests(&mut self, cx: &mut Cx<Self>) {
            assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
            cx.exit();
        }
    }

    /// Wherever they have moved.
    #[test]
    fn elements_are_dropped_before_the_job_ends() {
        for (name, test) in crate::common::manners() {
            crate::common::assert_ended_well(&name, &test.run::<Main>(()));
            assert_eq!(ALIVE.load(Ordering::Relaxed), 0, "{name}");
        }
    }
}
