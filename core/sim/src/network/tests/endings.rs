//! How connections begin and end: dials, closing, crashes, hosts that fall silent.

use super::*;
use Side::{Acceptor, Dialler};

fn crash(bench: &mut Bench, node: u32) {
    bench.act(|network, now, planned| network.crash(now, node, planned));
}

fn lose_host(bench: &mut Bench, host: u32) {
    bench.act(|network, now, planned| network.lose_host(now, host, planned));
}

fn restore_host(bench: &mut Bench, host: u32) {
    bench.act(|network, now, planned| network.restore_host(now, host, planned));
}

#[test]
fn a_dial_takes_a_latency_each_way() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.dial(0, 1);
    bench.run();
    assert_eq!(bench.happened, [(10_000, Happening::Dialled(conn)), (20_000, Happening::Connected(conn))]);
}

#[test]
fn where_nobody_listens_dials_are_refused_and_forgotten() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    bench.network.listening(1, false);
    let conn = bench.dial(0, 1);
    bench.run();
    assert_eq!(bench.happened, [(20_000, Happening::Refused(conn))]);
    assert_eq!(bench.network.connections(), 0);
}

/// Whoever is on another host has another address.
#[test]
fn a_dial_to_a_node_that_has_moved_meanwhile_is_refused() {
    let mut bench = Bench::new(&exact(&[1, 1, 1]));
    let conn = bench.dial(0, 1);
    bench.network.put(1, 2);
    bench.run();
    assert_eq!(bench.take(), [Happening::Refused(conn)]);
    bench.connect(0, 1);
}

#[test]
fn what_was_written_before_closing_arrives_then_the_end() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    let bytes = numbered(300_000);
    bench.write(conn, Dialler, &bytes);
    bench.write(conn, Acceptor, b"nobody reads this");
    bench.shut(conn, Dialler);
    assert_eq!(bench.write(conn, Dialler, b"too late"), 8);
    bench.run();
    let (came, others) = bench.take_bytes(conn, Acceptor);
    assert!(came == bytes);
    assert_eq!(others, [Happening::Ended { conn, side: Acceptor }]);
    assert_eq!(bench.network.connections(), 0);
    assert_eq!(bench.write(conn, Acceptor, b"to nobody"), 9);
    bench.shut(conn, Acceptor);
    assert!(bench.events.is_empty());
}

#[test]
fn who_closes_a_dial_hears_no_answer() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let early = bench.dial(0, 1);
    bench.shut(early, Dialler);
    assert_eq!(bench.network.connections(), 0);
    bench.run();
    assert_eq!(bench.take(), []);
    let late = bench.dial(0, 1);
    bench.run_for(15_000);
    bench.shut(late, Dialler);
    bench.run();
    assert_eq!(bench.take(), [Happening::Dialled(late), Happening::Ended { conn: late, side: Acceptor }]);
    assert_eq!(bench.network.connections(), 0);
}

#[test]
fn an_acceptor_that_closes_at_once_is_connected_before() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.dial(0, 1);
    bench.run_for(15_000);
    bench.write(conn, Acceptor, b"go away");
    bench.shut(conn, Acceptor);
    bench.run();
    let (came, others) = bench.take_bytes(conn, Dialler);
    assert_eq!(came, b"go away");
    let ended = Happening::Ended { conn, side: Dialler };
    assert_eq!(others, [Happening::Dialled(conn), Happening::Connected(conn), ended]);
}

#[test]
fn what_a_crashed_node_wrote_arrives_and_its_port_refuses() {
    let mut bench = Bench::new(&exact(&[1, 1, 1]));
    let (to, from) = (bench.connect(1, 0), bench.connect(0, 2));
    bench.write(to, Acceptor, b"last words");
    let waiting = bench.dial(2, 0);
    crash(&mut bench, 0);
    bench.run();
    let (came, others) = bench.take_bytes(to, Dialler);
    assert_eq!(came, b"last words");
    assert!(others.contains(&Happening::Ended { conn: to, side: Dialler }));
    assert!(others.contains(&Happening::Ended { conn: from, side: Acceptor }));
    assert!(others.contains(&Happening::Refused(waiting)));
    assert_eq!((others.len(), bench.network.connections()), (3, 0));
    bench.network.listening(0, true);
    bench.connect(1, 0);
}

#[test]
fn a_lost_host_is_silent_for_ever() {
    let mut bench = Bench::new(&exact(&[2, 1]));
    let (conn, within) = (bench.connect(2, 0), bench.connect(0, 1));
    bench.write(conn, Acceptor, b"under way");
    bench.write(conn, Dialler, b"held");
    let asked = bench.dial(2, 1);
    bench.run_for(5_000);
    lose_host(&mut bench, 0);
    assert_eq!(bench.network.node_at(within, Dialler), None);
    let start = bench.now;
    let refused = bench.dial(2, 1);
    bench.run();
    assert_eq!(bench.take(), [Happening::Refused(asked), Happening::Refused(refused)]);
    assert_eq!(bench.now, start + SECOND);
    assert_eq!(bench.network.host_control(bench.now, 0, 1, 1), None);
    assert_eq!(bench.network.host_control(bench.now, 1, 0, 1), None);
    // Only its peer can end it.
    assert_eq!(bench.network.connections(), 1);
    bench.shut(conn, Dialler);
    assert_eq!(bench.network.connections(), 0);
}

#[test]
fn who_writes_to_a_lost_host_runs_out_of_room() {
    let mut plan = exact(&[1, 1]);
    plan.limits.socket_bytes = 10;
    let mut bench = Bench::new(&plan);
    let conn = bench.connect(0, 1);
    bench.shut(conn, Acceptor);
    lose_host(&mut bench, 1);
    assert_eq!(bench.write(conn, Dialler, &[1; 20]), 10);
    bench.run();
    assert_eq!(bench.write(conn, Dialler, &[1; 20]), 0);
    assert_eq!(bench.take(), []);
}

#[test]
fn a_host_that_is_back_resets_what_it_has_forgotten() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let (speaking, silent) = (bench.connect(0, 1), bench.connect(0, 1));
    lose_host(&mut bench, 1);
    bench.write(speaking, Dialler, b"are you there?");
    bench.run();
    restore_host(&mut bench, 1);
    bench.run();
    assert_eq!(bench.take(), [Happening::Reset { conn: speaking, side: Dialler }]);
    let refused = bench.dial(0, 1);
    bench.run();
    assert_eq!(bench.take(), [Happening::Refused(refused)]);
    assert_eq!(bench.network.connections(), 1);
    bench.network.listening(1, true);
    bench.connect(0, 1);
    bench.write(silent, Dialler, b"and you?");
    bench.run();
    assert_eq!(bench.take(), [Happening::Reset { conn: silent, side: Dialler }]);
}
