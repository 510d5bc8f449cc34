//! Limits of what is sent and kept: what is within them comes back, and what is beyond is refused where it is made, by name.

use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::launch::options::Transport;
use talisman::pup::limits::LEVELS_MAX;
use talisman::testing::{Test, Tested};

/// What each is to be checked in.
fn between_nodes() -> [Test; 3] {
    let nodes = |transport| Test::new().nodes(2, transport);
    [Test::new().simulated(2, 5), nodes(Transport::Tcp), nodes(Transport::Shm)]
}

/// With a checkpoint when the program asks for one.
fn with_checkpoints(test: Test) -> Test {
    test.with_options(|options| {
        (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Steps(u64::MAX)));
    })
}

/// It ended with these words.
fn refused(tested: &Tested, words: &[&str]) {
    let said = tested.message.clone().unwrap_or_default();
    assert_eq!(tested.status, 1, "{said}");
    let limit = format!("deeper than {LEVELS_MAX} levels");
    assert!(words.iter().chain([&&*limit]).all(|word| said.contains(word)), "{said}");
}

mod program {
    use talisman::prelude::*;

    /// A stack of undo records, one box in the other.
    #[derive(Pup, Default)]
    pub struct Undo {
        value: u64,
        before: Option<Box<Undo>>,
    }

    impl Undo {
        fn of(levels: u64) -> Self {
            (0..levels).fold(Undo::default(), |before, value| Undo { value, before: Some(Box::new(before)) })
        }

        fn levels(&self) -> u64 {
            let (mut at, mut levels) = (self, 0);
            while let Some(before) = &at.before {
                (at, levels) = (before, levels + 1);
            }
            levels
        }
    }

    #[derive(Pup)]
    pub struct Editor {
        undo: Undo,
    }

    #[chare(array1d)]
    impl Editor {
        #[init]
        fn new() -> Self {
            Editor { undo: Undo::default() }
        }

        #[entry]
        fn fill(&mut self, levels: u64) -> u64 {
            self.undo = Undo::of(levels);
            levels
        }

        #[entry(ack)]
        fn walk(&mut self, cx: &mut Cx<Self>, to: u32) {
            cx.migrate_to(to);
        }

        #[entry]
        fn levels(&self) -> u64 {
            self.undo.levels()
        }

        /// Sends as many levels to the other one.
        #[entry]
        fn send(&mut self, cx: &mut Cx<Self>, levels: u64, to: Callback<u64>) {
            cx.array().at(1).take(Undo::of(levels), to);
        }

        #[entry]
        fn take(&mut self, undo: Undo, to: Callback<u64>) {
            to.send(undo.levels());
        }

        /// Sends as many levels in one of the other ways.
        #[entry]
        fn send_by(&mut self, cx: &mut Cx<Self>, way: String, levels: u64, to: Callback<u64>) {
            let undo = Undo::of(levels);
            match &*way {
                "broadcast" => drop(cx.array().take(undo, to)),
                "multicast" => drop(cx.array().section([0, 1]).take(undo, to)),
                "share" => drop(cx.share(undo)),
                "callback" => cx.array().at(1).callback(Self::take).send((undo, to)),
                "prefix" => drop(cx.array().at(1).callback(Self::take).with(undo)),
                "array" => drop(Heavy::array(2).new(undo)),
                "single" => drop(Heavy::array(0).new(Undo::default()).insert(7).new(undo)),
                _ => unreachable!("a way that there is"),
            }
        }

        /// As many levels as its answer.
        #[entry]
        fn answer(&self, levels: u64) -> Undo {
            Undo::of(levels)
        }

        /// Sends values that are packed one by one.
        #[entry]
        fn send_flags(&mut self, cx: &mut Cx<Self>, flags: u64, to: Callback<u64>) {
            let values: Vec<Option<u8>> = (0..flags).map(|value| Some(value as u8)).collect();
            cx.array().at(1).take_flags(values, to);
        }

        #[entry]
        fn take_flags(&mut self, flags: Vec<Option<u8>>, to: Callback<u64>) {
            assert!(flags.iter().zip(0..).all(|(flag, value): (_, u64)| *flag == Some(value as u8)));
            to.send(flags.len() as u64);
        }
    }

    /// Made with what is too much.
    #[derive(Pup)]
    pub struct Heavy {
        undo: Undo,
    }

    #[chare(array1d)]
    impl Heavy {
        #[init]
        fn new(undo: Undo) -> Self {
            Heavy { undo }
        }

        #[entry]
        fn look(&self) -> u64 {
            self.undo.levels()
        }
    }

    #[derive(clap::Parser, Pup, Clone)]
    pub struct Options {
        pub what: String,
        pub size: u64,
    }

    #[derive(Pup)]
    pub struct Main {
        options: Options,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new(cx: &mut Cx<Self>, options: Options) -> Self {
            cx.me().run();
            Main { options }
        }

        #[entry]
        fn told(count: u64);

