//! The same with `--tls`, and nobody on the way can read it.

use super::checks;
use super::cuts::{Harm, cut_traffic};
use super::pressure::bounds_its_sender;
use super::results::results;
use super::strangers::{ports, refused_and_named};
use crate::job::{Job, Scratch, Shape, program, run};
use crate::system::{Sniffer, rights};

checks!(
    leaves_the_results_the_same,
    loses_no_message_when_it_is_cut needs rights,
    loses_no_message_when_it_is_harmed needs rights,
    refuses_strangers,
    hides_what_is_said needs rights,
    bounds_what_waits,
    ends_in_order,
);

fn leaves_the_results_the_same() {
    for (name, words) in [
        ("jacobi3d", "--grid 21,13,10 --block 8,8,4 --steps 12"),
        ("leanmd", "--cells 3,3,2 --atoms-per-cell 20 --steps 20 --migrate-every 10"),
        ("pingpong", "--rounds 10 --bytes 3000000"),
    ] {
        let one = results(name, words, (1, 2, "shm"));
        for shape in [(4, 1, "tcp"), (3, 2, "mixed")] {
            assert_eq!(results(name, &format!("--tls {words}"), shape), one, "{name} {shape:?}");
        }
    }
}

fn loses_no_message_when_it_is_cut() {
    cut_traffic("--tls", (4, 2, "tcp"), 30, &[Harm::Shut, Harm::ShutHalf]);
}

fn loses_no_message_when_it_is_harmed() {
    cut_traffic("--tls", (3, 1, "mixed"), 12, &[Harm::Steal, Harm::Add]);
}

fn refuses_strangers() {
    refused_and_named("--tls");
}

fn bounds_what_waits() {
    bounds_its_sender("--tls", "tcp", 500);
}

fn hides_what_is_said() {
    let (bytes, found) = record_enough("");
    assert!(bytes > 1 << 20 && found, "this would not find anything: {bytes}");
    let (bytes, found) = record_enough("--tls");
    assert!(bytes > 1 << 20 && !found, "of {bytes} bytes some can be read");
}

/// The same until much was heard: what other tests say at the same time can drown it.
fn record_enough(options: &str) -> (usize, bool) {
    let mut heard = record(options);
    for _ in 0..20 {
        if heard.0 > 1 << 20 {
            break;
        }
        heard = record(options);
    }
    heard
}

/// Records messages that are full of one byte; how many bytes were said, and whether they look like that.
fn record(options: &str) -> (usize, bool) {
    let wake = Scratch::new("wake");
    let words = format!("{options} flood --sender 0 --messages 40 --bytes 100000 --wake {}", wake.name());
    let job = Job::start(program(&words, (2, 1, "tcp")));
    job.wait_for("asleep");
    let ports = ports(&job, 2);
    let sniffer = Sniffer::new();
    wake.touch();
    job.end().expect(0, &[]).quietly();
    sniffer.has_heard(&ports, &[30; 256])
}

fn ends_in_order() {
    const SHAPE: Shape = (4, 2, "tcp");
    let ended = run(program("--tls traffic --messages 200", SHAPE)).expect(0, &[]).quietly();
    ended.prints("1600 sent, 1600 received");
    run(program("--tls traffic --exit-after 100", SHAPE)).expect(7, &[]).quietly().at_once();
    run(program("--tls traffic --panic-after 100", SHAPE)).expect(1, &["(node 2) panicked"]).at_once();
}
