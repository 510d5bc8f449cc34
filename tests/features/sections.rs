//! Sections: a part of an array or group with a multicast and reductions of its own.

use talisman::prelude::*;

#[derive(Pup)]
struct Element {
    heard: u32,
}

#[chare(array2d)]
impl Element {
    #[init]
    fn new() -> Self {
        Element { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, n: u32) {
        self.heard += n;
        cx.migrate_to((cx.pe() + 1) % cx.pes());
    }

    #[entry]
    fn heard(&mut self) -> u32 {
        self.heard
    }

    #[entry]
    fn name(&mut self, cx: &mut Cx<Self>) -> (i32, i32) {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        cx.index()
    }

    /// Contributes to all the sections it is in, and moves in between.
    #[entry]
    fn contribute(
        &mut self,
        cx: &mut Cx<Self>,
        to: Section<Element>,
        rounds: u32,
        done: Callback<(u32, Vec<(i32, i32)>)>,
    ) {
        for round in 0..rounds {
            cx.contribute_to(to, (round, cx.index()), (Max, Concat), done.clone());
        }
        cx.migrate_to((cx.pe() + 1) % cx.pes());
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
    fn name(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.pe()
    }
}

#[derive(Pup)]
struct Main {
    array: Array<Element>,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        cx.me().run();
        Main { array: Element::array((4, 4)).new() }
    }

    #[entry]
    fn contributed(round: u32, names: Vec<(i32, i32)>);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let row: Section<Element> = self.array.section((0..4).map(|j| (1, j)));
        let column: Section<Element> = self.array.section((0..4).map(|i| (3 - i, 2)).chain([(0, 2)]));
        for round in 0..6u32 {
            row.hear(1);
            column.hear(10);
            let names: Vec<(i32, i32)> = row.name().reduce(Concat).await;
            assert_eq!(names, (0..4).map(|j| (1, j)).collect::<Vec<_>>(), "round {round}");
        }
        cx.quiescence().await;
        let heard: Vec<u32> = self.array.heard().reduce(Concat).await;
        writeln!(cx.output(), "{heard:?}");

        column.contribute(column, 3, cx.callback(Self::contributed));
        row.contribute(row, 3, cx.callback(Self::contributed));
        let mut names: Vec<(i32, i32)> = vec![];
        for round in 0..3u32 {
            for _ in 0..2 {
                let all = cx.when(Self::contributed, round).await;
                assert_eq!(all.len(), 4);
                names.extend(all);
            }
        }
        names.sort();
        names.dedup();
        writeln!(cx.output(), "{names:?}");

        let group: Group<Member> = Member::group().new();
        let last: u32 = cx.pes() - 1;
        let ends: Section<Member> = group.section([0, last]);
        let names: Vec<u32> = ends.name().reduce(Concat).await;
        let all: Vec<u32> = if last == 0 { vec![0] } else { vec![0, last] };
        assert_eq!(names, all);

        // Nobody hears a multicast to nobody.
        let empty: Section<Element> = self.array.section([]);
        empty.hear(1000);
        cx.quiescence().await;
        let heard: u32 = self.array.heard().reduce(Sum).await;
        writeln!(cx.output(), "{heard}");
        cx.exit();
    }
}

#[test]
fn are_parts_of_a_collection() {
    let heard = [0, 0, 10, 0, 6, 6, 16, 6, 0, 0, 10, 0, 0, 0, 10, 0]
        .map(|n| if n % 10 == 0 { 6 * n } else { 6 + n / 10 * 60 });
    let lines = [
        format!("{heard:?}"),
        "[(0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (2, 2), (3, 2)]".into(),
        heard.iter().sum::<u32>().to_string(),
    ];
    crate::common::same_with_all_nodes::<Main, _>(
        || (),
        &lines.each_ref().map(|line: &String| line.as_str()),
    );
}

mod nobody {
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
        let one: u32 = Element::array(3).new().section([]).one().reduce(Sum).await;
        writeln!(cx.output(), "{one}");
    }

    #[test]
    fn has_a_value_to_reduce() {
        crate::common::fails_everywhere::<__Main, _>(|| (), 1, &["there is no element", "Element"]);
    }
}
