//! Cuts between hosts.

use super::*;
use Side::{Acceptor, Dialler};

#[test]
fn what_is_held_by_a_cut_goes_on_in_order_when_it_is_mended() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    let bytes = numbered(600_000);
    bench.write(conn, Dialler, &bytes[..300_000]);
    bench.run_for(100_000);
    bench.network.cut(&[0], &[1]);
    bench.write(conn, Dialler, &bytes[300_000..]);
    bench.write(conn, Acceptor, b"this passes");
    bench.run();
    let (mut came, others) = bench.take_bytes(conn, Acceptor);
    assert!(!came.is_empty() && came.len() < 100_000, "{}", came.len());
    assert_eq!(others, [Happening::Arrived { conn, side: Dialler, bytes: b"this passes".to_vec() }]);
    bench.run_for(MILLISECOND);
    let start = bench.now;
    bench.mend(&[0], &[1]);
    bench.run();
    // It takes latency and bandwidth again.
    let least = 10_000 + (bytes.len() - came.len()) as u64;
    assert!((least - 600..=least).contains(&(bench.now - start)), "{} {least}", bench.now - start);
    came.extend(bench.take_bytes(conn, Acceptor).0);
    assert!(came == bytes);
}

#[test]
fn a_cut_that_is_mended_before_anything_arrives_is_not_noticed() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    let start = bench.now;
    bench.write(conn, Dialler, &[1]);
    bench.network.cut(&[0], &[1]);
    bench.run_for(5_000);
    bench.mend(&[0], &[1]);
    bench.run();
    assert_eq!(bench.happened[0].0, start + 10_001);
}

#[test]
fn cuts_nest() {
    let mut bench = Bench::new(&exact(&[1, 1, 1]));
    let conn = bench.connect(0, 1);
    bench.network.cut(&[0], &[1]);
    bench.network.cut(&[0, 1], &[0, 1, 2]);
    bench.write(conn, Dialler, &[1]);
    bench.mend(&[0], &[1]);
    bench.run();
    assert_eq!(bench.take(), []);
    assert!(!bench.network.passes(0, 1) && !bench.network.passes(0, 2) && bench.network.passes(2, 0));
    assert!(bench.network.passes(0, 0));
    bench.mend(&[0, 1], &[0, 1, 2]);
    bench.run();
    assert_eq!(bench.take_bytes(conn, Acceptor).0, [1]);
    // To mend what is whole changes nothing: the next cut is one.
    bench.mend(&[0], &[1]);
    bench.network.cut(&[0], &[1]);
    assert!(!bench.network.passes(0, 1));
}

#[test]
fn a_writer_whose_acknowledgements_are_cut_off_runs_out_of_room() {
    let mut plan = exact(&[1, 1]);
    plan.limits.socket_bytes = 10;
    let mut bench = Bench::new(&plan);
    let conn = bench.connect(0, 1);
    bench.network.cut(&[1], &[0]);
    bench.write(conn, Dialler, &[1; 20]);
    bench.run();
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![1; 10], vec![]));
    assert_eq!(bench.write(conn, Dialler, &[1; 20]), 0);
    bench.mend(&[1], &[0]);
    bench.run();
    assert_eq!(bench.take(), [Happening::Room { conn, side: Dialler }]);
    assert_eq!(bench.write(conn, Dialler, &[1; 20]), 10);
}

#[test]
fn a_dial_through_a_cut_is_given_up_after_a_second() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut bench = Bench::new(&exact(&[1, 1]));
        bench.network.cut(&[from], &[to]);
        let conn = bench.dial(0, 1);
        bench.run();
        // If only the answer was cut off, the other side knows of a connection, and hears of its end.
        let known =
            [Happening::Dialled(conn), Happening::Refused(conn), Happening::Ended { conn, side: Acceptor }];
        let expected = if from == 0 { &known[1..2] } else { &known[..] };
        assert_eq!(bench.take(), expected);
        assert!((SECOND..=SECOND + 10_000).contains(&bench.now), "{}", bench.now);
        assert_eq!(bench.network.connections(), 0);
    }
}

#[test]
fn a_dial_succeeds_if_the_cut_is_mended_in_time() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut bench = Bench::new(&exact(&[1, 1]));
        bench.network.cut(&[from], &[to]);
        let conn = bench.dial(0, 1);
        bench.run_for(SECOND / 2);
        bench.mend(&[from], &[to]);
        bench.run();
        assert_eq!(bench.take(), [Happening::Dialled(conn), Happening::Connected(conn)]);
        assert_eq!(bench.network.connections(), 1);
    }
}

#[test]
fn a_cut_that_begins_under_a_dial_is_one_too() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.dial(0, 1);
    bench.run_for(12_000);
    bench.network.cut(&[1], &[0]);
    bench.run();
    let ended = Happening::Ended { conn, side: Acceptor };
    assert_eq!(bench.take(), [Happening::Dialled(conn), Happening::Refused(conn), ended]);
}

#[test]
fn the_end_waits_for_the_mending_too() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    bench.network.cut(&[0], &[1]);
    bench.write(conn, Dialler, b"farewell");
    bench.shut(conn, Dialler);
    bench.run();
    assert_eq!((bench.take(), bench.network.connections()), (vec![], 1));
    bench.mend(&[0], &[1]);
    bench.run();
    let ended = Happening::Ended { conn, side: Acceptor };
    assert_eq!(bench.take_bytes(conn, Acceptor), (b"farewell".to_vec(), vec![ended]));
}

#[test]
fn control_messages_wait_for_the_mending() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    bench.network.cut(&[0], &[1]);
    assert_eq!(bench.network.host_control(0, 0, 1, 10), None);
    assert_eq!(bench.network.host_control(0, 1, 0, 10), Some(10_010));
    bench.mend(&[0], &[1]);
    assert_eq!(bench.network.host_control(50, 0, 1, 10), Some(10_060));
}

#[test]
fn healing_mends_all_cuts() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    bench.network.cut(&[0], &[1]);
    bench.network.cut(&[0], &[1]);
    bench.write(conn, Dialler, &[1]);
    bench.act(|network, now, planned| network.heal(now, planned));
    bench.run();
    assert_eq!(bench.take_bytes(conn, Acceptor).0, [1]);
    // What was to be mended later is mended already.
    bench.mend(&[0], &[1]);
    assert!(bench.network.passes(0, 1));
}
