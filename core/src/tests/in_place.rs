//! Messages in the midst of an entry: sent from where their arguments are, and heard where it waits for them.

use self::program::{Main, SEEN, Told};
use super::host::Host;
use crate::main_chare::create_main;

/// A member on one node tells another one numbers, which are heard in an entry of that.
mod program {
    use std::cell::RefCell;
    use std::time::{Duration, Instant};

    use talisman::prelude::*;
    use talisman_pup::from_bytes;

    use crate::cx::{Heard, Hearing};

    thread_local! {
        pub static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn see(what: String) {
        SEEN.with_borrow_mut(|seen| seen.push(what));
    }

    /// What is told. One number is not taken where it is heard, and the entry may have gone on for long.
    #[derive(clap::Parser, Clone, Copy, Debug, Pup)]
    pub struct Told {
        pub refused: u64,
        pub late: bool,
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
        fn tell(&mut self, cx: &mut Cx<Self>, how: Told) {
            let other = cx.group().on(0);
            other.listen(how);
            for number in [1_u64, 2] {
                let is_sent = cx.call_in_place(&other, Self::number, |l| number.pack(l.packer()), &[]);
                assert!(is_sent, "to another node");
            }
            other.number(3);
            other.letter('a');
            other.number(4);
            let own = cx.me();
            assert!(!cx.call_in_place(&own, Self::number, |_| unreachable!(), &[]), "it is here");
        }

        #[entry]
        fn listen(&mut self, cx: &mut Cx<Self>, how: Told) {
            let mut hearing = if how.late { Hearing::default() } else { Hearing::for_ticks(u64::MAX) };
            let mut hear = || {
                cx.hear_in_place(Self::number, &mut hearing, false, &mut |packed, _| {
                    let number: u64 = from_bytes(packed).expect("packed as arguments are");
                    see(format!("heard {number}"));
                    number != how.refused
                })
            };
            while hear() == Heard::Taken {
                let begun = Instant::now();
                while how.late && begun.elapsed() < Duration::from_millis(1) {}
            }
            assert_eq!(hear(), Heard::Other, "something else is to be done");
            see("ends".into());
        }

        #[entry]
        fn number(&mut self, _: &mut Cx<Self>, number: u64) {
            see(format!("number {number}"));
        }

        #[entry]
        fn letter(&mut self, _: &mut Cx<Self>, letter: char) {
            see(format!("letter {letter}"));
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new(how: Told) -> Self {
            Member::group().new().on(2).tell(how);
            Main
        }
    }
}

/// What is heard and what runs, in order. All messages that were sent have been counted as received.
fn seen(refused: u64, late: bool) -> Vec<String> {
    let host = Host::new();
    create_main::<Main, _>(&host.pes[0], (Told { refused, late },));
    host.run(100);
    let sum = |count: fn(&talisman_observe::stats::Stats) -> u64| -> u64 {
        host.pes.iter().map(|pe| count(&pe.stats)).sum()
    };
    assert_eq!(sum(|stats| stats.sent.get()), sum(|stats| stats.received.get()));
    SEEN.take()
}

#[test]
fn calls_are_heard_in_their_order_until_something_else_comes() {
    let expected = ["heard 1", "heard 2", "heard 3", "ends", "letter a", "number 4"];
    assert_eq!(seen(0, false), expected);
}

#[test]
fn what_is_not_taken_runs_in_its_turn_and_nothing_overtakes_it() {
    let expected = ["heard 1", "heard 2", "ends", "number 2", "number 3", "letter a", "number 4"];
    assert_eq!(seen(2, false), expected);
}

#[test]
fn an_entry_that_has_gone_on_for_long_hears_nothing_more() {
    let expected = ["heard 1", "ends", "number 2", "number 3", "letter a", "number 4"];
    assert_eq!(seen(0, true), expected);
}
