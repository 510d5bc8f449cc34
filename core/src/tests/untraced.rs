//! A PE that is not traced does not look at what traces on a message's way within it: under valgrind, what says whether it is
//! traced may not be read meanwhile (`.ci/valgrind.py`). Without valgrind nothing is seen here.

use self::program::Main;
use super::memcheck;
use crate::lab::Lab;
use talisman_kernel::pe::Here;

/// Two objects on one PE play with a ball for ever: with plain arguments, and with such as have memory of their own.
mod program {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Player;

    #[chare(array1d)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, rounds: u64) {
            cx.array().at(1 - cx.index()).parcel(vec![rounds]);
        }

        #[entry]
        fn parcel(&mut self, cx: &mut Cx<Self>, rounds: Vec<u64>) {
            cx.array().at(1 - cx.index()).ball(rounds[0] + 1);
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            // Four PEs, two on each.
            Player::array(8).new().at(0).ball(0);
            Main
        }
    }
}

#[test]
fn a_message_on_its_pe_does_not_look_whether_it_is_traced() {
    const MESSAGES: u64 = 1_000;
    let mut lab = Lab::new::<Main>();
    lab.run(100);
    let pe = &lab.pes[0];
    let _here = Here::enter(pe);
    let before = pe.stats.run.get();
    assert!(before > 10, "they play");
    let state = pe.state_of_trace();
    state.iter().for_each(|(place, bytes)| memcheck::forbid(*place, *bytes));
    let ran = (0..MESSAGES).filter(|_| pe.run_one()).count() as u64;
    state.iter().for_each(|(place, bytes)| memcheck::allow(*place, *bytes));
    assert_eq!((ran, pe.stats.run.get() - before), (MESSAGES, MESSAGES), "all of them on this PE");
}
