//! How many waves there are in a job of four PEs that is taken forward by hand.

use self::program::Main;
use crate::lab::Lab;
use crate::quiescence::QuiescenceOnPe;
use talisman_kernel::message::service::Service;
use talisman_kernel::pe::Here;

/// A ball goes round for ever: no two PEs have it at a time, and others are idle.
mod program {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Player;

    #[chare(group)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, left: u64) {
            if left > 0 {
                cx.group().on((cx.pe() + 3) % cx.pes()).ball(left - 1);
            }
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let players = Player::group().new();
            players.on(0).ball(u64::MAX);
            Main
        }
    }
}

/// Messages of the detection between the two nodes so far.
fn said(lab: &Lab) -> usize {
    lab.frames().iter().filter(|frame| frame.is_of(Service::Quiescence)).count()
}

fn suspect(lab: &Lab) {
    let _here = Here::enter(&lab.pes[0]);
    lab.pes[0].suspect_stuck();
}

#[test]
fn a_suspicion_that_was_wrong_costs_one_wave() {
    let mut lab = Lab::new::<Main>();
    lab.run(300);
    assert_eq!(said(&lab), 0, "nobody suspects anything while the ball goes round");
    suspect(&lab);
    lab.run(20);
    let wave = said(&lab);
    assert!(wave > 0, "a wave has begun");
    lab.run(2_000);
    assert!(!lab.pes[0].detector().is_counting(), "it is over");
    assert_eq!(said(&lab), wave, "and no other has followed");
    suspect(&lab);
    lab.run(2_000);
    assert_eq!(said(&lab), 2 * wave, "the next suspicion has one wave too");
}
