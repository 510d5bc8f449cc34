//! Entries that call each other without a message: as messages would, and not for longer than others may wait.

use self::program::{Game, Main, PASSED, SEATS, SEEN, Stop};
use super::host::Host;
use crate::main_chare::create_main;

/// Two members of an array on PE 0 call each other in turn.
mod program {
    use std::cell::{Cell, RefCell};
    use std::ptr::NonNull;
    use std::time::{Duration, Instant};

    use crate::cx::Seat;
    use talisman::prelude::*;

    thread_local! {
        pub static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
        /// Where the two are.
        pub static SEATS: RefCell<[Option<Seat>; 2]> = const { RefCell::new([None; 2]) };
        /// How often a turn was passed.
        pub static PASSED: Cell<u32> = const { Cell::new(0) };
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
        /// They pass their turns within an entry, as virtual ranks do.
        pub passes: bool,
        /// This time the second of them moves to the next PE.
        pub moves: u32,
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
            SEATS.with_borrow_mut(|seats| seats[cx.index() as usize] = Some(cx.seat()));
            if cx.index() == 0 {
                cx.array().at(1).play(game);
                cx.me().go();
            }
        }

        #[entry]
        fn go(&mut self, cx: &mut Cx<Self>) {
            let mut at = NonNull::from(self);
            // SAFETY: the player whose turn it is; nobody else uses it.
            while let Some(next) = unsafe { at.as_mut() }.play_on(cx) {
                PASSED.set(PASSED.get() + 1);
                at = next;
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

    impl Player {
        /// Plays; the other one, if that has the turn now.
        fn play_on(&mut self, cx: &mut Cx<Self>) -> Option<NonNull<Player>> {
            let game = self.game?;
            self.played += 1;
            let name = if cx.index() == 0 { "ping" } else { "pong" };
            see(&if cx.pe() == 0 { name.to_owned() } else { format!("{name} on {}", cx.pe()) });
            let begun = Instant::now();
            while game.slow && begun.elapsed() < Duration::from_millis(1) {}
            if self.played == game.letter {
                cx.me().letter();
            }
            match game.stop {
                Stop::Timer if self.played == 2 => {
                    cx.after(Duration::from_nanos(1), cx.callback(Player::stop))
                }
                // It is on the other node.
                Stop::AnotherNode if self.played == 2 => cx.array().at(4).ask(cx.index()),
                _ => {}
            }
            let other = 1 - cx.index();
            if self.played == game.moves && other == 0 {
                SEATS.with_borrow_mut(|seats| seats[1] = None);
                cx.migrate_to(cx.pe() + 1);
            }
            if self.played >= game.times {
                return None;
            }
            let seat =
                SEATS.with_borrow(|seats| seats[other as usize]).filter(|_| game.passes && cx.pe() == 0);
            // SAFETY: it is where it was, and waits to be called.
            let next = seat.and_then(|seat| unsafe { cx.pass_turn(seat, Self::go) });
            if next.is_none() && !cx.call_next(other, Self::go) {
                see("message");
                cx.array().at(other).go();
            }
            next
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

const PLAIN: Game = Game { times: 3, letter: 0, slow: false, passes: false, moves: 0, stop: Stop::Nobody };

/// What they have done, and how many entries have run.
fn played(game: Game) -> (Vec<String>, u64) {
    SEATS.take();
    PASSED.take();
    let host = Host::without_estimates();
    create_main::<Main, _>(&host.pes[0], (game,));
    host.run(400);
    (SEEN.take(), host.ran())
}

fn seen(game: Game) -> Vec<String> {
    played(game).0
}

/// The same whether they call each other or pass their turns.
fn seen_both_ways(game: Game) -> Vec<String> {
    let called = played(game);
    let passed = played(Game { passes: true, ..game });
    assert_eq!(called, passed);
    assert!(PASSED.get() > 0);
    called.0
}

#[test]
fn they_call_each_other_without_a_message() {
    assert_eq!(seen_both_ways(PLAIN), ["ping", "pong", "ping", "pong", "ping"]);
}

#[test]
fn what_waits_in_the_queue_is_not_overtaken() {
    let expected = ["ping", "pong", "ping", "message", "letter", "pong", "message", "letter", "ping"];
    assert_eq!(seen_both_ways(Game { letter: 2, ..PLAIN }), expected);
}

#[test]
fn while_entries_are_long_the_turn_of_the_pe_comes_after_each() {
    assert_eq!(
        seen_both_ways(Game { slow: true, ..PLAIN }),
        ["ping", "pong", "message", "ping", "pong", "message", "ping"]
    );
}

#[test]
fn one_that_has_got_the_turn_moves_when_the_entry_has_ended() {
    let moved = seen_both_ways(Game { moves: 2, times: 4, ..PLAIN });
    let here = ["ping", "pong", "ping", "pong", "message"];
    assert_eq!(moved, [&here[..], &["ping", "message", "pong on 1", "message", "ping"]].concat());
}

/// Would never end but for the bound.
fn ends_by(stop: Stop) {
    ends_so(Game { times: 100_000, stop, ..PLAIN });
    ends_so(Game { times: 100_000, stop, passes: true, ..PLAIN });
    assert!(PASSED.get() > 0);
}

fn ends_so(game: Game) {
    let seen = seen(game);
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
