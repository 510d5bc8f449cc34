//! The program and the test that the page "Test a program" shows.

// ANCHOR: program
use talisman::prelude::*;

#[derive(Pup)]
struct Square;

#[chare(array1d)]
impl Square {
    #[init]
    fn new() -> Self {
        Square
    }

    #[entry]
    fn of_index(&mut self, cx: &mut Cx<Self>) -> i32 {
        cx.index() * cx.index()
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let squares: Array<Square> = Square::array(10).new();
    let sum: i32 = squares.of_index().reduce(Sum).await;
    writeln!(cx.output(), "the sum is {sum}");
}
// ANCHOR_END: program

// ANCHOR: test
use talisman::testing::Test;

#[test]
fn the_sum_does_not_depend_on_where_it_is_computed() {
    let small = Test::new().pes(2).packing_messages();
    let simulated = (1..4).map(|seed| Test::new().pes(2).simulated(3, seed).repacking_objects());
    for test in std::iter::once(small).chain(simulated) {
        let done = test.run::<__Main>(());
        assert_eq!((done.status, done.output), (0, vec!["the sum is 285".to_string()]));
    }
}
// ANCHOR_END: test
