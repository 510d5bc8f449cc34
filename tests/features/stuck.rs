//! A job in which nothing will ever happen any more ends, and tells what everybody waits for.

mod a_message {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Block;

    #[chare(array2d)]
    impl Block {
        #[init]
        fn new() -> Self {
            Block
        }

        #[entry]
        fn ghost(iter: u32, cells: Vec<f64>);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) -> u32 {
            cx.migrate_to(cx.pes() - 1);
            if cx.index() == (1, 0) {
                cx.array().at((0, 1)).ghost(3, vec![]);
            }
            if cx.index() == (0, 1) {
                let _cells = cx.when(Self::ghost, 2).await;
            }
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let blocks: Array<Block> = Block::array((2, 2)).new();
        let all: u32 = blocks.run().reduce(Sum).await;
        writeln!(cx.output(), "{all}");
    }

    #[test]
    fn that_never_comes() {
        let parts = ["Block[(0, 1)]", "run waits for", "ghost", "tests/features/stuck.rs:", "main"];
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
    }
}

/// A main chare that does one thing and then waits for what others do not do.
macro_rules! waiting_main {
    ($($body:tt)*) => {
        #[derive(Pup)]
        struct Main;

        #[talisman::main]
        impl Main {
            #[init]
            fn new() -> Self {
                $($body)*
                Main
            }
        }
    };
}

macro_rules! element {
    ($($body:tt)*) => {
        #[derive(Pup)]
        struct Element;

        #[chare(array1d)]
        impl Element {
            #[init]
            fn new() -> Self {
                Element
            }

            $($body)*
        }
    };
}

mod a_reduction {
    use talisman::prelude::*;

    element! {
        #[entry]
        fn contribute(&mut self, cx: &mut Cx<Self>) {
            if cx.index() != 3 {
                cx.contribute(1u32, Sum, Callback::ignore());
            }
        }
    }

    waiting_main! {
        Element::array(7).new().contribute();
    }

    #[test]
    fn that_lacks_a_contribution() {
        crate::common::fails_everywhere::<Main, _>(|| (), 1, &["a reduction over", "Element", "6 of 7"]);
    }
}

mod a_section {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn contribute(&mut self, cx: &mut Cx<Self>, to: Section<Element>) {
            if cx.index() != 3 {
                cx.contribute_to(to, 1u32, Sum, Callback::ignore());
            }
        }
    }

    waiting_main! {
        let part = Element::array(7).new().section([1, 3, 5]);
        part.contribute(part);
    }

    #[test]
    fn that_lacks_a_contribution() {
        let parts = ["a reduction over a section of", "Element", "2 of 3"];
        crate::common::fails_everywhere::<Main, _>(|| (), 1, &parts);
    }
}

mod nobody {
    use talisman::prelude::*;

    element! {
        #[entry]
        fn hello(&mut self) {}
    }

    waiting_main! {
        let array = Element::array(7).new();
        array.at(-20).hello();
        array.at(-20).hello();
    }

    #[test]
    fn to_receive_a_message() {
        let parts = ["2 messages wait for", "Element[-20]", "does not exist"];
        crate::common::fails_everywhere::<Main, _>(|| (), 1, &parts);
    }
}

mod a_broadcast {
    use talisman::prelude::*;

    element! {
        #[entry]
        fn hello(&mut self) {}
    }

    waiting_main! {
        let array = Element::sparse();
        array.insert(1).new();
        array.hello();
    }

    #[test]
    fn that_waits_for_the_first_elements() {
        let parts = ["1 broadcasts to", "Element", "done_inserting"];
        crate::common::fails_everywhere::<Main, _>(|| (), 1, &parts);
    }
}

mod an_answer {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn go(n: u32);

        #[entry]
        async fn answer(&mut self, cx: &mut Cx<Self>) -> u32 {
            let n = cx.when(Self::go).await;
            n
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array: Array<Element> = Element::array(2).new();
        let n: u32 = array.at(1).answer().await;
        writeln!(cx.output(), "{n}");
    }

    #[test]
    fn that_waits_for_another() {
        let parts = ["Element[1]", "answer waits for `go`", "tests/features/stuck.rs:", "__main"];
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
    }
}

mod members {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn count(&self) -> u32 {
            1
        }

        #[entry]
        fn leave(&mut self, cx: &mut Cx<Self>) -> u32 {
            cx.destroy();
            1
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            cx.destroy();
        }

        #[entry]
        fn never();

        /// Is gone before it has an answer.
        #[entry]
        async fn answer(&mut self, cx: &mut Cx<Self>) -> u32 {
            cx.me().go();
            cx.when(Self::never).await;
            1
        }
    }

    mod removed {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let all: Array<Element> = Element::array(6).new();
            let some: Section<Element> = all.section([1, 2, 4]);
            let _left: u32 = all.section([2, 5]).leave().reduce(Sum).await;
            let counted: u32 = some.count().reduce(Sum).await;
            writeln!(cx.output(), "{counted}");
        }

        #[test]
        fn are_named() {
            let parts = ["main waits for", "a reduction over a section of", "2 of 3 contributions"];
            crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
        }
    }

    mod never_made {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let all: Array<Element> = Element::array(6).new();
            let counted: u32 = all.section([3, 50]).count().reduce(Sum).await;
            writeln!(cx.output(), "{counted}");
        }

        #[test]
        fn are_named() {
            let parts = ["main waits for", "1 of 2 contributions", "Element[50]", "does not exist"];
            crate::common::fails_everywhere::<__Main, _>(|| (), 1, &parts);
        }
    }

    mod that_answer_no_more {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let all: Array<Element> = Element::array(6).new();
            let answer: u32 = all.at(1).answer().await;
            writeln!(cx.output(), "{answer}");
        }

        #[test]
        fn are_waited_for_in_vain() {
            crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["main waits for"]);
        }
    }

    mod named_twice {
        use super::*;

        #[talisman::main]
        async fn main(cx: &mut Cx) {
            let all: Array<Element> = Element::array(6).new();
            let counted: u32 = all.section([1, 1, 4, 4, 2]).count().reduce(Sum).await;
            writeln!(cx.output(), "{counted}");
        }

        #[test]
        fn count_once() {
            crate::common::same_everywhere::<__Main, _>(|| (), &["3"]);
        }
    }
}
