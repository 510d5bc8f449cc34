//! Who is named when something is refused: whoever has made it, not who happened to run when it was packed.

use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::prelude::*;
use talisman::pup::limits::LEVELS_MAX;
use talisman::testing::Test;

/// One box in the other.
#[derive(Pup, Default)]
struct Undo {
    before: Option<Box<Undo>>,
}

impl Undo {
    fn of(levels: u64) -> Self {
        (0..levels).fold(Undo::default(), |before, _| Undo { before: Some(Box::new(before)) })
    }

    fn levels(&self) -> usize {
        std::iter::successors(self.before.as_ref(), |undo| undo.before.as_ref()).count()
    }
}

/// The deeper of two.
impl Merge for Undo {
    const COMMUTES: bool = true;

    fn merge(&mut self, other: Self) {
        if other.levels() > self.levels() {
            *self = other;
        }
    }
}

#[derive(Pup)]
struct Voter;

#[chare(array1d)]
impl Voter {
    #[init]
    fn new() -> Self {
        Voter
    }

    /// One of all contributes what is too deep.
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>, how: String, who: i32) {
        let mine: Undo = Undo::of(if cx.index() == who { 3000 } else { 1 });
        match &*how {
            "concat" => cx.contribute(mine, Concat, Callback::ignore()),
            "tuple" => cx.contribute((1_u32, mine), (Sum, Concat), Callback::ignore()),
            "merged" => cx.contribute(mine, Merged, Callback::ignore()),
            "some" if cx.index() % 8 != 7 => cx.contribute(mine, Concat, Callback::ignore()),
            "some" => {}
            _ => unreachable!("a way that there is"),
        }
    }

    /// Sends to one of what this PE may not have heard of.
    #[entry]
    fn pass(&mut self, others: Array<Voter>) {
        others.at(0).take(Undo::of(3000));
    }

    #[entry]
    fn take(&mut self, undo: Undo) {
        drop(undo);
    }
}

#[derive(clap::Parser, Pup, Clone)]
struct Options {
    how: String,
    who: i32,
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        cx.me().run(options);
        Main
    }

    #[entry]
    fn kept();

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, options: Options) {
        let voters: Array<Voter> = Voter::array(24).new();
        if options.how == "pass" {
            let others: Array<Voter> = Voter::array(1).new();
            voters.at(options.who).pass(others);
        } else {
            let keep: bool = options.how == "some";
            voters.vote(options.how, options.who);
            if keep {
                cx.quiescence().await;
                cx.checkpoint(cx.callback(Self::kept));
                cx.when(Self::kept).await;
            }
        }
        cx.quiescence().await;
        cx.exit();
    }
}

/// What the job says at its end.
fn said(test: &Test, how: &str, who: i32) -> String {
    let tested = test.run::<Main>((Options { how: how.to_owned(), who },));
    let said = tested.message.clone().unwrap_or_default();
    assert_eq!(tested.status, 1, "{how} {who}: {said}");
    let limit = format!("deeper than {LEVELS_MAX} levels");
    assert!(said.contains(&limit), "{how} {who}: {said}");
    said
}

/// It contributed with others of its PE, and the last of them ran when all was packed.
#[test]
fn who_contributed_what_is_refused_is_named() {
    for how in ["concat", "tuple"] {
        for who in [8, 10, 13, 17] {
            let said = said(&Test::new().simulated(3, 5), how, who);
            let expected = format!("blamed::Voter[{who}]");
            assert!(said.starts_with(&format!("{}{expected}", prefix(&said))), "{said}");
            let words = ["no receiver can take", "a reduction over the elements of", "Undo.before."];
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
            let others = (0..24).filter(|other| *other != who).map(|other| format!("Voter[{other}]"));
            others.for_each(|other| assert!(!said.contains(&other), "{other} is innocent: {said}"));
        }
    }
}

/// What stands before the name of this module.
fn prefix(said: &str) -> &str {
    said.split("blamed::").next().unwrap_or_default()
}

/// What several have become together is nobody's: none is blamed, and it is said where they are.
#[test]
fn nobody_is_blamed_for_what_many_became() {
    for who in [8, 13, 15] {
        let said = said(&Test::new().simulated(3, 5), "merged", who);
        assert!(said.contains("elements of `") && said.contains("blamed::Voter` on PE 1 sends"), "{said}");
        assert!(said.contains("what contributions to a reduction have become together"), "{said}");
        assert!(!said.contains("Voter["), "{said}");
    }
}

/// At the root of the reduction nothing has to travel but the result.
#[test]
fn a_result_that_is_refused_says_at_which_place() {
    let said = said(&Test::new().simulated(3, 5), "concat", 2);
    assert!(said.contains("has a result that no receiver can take") && said.contains("[2]"), "{said}");
}

#[test]
fn a_checkpoint_that_cannot_be_taken_says_whose_contribution_it_is() {
    let test = Test::new().simulated(3, 5).with_options(|options| {
        (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Steps(u64::MAX)));
    });
    let said = said(&test, "some", 2);
    let words = ["no checkpoint can take", "a reduction over the elements of", "Voter[2] contributed"];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

/// The message was packed after its sender had run.
#[test]
fn who_sent_what_waited_is_named() {
    let mut waited = 0;
    for seed in 0..40 {
        let said = said(&Test::new().simulated(8, seed), "pass", 23);
        let words = ["blamed::Voter[23]", "Voter::take` for", "no receiver can take"];
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        waited += u32::from(said.contains("or another object of PE 7"));
    }
    assert!(waited > 0, "no message waited");
}

/// An object that refers to a shared value moves while that is destroyed.
mod destroyed_too_early {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Holder {
        table: Option<Shared<Vec<u32>>>,
    }

    #[chare(array1d)]
    impl Holder {
        #[init]
        fn new() -> Self {
            Holder { table: None }
        }

        #[entry]
        fn hold(&mut self, table: Shared<Vec<u32>>) -> u32 {
            self.table = Some(table);
            1
        }

        #[entry]
        fn walk(&mut self, cx: &mut Cx<Self>) {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        let holders: Array<Holder> = Holder::array(6).new();
        let table: Shared<Vec<u32>> = cx.share(vec![7; 10]);
        let _held: u32 = holders.hold(table.clone()).reduce(Sum).await;
        holders.walk();
        table.destroy();
        cx.quiescence().await;
    }

    /// It cannot be read: the error names the value's type, whoever wanted it, and what to do.
    #[test]
    fn is_named_with_the_type_of_the_value_and_what_to_do() {
        let mut refused = 0;
        for seed in 0..60 {
            let tested = talisman::testing::Test::new().simulated(3, seed).run::<__Main>(());
            let Some(said) = tested.message.clone() else { continue };
            let words =
                ["Holder[", "the shared `Vec<u32>` that PE 0 made was destroyed", "`cx.quiescence().await`"];
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
            refused += 1;
        }
        assert!(refused > 0, "nothing was on its way");
    }
}
