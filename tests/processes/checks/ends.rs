//! How programs end by themselves while messages are on their way.

use super::checks;
use crate::job::{program, run};

checks!(in_order, with_a_status_from_the_last_node, by_a_panic_on_another_node);

const TRANSPORTS: [&str; 3] = ["tcp", "shm", "mixed"];

fn in_order() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --messages 200", (4, 2, transport))).expect(0, &[]).quietly();
        assert_eq!(
            ended.stdout.last().map(String::as_str),
            Some("1600 sent, 1600 received"),
            "{}",
            ended.said()
        );
    }
}

fn with_a_status_from_the_last_node() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --exit-after 100", (4, 1, transport)));
        ended.expect(7, &[]).quietly().at_once();
    }
}

fn by_a_panic_on_another_node() {
    for transport in TRANSPORTS {
        let ended = run(program("traffic --panic-after 100", (4, 2, transport)));
        ended.expect(1, &["error: ", "Talker", "this one was asked to panic", "node 2"]).at_once();
    }
}
