//! Entries that call each other without a message: as messages would, and not for longer than others may wait.

use self::program::{Game, Main, SEEN, Stop};
use super::host::Host;
use crate::main_chare::create_main;

/// Two members of an array on PE 0 call each other in turn.
mod program {
    use std::cell::RefCell;
    use std::time::{Duration, Instant};

    use talisman::prelude::*;

    thread_local! {
        pub static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn see(what: &str) {
        SEEN.with_borrow_mut(|seen| seen.push(what.into()));
    }

    /// How they play.
    #[derive(clap::Parser, Clone, Copy, Debug, Pup)]
    pub struct Game {
        /// So often at most.
        pub times: u32,
        /// This time a message is sent before the other one is called.
        pub letter: u32,
        pub slow: bool,
        #[arg(skip)]
        pub stop: Stop,
    }

    /// Who ends it before.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
    pub enum Stop {
        #[default]
        Nobody,
        AnotherNode,
        Timer,
    }

    #[derive(Pup)]
    struct Player {
        game: Option<Game>,
        played: u32,
    }

    #[chare(array1d)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { game: None, played: 0 }
        }

        #[entry]
        fn play(&mut self, cx: &mut Cx<Self>, game: Game) {
            self.game = Some(game);
            if cx.index() == 0 {
                cx.array().at(1).play(game);
                cx.me().go();
            }
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            let Some(game) = self.game else { return };
            self.played += 1;
            see(if cx.index() == 0 { "ping" } else { "pong" });
            let begun = Instant::now();
            while game.slow && begun.elapsed() < Duration::from_millis(1) {}
            if self.played == game.letter {
                cx.me().letter();
            }
            match game.stop {
                Stop::Timer if self.played == 2 => cx.after(Duration::from_nanos(1), cx.callback(Self::stop)),
                // It is on the other node.
                Stop::AnotherNode if self.played == 2 => cx.array().at(4).ask(cx.index()),
                _ => {}
            }
            let other = 1 - cx.index();
            if self.played < game.times && !cx.call_next(other, Self::go) {
                see("message");
                cx.array().at(other).go();
            }
        }

        #[entry]
        fn letter(&mut self) {
            see("letter");
        }

        #[entry]
        fn ask(&mut self, cx: &mut Cx<Self>, who: i32) {
            cx.array().at(who).stop();
        }

        #[entry]
        fn stop(&mut self) {
            see("stop");
            self.game = None;
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(game: Game) -> Self {
            // Two on each PE.
            let players = Player::array(8).map(Map::Block).new();
            players.at(0).play(game);
            Main
        }
    }
}

const PLAIN: Game = Game { times: 3, letter: 0, slow: false, stop: Stop::Nobody };

fn seen(game: Game) -> Vec<String> {
    let host = Host::new();
    create_main::<Main, _>(&host.pes[0], (game,));
    host.run(400);
    SEEN.take()
}

#[test]
fn they_call_each_other_without_a_message() {
    assert_eq!(seen(PLAIN), ["ping", "pong", "ping", "pong", "ping"]);
}

#[test]
fn what_waits_in_the_queue_is_not_overtaken() {
    let expected = ["ping", "pong", "ping", "message", "letter", "pong", "message", "letter", "ping"];
    assert_eq!(seen(Game { letter: 2, ..PLAIN }), expected);
}

#[test]
fn while_entries_are_long_the_turn_of_the_pe_comes_after_each() {
    assert_eq!(
        seen(Game { slow: true, ..PLAIN }),
        ["ping", "pong", "message", "ping", "pong", "message", "ping"]
    );
}

/// Would never end but for the bound.
fn ends_by(stop: Stop) {
    let seen = seen(Game { times: 100_000, stop, ..PLAIN });
    let count = |what: &str| seen.iter().filter(|seen| **seen == what).count();
    assert!(count("stop") > 0);
    assert!(count("message") > 0, "after many in a row it is a message");
    let played = count("ping") + count("pong");
    assert!((4..6_000).contains(&played), "{played}");
}

#[test]
fn what_another_node_says_is_heard_between() {
    ends_by(Stop::AnotherNode);
}

#[test]
fn timers_fire_between() {
    ends_by(Stop::Timer);
}
