//! Chares that other PEs ask for, and what comes for them before they are made.

use self::program::Main;
use crate::lab::Lab;

pub mod program {
    use talisman::prelude::*;

    /// Hears numbers, which have to come in order.
    #[derive(Pup)]
    struct Hearer {
        next: u32,
    }

    #[chare(single)]
    impl Hearer {
        #[init]
        fn new() -> Self {
            Hearer { next: 0 }
        }

        #[entry]
        fn hear(&mut self, cx: &mut Cx<Self>, number: u32, same: Vec<u32>) {
            assert_eq!((number, same), (self.next, vec![self.next; 9]));
            self.next += 1;
            if self.next == 3 {
                cx.destroy();
                Main::main_chare().heard();
            }
        }
    }

    #[derive(Pup)]
    pub struct Main {
        left: u32,
    }

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            // On another PE of the node, and on one of another node.
            for pe in [1, 2] {
                let one = Hearer::chare().on(pe).new();
                (0..3).for_each(|number| one.hear(number, vec![number; 9]));
            }
            Main { left: 2 }
        }

        #[entry]
        fn heard(&mut self, cx: &mut Cx<Self>) {
            self.left -= 1;
            if self.left == 0 {
                cx.exit();
            }
        }
    }
}

#[test]
fn calls_right_behind_what_makes_their_chare_wait_in_the_queue_and_nowhere_else() {
    let mut lab = Lab::new::<Main>();
    let mut queued = 0;
    while lab.how_it_ended().0 == -1 {
        lab.run(1);
        queued = queued.max(lab.pes[1].waiting_messages());
        for pe in &lab.pes {
            let awaited: Vec<_> = pe.collections.iter().flat_map(|collection| collection.awaited()).collect();
            assert_eq!(awaited, [], "on PE {}", pe.id);
        }
    }
    assert_eq!(lab.how_it_ended(), (0, None));
    assert!(queued >= 3, "what comes for one of them has not been there before it was made");
}
