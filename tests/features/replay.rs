//! A PE is a machine that can be run again: given the same, it sends the same. These see that a test in that manner notices where it is not so.

use std::sync::atomic::{AtomicU64, Ordering};

use talisman::prelude::*;
use talisman::testing::Test;

/// Passes a number around a ring.
#[derive(Pup)]
struct Link {
    /// Whether it breaks the rule.
    cheats: bool,
}

/// What no PE is given: whoever reads it reads something else the next time.
static READS: AtomicU64 = AtomicU64::new(0);

#[chare(array1d)]
impl Link {
    #[init]
    fn new(cheats: bool) -> Self {
        Link { cheats }
    }

    #[entry]
    fn pass(&mut self, cx: &mut Cx<Self>, left: u64, size: i32, end: Callback<u64>) {
        if left == 0 {
            return end.send(left);
        }
        // Only how much is sent on is another number then, not how often.
        let more = if self.cheats && left == 5 { READS.fetch_add(1, Ordering::Relaxed) % 2 } else { 0 };
        cx.array().at((cx.index() + 1) % size).pass(left - 1 + more, size, end);
    }
}

/// A program that sends a number around.
macro_rules! ring {
    ($name:ident, $cheats:expr) => {
        mod $name {
            use talisman::prelude::*;

            use super::Link;

            #[derive(Pup)]
            pub struct Main;

            #[talisman::main]
            impl Main {
                #[init]
                fn new(cx: &mut Cx<Self>) -> Self {
                    let ring: Array<Link> = Link::array(6).new($cheats);
                    ring.at(0).pass(20, 6, cx.callback(Self::done));
                    Main
                }

                #[entry]
                fn done(&mut self, cx: &mut Cx<Self>, _left: u64) {
                    writeln!(cx.output(), "around");
                    cx.exit();
                }
            }
        }
    };
}

ring!(honest, false);
ring!(cheating, true);

#[test]
fn a_ring_sends_the_same_when_it_runs_again() {
    crate::common::same_everywhere::<honest::Main, _>(|| (), &["around"]);
}

#[test]
fn what_no_pe_is_given_is_noticed() {
    let tested = Test::new().pes(2).simulated(1, 1).verifying_replay().run::<cheating::Main>(());
    let message = tested.message.clone().unwrap_or_default();
    assert_eq!(tested.status, 1, "{message}");
    for part in
        ["does not do the same when it is given the same", "message 1 was to PE", "Link[", "after input"]
    {
        assert!(message.contains(part), "`{part}` is not in:\n{message}");
    }
}