        #[entry]
        fn kept();

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>) {
            let last: u32 = cx.pes() - 1;
            let editors: Array<Editor> = Editor::array(2).new();
            let what: String = self.options.what.clone();
            let size: u64 = self.options.size;
            let mut got: u64 = 0;
            editors.at(1).walk(last).await;
            if what == "message" {
                editors.at(0).send(size, cx.callback(Self::told));
                let told: u64 = cx.when(Self::told).await;
                got = told;
            }
            if what == "answer" {
                let undo: Undo = editors.at(1).answer(size).await;
                got = undo.levels();
            }
            if let Some(way) = what.strip_prefix("by ") {
                editors.at(0).send_by(way.to_owned(), size, cx.callback(Self::told));
                let told: u64 = cx.when(Self::told).await;
                got = told;
            }
            if what == "flags" {
                editors.at(0).send_flags(size, cx.callback(Self::told));
                let told: u64 = cx.when(Self::told).await;
                got = told;
            }
            if what == "move" || what == "checkpoint" {
                let _filled: u64 = editors.at(1).fill(size).await;
                if what == "move" {
                    editors.at(1).walk(0).await;
                } else {
                    cx.checkpoint(cx.callback(Self::kept));
                    cx.when(Self::kept).await;
                }
                let levels: u64 = editors.at(1).levels().await;
                got = levels;
            }
            writeln!(cx.output(), "{got}");
            cx.exit();
        }
    }
}

fn run(test: &Test, what: &str, size: u64) -> Tested {
    test.run::<program::Main>((program::Options { what: what.to_owned(), size },))
}

#[test]
fn as_deep_as_may_be_is_sent_moved_and_kept() {
    let most = LEVELS_MAX as u64;
    for test in between_nodes() {
        for what in ["message", "move"] {
            assert_eq!(run(&test, what, most).output, [most.to_string()], "{what}");
        }
    }
    let test = with_checkpoints(Test::new().simulated(2, 5));
    assert_eq!(run(&test, "checkpoint", most).output, [most.to_string()]);
    for after in [60, 90, 120] {
        let back = run(&test.clone().going_back(after, &[1]), "checkpoint", most);
        assert_eq!(back.output, [most.to_string()], "back after {after} events");
    }
}

#[test]
fn a_deeper_message_is_refused_where_it_is_sent() {
    for (test, levels) in between_nodes().iter().zip([LEVELS_MAX as u64 + 1, 5000, 100_000]) {
        let words = [
            "Editor[0], entry `send`",
            "Editor::take` for",
            "Editor[1]",
            "no receiver can take",
            "take(undo).before.before.",
            "… Undo.before.before.",
        ];
        refused(&run(test, "message", levels), &words);
    }
}

/// Whatever is sent, and however: its sender, what it is, and the field.
#[test]
fn a_refusal_names_sender_message_and_field_in_every_manner() {
    let ways = [
        ("by broadcast", "limits::program::Editor::take` for many: take(undo).before."),
        ("by multicast", "limits::program::Editor::take` for many: take(undo).before."),
        ("by share", "limits::program::Undo`: Undo.before."),
        ("by callback", "the value of a callback: 0.before."),
        ("by prefix", "the value that a callback is given: Undo.before."),
        ("by array", "Heavy::new` for the elements of a new collection: new(undo).before."),
        ("by single", "Heavy::new` for a new element: new(undo).before."),
        ("answer", "an answer: Undo.before."),
    ];
    for (what, words) in ways {
        let sender =
            if what == "answer" { "Editor[1], entry `answer`" } else { "Editor[0], entry `send_by`" };
        refused(&run(&Test::new().simulated(2, 5), what, 3000), &[sender, words, "… Undo.before."]);
    }
}

/// Where a field of the state is too deep.
const PLACE: &str = "Editor.undo.before.before.before.before.before … Undo.before.";

#[test]
fn a_deeper_object_is_refused_where_it_leaves() {
    for (test, levels) in between_nodes().iter().zip([LEVELS_MAX as u64 + 1, 5000, 100_000]) {
        refused(&run(test, "move", levels), &["Editor[1] is to move to PE 0, which cannot take it", PLACE]);
    }
}

#[test]
fn a_deeper_object_is_refused_before_a_checkpoint_counts() {
    let nodes = [Test::new().simulated(2, 5), Test::new().nodes(2, Transport::Shm)];
    for (test, levels) in nodes.into_iter().zip([LEVELS_MAX as u64 + 1, 100_000]) {
        let tested = run(&with_checkpoints(test), "checkpoint", levels);
        refused(&tested, &["no checkpoint can take what", "Editor[1] has", PLACE]);
        assert!(tested.checkpoints.is_empty(), "none was committed");
    }
}

/// A job without nodes has no limit.
#[test]
fn within_a_process_nothing_is_packed() {
    let tested = run(&Test::new().pes(2), "move", 20_000);
    assert_eq!((tested.status, &*tested.output), (0, &["20000".to_owned()][..]));
}

#[test]
fn much_that_is_packed_value_by_value_arrives() {
    for test in between_nodes() {
        for flags in [1000, 131_066, 140_000, 600_000] {
            assert_eq!(run(&test, "flags", flags).output, [flags.to_string()]);
        }
    }
}
