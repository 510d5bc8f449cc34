//! Elements that come and go while the program runs.

mod by_elements {
    use talisman::prelude::*;

    const ALL: i32 = 31;

    #[derive(Pup)]
    struct Node;

    #[chare(array1d)]
    impl Node {
        #[init]
        fn new() -> Self {
            Node
        }

        #[entry]
        fn grow(&mut self, cx: &mut Cx<Self>) {
            let nodes = cx.array();
            for child in [2 * cx.index() + 1, 2 * cx.index() + 2].into_iter().filter(|child| *child < ALL) {
                nodes.at(child).grow(); // it does not exist yet
                nodes.insert(child).on(child as u32 % cx.pes()).new();
            }
            cx.contribute(1u32, Sum, Main::main_chare().callback(Main::grown));
        }

        #[entry]
        fn prune(&mut self, cx: &mut Cx<Self>) {
            if 2 * cx.index() + 1 >= ALL {
                return cx.destroy();
            }
            cx.contribute(1u32, Sum, Main::main_chare().callback(Main::pruned));
        }

        #[entry]
        fn name(&mut self, cx: &mut Cx<Self>) -> i32 {
            cx.index()
        }
    }

    #[derive(Pup)]
    struct Main {
        nodes: Array<Node>,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let nodes = Node::sparse();
            nodes.insert(0).new();
            nodes.done_inserting();
            nodes.at(0).grow();
            Main { nodes }
        }

        #[entry]
        fn grown(&mut self, cx: &mut Cx<Self>, count: u32) {
            writeln!(cx.output(), "{count} grown");
            self.nodes.prune();
        }

        #[entry]
        fn pruned(&mut self, cx: &mut Cx<Self>, count: u32) {
            writeln!(cx.output(), "{count} left");
            self.nodes.name().reduce(Sum).reply(cx.callback(Self::named));
        }

        #[entry]
        fn named(&mut self, cx: &mut Cx<Self>, sum: i32) {
            writeln!(cx.output(), "names {sum}");
            cx.exit();
        }
    }

    #[test]
    fn a_tree_grows_and_is_pruned() {
        crate::common::same_everywhere::<Main, _>(|| (), &["31 grown", "15 left", "names 105"]);
    }
}

mod from_outside {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element {
        sum: u64,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element { sum: 0 }
        }

        #[entry]
        fn add(&mut self, n: u64) {
            self.sum += n;
        }

        #[entry]
        fn name(&mut self, cx: &mut Cx<Self>) -> i32 {
            cx.index()
        }

        #[entry]
        fn sum(&mut self) -> u64 {
            self.sum
        }

        #[entry(ack)]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.destroy();
        }
    }

    #[derive(Pup)]
    struct Helper;

    #[chare(group)]
    impl Helper {
        #[init]
        fn new() -> Self {
            Helper
        }

        #[entry]
        fn add_one(&mut self, cx: &mut Cx<Self>, to: Array<Element>, first: i32) -> u32 {
            to.at(first + cx.index() as i32).add(5); // before it exists
            to.insert(first + cx.index() as i32).new();
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let pes: i32 = cx.pes() as i32;
        let helpers: Group<Helper> = Helper::group().new();
        let array: Array<Element> = Element::sparse();
        for i in 0..6 {
            array.at(i).add(1);
            array.insert(i).on((i % pes) as u32).new();
        }
        let _: u32 = helpers.add_one(array, 100).reduce(Sum).await;
        array.done_inserting();
        let mut all: Vec<i32> = (0..6).chain(100..100 + pes).collect();
        let names: Vec<i32> = array.name().reduce(Concat).await;
        assert_eq!(names, all);

        let _: u32 = helpers.add_one(array, 200).reduce(Sum).await;
        for i in 6..9 {
            array.insert(i).on(((i + 1) % pes) as u32).new();
            let name: i32 = array.at(i).name().await;
            assert_eq!(name, i);
        }
        // What helpers have sent may come later than what is sent here: there is no order between two senders.
        cx.quiescence().await;
        for i in 0..pes {
            let sum: u64 = array.at(200 + i).sum().await;
            assert_eq!(sum, 5);
        }
        all.extend((6..9).chain(200..200 + pes));
        all.sort();
        let names: Vec<i32> = array.name().reduce(Concat).await;
        assert_eq!(names, all);

        for i in 3..9 {
            array.at(i).go().await;
        }
        all.retain(|i| !(3..9).contains(i));
        let names: Vec<i32> = array.name().reduce(Concat).await;
        assert_eq!(names, all);
        let sums: u64 = array.sum().reduce(Sum).await;
        assert_eq!(sums, 3 + 10 * pes as u64);
        writeln!(cx.output(), "as many as there should be");
    }

    #[test]
    fn before_and_after_done_inserting() {
        crate::common::same_with_all_nodes::<__Main, _>(|| (), &["as many as there should be"]);
    }
}

