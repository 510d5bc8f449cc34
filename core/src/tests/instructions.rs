//! How many instructions a message takes, on each of its ways: two nodes of two PEs each, in one thread, linked as processes of one host
//! are. `.ci/instructions.py` runs each of these tests under callgrind, which counts between two calls of [`callgrind::toggle`]. Without
//! callgrind they see that all messages come.

use self::program::{Main, Throw};
use super::callgrind;
use super::host::{Host, turn};
use crate::main_chare::create_main;
use talisman_base::ids::PeId;
use talisman_kernel::pe::Pe;

/// Two players throw a ball to and fro for ever.
mod program {
    use talisman::prelude::*;

    /// Between PE 0 and which, and what: so many bytes, or a number if there are none.
    #[derive(clap::Parser, Clone, Copy, Debug, Pup)]
    pub struct Throw {
        pub other: u32,
        pub bytes: usize,
    }

    #[derive(Pup)]
    struct Player {
        other: u32,
    }

    #[chare(group)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { other: 0 }
        }

        /// The first one begins when the second one knows of it.
        #[entry]
        fn meet(&mut self, cx: &mut Cx<Self>, other: u32, bytes: usize) {
            self.other = other;
            match bytes {
                _ if cx.pe() == 0 && other != 0 => cx.group().on(other).meet(0, bytes),
                0 => cx.group().on(other).number(0),
                _ => cx.group().on(other).bytes(vec![1; bytes]),
            }
        }

        #[entry]
        fn number(&mut self, cx: &mut Cx<Self>, thrown: u64) {
            cx.group().on(self.other).number(thrown + 1);
        }

        #[entry]
        fn bytes(&mut self, cx: &mut Cx<Self>, bytes: Vec<u8>) {
            cx.group().on(self.other).bytes(bytes);
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(throw: Throw) -> Self {
            Player::group().new().on(0).meet(throw.other, throw.bytes);
            Main
        }
    }
}

/// Rounds in which each PE has a turn: until they play, and while it is counted. `.ci/instructions.py` knows how many messages that are.
const BEFORE: usize = 200;
const MESSAGES: u64 = 2_000;

fn playing(other: PeId, bytes: usize) -> Host {
    let host = Host::new();
    create_main::<Main, _>(&host.pes[0], (Throw { other, bytes },));
    host.run(BEFORE);
    host
}

/// Throws between PE 0 and another, and counts.
fn count(other: PeId, bytes: usize) {
    let host = playing(other, bytes);
    let players: Vec<&Pe> =
        if other == 0 { vec![&host.pes[0]] } else { vec![&host.pes[0], &host.pes[other as usize]] };
    let before = host.ran();
    callgrind::toggle();
    while host.ran() - before < MESSAGES {
        players.iter().for_each(|pe| turn(pe));
    }
    callgrind::toggle();
    assert!(host.ran() - before < MESSAGES + 2, "one ball is in the air");
}

/// All elements of a group or of an array answer a broadcast, again and again.
mod asking {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Member;

    #[chare(group)]
    impl Member {
        #[init]
        fn new() -> Self {
            Member
        }

        #[entry]
        fn one(&mut self) -> u64 {
            1
        }

        #[entry]
        async fn ask_members(&mut self, cx: &mut Cx<Self>) {
            loop {
                let _all: u64 = cx.group().one().reduce(Sum).await;
            }
        }

        #[entry]
        async fn ask_elements(&mut self, elements: u32) {
            let all: Array<Element> = Element::array(elements as i32).new();
            loop {
                let _all: u64 = all.one().reduce(Sum).await;
            }
        }
    }

    #[derive(Pup)]
    struct Element;

    #[chare(array1d)]
    impl Element {
        #[init]
        fn new() -> Self {
            Element
        }

        #[entry]
        fn one(&mut self) -> u64 {
            1
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        /// Of so many elements, or the members of a group.
        #[init]
        fn new(elements: u32) -> Self {
            let first = Member::group().new().on(0);
            if elements == 0 {
                first.ask_members()
            } else {
                first.ask_elements(elements)
            }
            Main
        }
    }
}

/// Broadcasts whose answers are reduced, until so many entries have run.
fn count_rounds(elements: u32, entries: u64) {
    let host = Host::alone();
    create_main::<asking::Main, _>(&host.pes[0], (elements,));
    host.run(BEFORE);
    let before = host.ran();
    callgrind::toggle();
    while host.ran() - before < entries {
        host.pes.iter().for_each(turn);
    }
    callgrind::toggle();
    assert!(host.ran() - before < entries + u64::from(elements) + 3, "there is one at a time");
}

#[test]
fn a_broadcast_and_its_reduction_over_two_pes() {
    // Two members and whoever waits.
    count_rounds(0, 3 * MESSAGES);
}

#[test]
fn an_element_that_answers_a_broadcast() {
    count_rounds(1_000, MESSAGES);
}

#[test]
fn a_number_on_a_pe() {
    count(0, 0);
}

#[test]
fn a_number_between_pes() {
    count(1, 0);
}

#[test]
fn a_number_between_nodes() {
    count(2, 0);
}

#[test]
fn bytes_between_nodes() {
    count(2, 1024);
}
