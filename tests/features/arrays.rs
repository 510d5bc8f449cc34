//! Chare arrays of every kind of index, dense and listed.

macro_rules! dimensions {
    ($($name:ident: $kind:ident, $index:ty, $extent:expr, $all:expr;)*) => { $(
        mod $name {
            use talisman::prelude::*;

            #[derive(Pup)]
            struct Element {
                made_as: $index,
            }

            #[chare($kind)]
            impl Element {
                #[init]
                fn new(cx: &mut Cx<Self>) -> Self {
                    Element { made_as: cx.index() }
                }

                #[entry]
                fn name(&mut self, cx: &mut Cx<Self>) -> $index {
                    assert_eq!(self.made_as, cx.index());
                    cx.index()
                }
            }

            #[talisman::main]
            async fn main(cx: &mut Cx) {
                let array: Array<Element> = Element::array($extent).new();
                let names: Vec<$index> = array.name().reduce(Concat).await;
                let all: Vec<$index> = $all;
                assert_eq!(names, all, "every element, in index order");
                for at in 0..all.len() {
                    let name: $index = array.at(all[at]).name().await;
                    assert_eq!(name, all[at]);
                }
                writeln!(cx.output(), "{}", names.len());
            }

            #[test]
            fn has_all_its_elements() {
                let all: Vec<$index> = $all;
                crate::common::same_everywhere::<__Main, _>(|| (), &[&all.len().to_string()]);
            }
        }
    )* };
}

dimensions! {
    one: array1d, i32, 7, (0..7).collect();
    one_negative: array1d, i32, -3..=3, (-3..=3).collect();
    two: array2d, (i32, i32), (3, -1..2), (0..3).flat_map(|i| (-1..2).map(move |j| (i, j))).collect();
    three: array3d, (i32, i32, i32), (2, -2..=-1, 2),
        (0..2).flat_map(|i| (-2..0).flat_map(move |j| (0..2).map(move |k| (i, j, k)))).collect();
    four: array4d, (i32, i32, i32, i32), (2, 1, -1..1, 2),
        (0..2).flat_map(|i| (-1..1).flat_map(move |k| (0..2).map(move |l| (i, 0, k, l)))).collect();
    five: array5d, (i32, i32, i32, i32, i32), (1, 2, 5..7, 1, -7..-5),
        (0..2).flat_map(|j| (5..7).flat_map(move |k| (-7..-5).map(move |m| (0, j, k, 0, m)))).collect();
    six: array6d, (i32, i32, i32, i32, i32, i32), (1, 2, 1, 1..3, 1, -1..1),
        (0..2).flat_map(|j| (1..3).flat_map(move |l| (-1..1).map(move |n| (0, j, 0, l, 0, n)))).collect();
    listed: array2d, (i32, i32), vec![(-5, 3), (7, -7), (0, 0)], vec![(-5, 3), (0, 0), (7, -7)];
}

mod derived {
    use talisman::prelude::*;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)]
    struct Site {
        level: i8,
        code: u64,
    }

    #[derive(Pup)]
    struct Element;

    #[chare(array(Site))]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn name(&mut self, cx: &mut Cx<Self>) -> Site {
            cx.index()
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let site = |level, code| Site { level, code };
        let array: Array<Element> = Element::array(vec![site(1, 0), site(-1, u64::MAX), site(0, 7)]).new();
        let names: Vec<Site> = array.name().reduce(Concat).await;
        assert_eq!(
            names,
            [Site { level: -1, code: u64::MAX }, Site { level: 0, code: 7 }, Site { level: 1, code: 0 }]
        );
        let one: Site = array.at(names[0]).name().await;
        assert_eq!(one, names[0]);
        writeln!(cx.output(), "three sites");
    }

    #[test]
    fn indices_name_elements() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["three sites"]);
    }
}

mod each {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Element {
        value: i64,
    }

    #[chare(array2d)]
    impl Element {
        #[init]
        fn new(value: i64) -> Self {
            Element { value }
        }

        #[init]
        fn doubled(value: i64, _why: String) -> Self {
            Element { value: 2 * value }
        }

        #[entry]
        fn value(&mut self) -> i64 {
            self.value
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let array = Element::array((4, 2)).each(|(i, j), new| {
            let value = (10 * i + j) as i64;
            if j == 0 {
                new.new(value)
            } else {
                new.doubled(value, "odd".into())
            };
        });
        let values: Vec<i64> = array.value().reduce(Concat).await;
        writeln!(cx.output(), "{values:?}");
    }

    #[test]
    fn element_has_arguments_of_its_own() {
        crate::common::same_everywhere::<__Main, _>(|| (), &["[0, 2, 10, 22, 20, 42, 30, 62]"]);
    }
}

mod empty {
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
        fn one(&mut self) -> u32 {
            1
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let ones: u32 = Element::array(0).new().one().reduce(Sum).await;
        writeln!(cx.output(), "{ones}");
    }

    #[test]
    fn array_has_nothing_to_reduce() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["there is no element", "Element"]);
    }
}