mod again {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element {
        life: u32,
    }

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new(life: u32) -> Self {
            Element { life }
        }

        #[entry]
        fn life(&mut self) -> u32 {
            self.life
        }

        #[entry(ack)]
        fn walk(&mut self, cx: &mut Cx<Self>, to: u32) {
            cx.migrate_to(to);
        }

        #[entry(ack)]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.destroy();
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Element> = Element::array(Sparse).new(0);
        for life in 0..12u32 {
            array.insert(3).on(life % cx.pes()).new(life);
            let first: u32 = array.at(3).life().await;
            for to in 0..life % 4 {
                array.at(3).walk((life + 5 * to + 1) % cx.pes()).await;
            }
            let then: u32 = array.at(3).life().await;
            assert_eq!((first, then), (life, life));
            array.at(3).go().await;
            // Until everybody has heard of its end, a message to the next of this name might go to the old one's place.
            cx.quiescence().await;
        }
        writeln!(cx.output(), "twelve lives");
    }

    #[test]
    fn an_index_is_used_for_one_element_after_another() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["twelve lives"]);
    }
}

mod ordered_again {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element {
        life: u32,
    }

    /// Says what it is told to, so that the numbers of its messages and answers go on from life to life.
    #[chare(array1d, ordered)]
    impl Element {
        #[init]
        fn new(life: u32) -> Self {
            Element { life }
        }

        #[entry]
        fn life(&mut self) -> u32 {
            self.life
        }

        #[entry]
        fn tell(&mut self, cx: &mut Cx<Self>, to: i32, number: u32) {
            cx.array().at(to).hear(number);
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, number: u32) {
            Main::main_chare().heard(cx.index(), self.life, number);
        }

        /// Is gone before the answer is there.
        #[entry]
        async fn ask(&mut self, cx: &mut Cx<Self>, of: i32) {
            cx.me().go();
            let _: u32 = cx.array().at(of).life().await;
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.destroy();
        }
    }

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
        fn heard(at: i32, life: u32, number: u32);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let array: Array<Element> = Element::array(Sparse).new(0);
            array.insert(0).new(0);
            array.insert(1).on(cx.pes() - 1).new(0);
            array.done_inserting();
            let mut number: u32 = 0;
            for life in 0..6u32 {
                for turn in 0..3i32 {
                    let to: i32 = 1 - turn % 2;
                    array.at(1 - to).tell(to, number);
                    let heard = cx.when(Self::heard).await;
                    assert_eq!(heard, (to, life, number));
                    number += 1;
                }
                if life % 2 == 0 {
                    array.at(0).ask(1);
                } else {
                    array.at(0).go();
                }
                array.at(1).go();
                // Nobody is there: this is for the next life.
                cx.quiescence().await;
                array.insert(0).on(life % cx.pes()).new(life + 1);
                array.insert(1).new(life + 1);
            }
            writeln!(cx.output(), "{number} heard");
            cx.exit();
        }
    }

    #[test]
    fn the_next_of_a_name_hears_and_is_heard() {
        crate::common::same_everywhere::<Main, _>(|| (), &["18 heard"]);
    }
}

mod twice {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array = Element::array(3).new();
        array.insert(2).new();
        cx.quiescence().await;
    }

    #[test]
    fn the_same_element_is_an_error() {
        crate::common::fails_everywhere::<__Main, _>(
            || (),
            1,
            &["Element[2] is inserted, but it exists already"],
        );
    }
}
