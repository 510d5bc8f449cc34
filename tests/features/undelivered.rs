//! Messages that nobody gets: a job that ends well says which, once, whatever it went through.

use std::collections::BTreeMap;

use talisman::prelude::*;

#[derive(Pup)]
struct Cell;

#[chare(array1d)]
impl Cell {
    #[init]
    fn new() -> Self {
        Cell
    }

    #[entry]
    fn boom(&mut self) {}

    /// To one that never is.
    #[entry]
    fn call(&mut self, cx: &mut Cx<Self>, to: i32) {
        cx.array().at(to).boom();
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.destroy();
    }

    #[entry]
    fn is_there(&self) -> u32 {
        1
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let cells: Array<Cell> = Cell::array(4).new();
    cells.at(2).call(9);
    cells.at(2).call(9);
    cells.at(0).boom();
    cells.at(1).leave();
    cx.quiescence().await;
    let left: u32 = cells.is_there().reduce(Sum).await;
    assert_eq!(left, 3);
    // One that is gone; one that comes after its message did; and one of an array that is never complete.
    cells.at(1).call(0);
    cells.at(7).boom();
    cells.insert(7).new();
    let open: Array<Cell> = Cell::sparse();
    open.insert(3).new();
    open.at(3).boom();
    open.at(5).leave();
    cx.quiescence().await;
    writeln!(cx.output(), "done");
}

#[test]
fn are_told_at_the_end_of_a_job_that_ends_well() {
    for (name, test) in crate::common::manners_and_losses() {
        eprintln!("{name}");
        let tested = test.run::<__Main>(());
        crate::common::assert_ended_well(&name, &tested);
        assert_eq!(tested.output, ["done"], "{name}");
        let mut counts = BTreeMap::new();
        for of in &tested.undelivered {
            let to = of.to.rsplit("::").next().unwrap_or(&of.to);
            *counts.entry((to.to_string(), of.entry.clone())).or_insert(0) += of.count;
        }
        let expected = [("Cell[1]", "call", 1), ("Cell[5]", "leave", 1), ("Cell[9]", "boom", 2)];
        let expected = expected.map(|(to, entry, count)| ((to.to_string(), entry.to_string()), count));
        assert_eq!(counts, BTreeMap::from(expected), "{name}: {:?}", tested.undelivered);
    }
}

/// Where the PE of the caller lives to the end.
#[test]
fn are_told_with_who_called() {
    for (name, test) in crate::common::manners() {
        let tested = test.run::<__Main>(());
        let of_nine =
            tested.undelivered.iter().find(|of| of.to.ends_with("Cell[9]")).expect("it never comes");
        assert!(of_nine.from.contains("Cell[2] on PE "), "{name}: {of_nine}");
        let line = of_nine.to_string();
        assert!(
            line.starts_with("2 messages for ") && line.contains("which does not exist: `boom`"),
            "{line}"
        );
    }
}

/// Broadcasts and contributions that wait for the first elements of an array, which nobody has said to be all.
mod never_complete {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Cell;

    #[chare(array1d)]
    impl Cell {
        #[init]
        fn new() -> Self {
            Cell
        }

        #[entry]
        fn boom(&mut self) {}

        #[entry]
        fn halt(&mut self) {}

        #[entry]
        fn give(&mut self, cx: &mut Cx<Self>) {
            let to: Callback<i32> = cx.array().at(0).callback(Self::take);
            cx.contribute(1_i32, Sum, to);
        }

        #[entry]
        fn take(&mut self, sum: i32) {
            let _ = sum;
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let open: Array<Cell> = Cell::sparse();
        let complete: Array<Cell> = Cell::sparse();
        for index in 0..3 {
            open.insert(index).new();
            complete.insert(index).new();
        }
        complete.boom();
        complete.done_inserting();
        open.boom();
        open.boom();
        open.halt();
        open.at(1).give();
        open.at(2).give();
        cx.quiescence().await;
    }

    #[test]
    fn waits_are_told_with_the_reason() {
        for (name, test) in crate::common::manners_and_losses() {
            let tested = test.run::<__Main>(());
            crate::common::assert_ended_well(&name, &tested);
            let told: Vec<_> = tested.undelivered.iter().map(ToString::to_string).collect();
            assert!(
                tested.undelivered.iter().all(|of| of.to.ends_with("never_complete::Cell")),
                "{name}: {told:?}"
            );
            let counts: Vec<_> = tested.undelivered.iter().map(|of| (&*of.entry, of.count)).collect();
            assert_eq!(counts, [("(contributions to a reduction)", 2), ("boom", 2), ("halt", 1)], "{name}");
            assert!(told.iter().all(|line| line.contains("`done_inserting()` was never called")), "{told:?}");
        }
    }
}

mod very_many {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Cell;

    #[chare(array1d)]
    impl Cell {
        #[init]
        fn new() -> Self {
            Cell
        }

        #[entry]
        fn boom(&mut self) {}
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let cells: Array<Cell> = Cell::array(1).new();
        for index in 1..=5000 {
            cells.at(index).boom();
        }
        cx.quiescence().await;
    }

    #[test]
    fn are_counted() {
        for pes in [1, 3] {
            let tested = talisman::testing::Test::new().pes(pes).run::<__Main>(());
            assert!(tested.undelivered.len() < 1002, "what is told is bounded");
            assert_eq!(tested.undelivered.iter().map(|of| of.count).sum::<u64>(), 5000);
        }
    }
}
