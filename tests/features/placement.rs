//! Where the elements of an array begin.

mod maps {
    use talisman::index::Bounds;
    use talisman::map::Placement;
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element;

    #[chare(array2d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn place(&mut self, cx: &mut Cx<Self>) -> u32 {
            cx.pe()
        }
    }

    #[derive(Pup)]
    struct Columns {
        width: i32,
    }

    impl Placement for Columns {
        type Index = (i32, i32);

        fn pe(&self, (_, j): (i32, i32), bounds: Option<&Bounds>, pes: u32) -> u32 {
            assert_eq!(bounds.map(Bounds::len), Some(12));
            (j / self.width) as u32 % pes
        }
    }

    talisman::register_map!(Columns);

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let pes: u32 = cx.pes();
        let block: Vec<u32> = Element::array((2, 6)).map(Map::Block).new().place().reduce(Concat).await;
        assert!(block.is_sorted() && block[0] == 0 && block[11] == 11.min(pes - 1), "{block:?}");
        let robin: Vec<u32> = Element::array((2, 6)).map(Map::RoundRobin).new().place().reduce(Concat).await;
        assert_eq!(robin, (0..12).map(|i| i % pes).collect::<Vec<_>>());
        let hash: Vec<u32> = Element::array((2, 6)).map(Map::Hash).new().place().reduce(Concat).await;
        let expected: Vec<u32> = (0..12).map(|i| Map::Hash.pe((i / 6, i % 6), None, pes).unwrap()).collect();
        assert_eq!(hash, expected);
        let own: Vec<u32> =
            Element::array((2, 6)).map(Columns { width: 2 }).new().place().reduce(Concat).await;
        assert_eq!(own, (0..12).map(|i| i % 6 / 2 % pes).collect::<Vec<_>>());
        let each: Vec<u32> = Element::array((2, 6))
            .map(Columns { width: 3 })
            .each(|_, new| {
                new.new();
            })
            .place()
            .reduce(Concat)
            .await;
        assert_eq!(each, (0..12).map(|i| i % 6 / 3 % pes).collect::<Vec<_>>());
        writeln!(cx.output(), "as mapped");
    }

    #[test]
    fn say_where() {
        crate::common::same_with_all_nodes::<__Main, _>(|| (), &["as mapped"]);
    }
}

mod a_wrong_map {
    use talisman::index::Bounds;
    use talisman::map::Placement;
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
        fn hello(&mut self) {}
    }

    #[derive(Pup)]
    struct Beyond;

    impl Placement for Beyond {
        type Index = i32;

        fn pe(&self, index: i32, _: Option<&Bounds>, pes: u32) -> u32 {
            if index == 3 { pes } else { 0 }
        }
    }

    talisman::register_map!(Beyond);

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let array: Array<Element> = Element::array(options.elements).map(Beyond).new();
        array.at(3).hello();
        cx.quiescence().await;
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        elements: i32,
    }

    #[test]
    fn is_told_when_its_elements_are_made() {
        let parts = ["Beyond", "puts the element 3 on PE", "there are only PEs 0 to"];
        crate::common::fails_everywhere::<__Main, _>(|| (Options { elements: 5 },), 1, &parts);
    }

    #[test]
    fn is_told_when_a_message_is_sent() {
        let parts = ["Beyond", "puts the element 3 on PE", "there are only PEs 0 to"];
        crate::common::fails_everywhere::<__Main, _>(|| (Options { elements: 2 },), 1, &parts);
    }
}
