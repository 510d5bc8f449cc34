//! What goes wrong with single chunks.

use super::*;
use crate::plan::Rates;
use Side::{Acceptor, Dialler};

const ALWAYS: u32 = 1_000_000;

/// A connection that was made before these rates came.
fn with_rates(rates: Rates) -> (Bench, ConnId) {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    bench.network.ways.harms.set_rates(rates);
    (bench, conn)
}

fn bits_changed(one: &[u8], other: &[u8]) -> u32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
}

#[test]
fn what_is_lost_comes_later_and_what_follows_waits_behind() {
    let (mut bench, conn) = with_rates(Rates { lost_ppm: ALWAYS, ..Rates::default() });
    let start = bench.now;
    bench.write(conn, Dialler, &[1]);
    bench.network.ways.harms.set_rates(Rates::default());
    bench.write(conn, Dialler, &[2]);
    bench.run();
    // Four times in a row, each time twice as long.
    let came = start + 10_001 + 15 * 200 * MILLISECOND;
    assert_eq!(bench.happened[1].0, came);
    assert_eq!(bench.now, came + 1);
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![1, 2], vec![Happening::Note("lost")]));
}

#[test]
fn losses_in_a_row_are_as_rare_as_they_should_be() {
    let (mut bench, conn) = with_rates(Rates { lost_ppm: ALWAYS / 10, ..Rates::default() });
    let mut times = [0; 5];
    for _ in 0..20_000 {
        let start = bench.now;
        bench.write(conn, Dialler, &[1]);
        bench.run();
        let lost = [0, 1, 3, 7, 15].map(|k| 10_001 + k * 200 * MILLISECOND);
        times[lost.iter().position(|took| *took == bench.now - start).expect("one of these delays")] += 1;
    }
    assert!((17_700..18_300).contains(&times[0]), "{times:?}");
    assert!((1_600..2_000).contains(&times[1]) && (130..230).contains(&times[2]), "{times:?}");
}

#[test]
fn what_is_doubled_costs_time_only() {
    let (mut bench, conn) = with_rates(Rates { doubled_ppm: ALWAYS, ..Rates::default() });
    let start = bench.now;
    bench.write(conn, Dialler, &[5; 1_000]);
    bench.run();
    assert_eq!(bench.now - start, 10_000 + 2_000);
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![5; 1_000], vec![Happening::Note("doubled")]));
}

#[test]
fn what_is_altered_differs_in_a_bit() {
    let (mut bench, conn) = with_rates(Rates { altered_ppm: ALWAYS, ..Rates::default() });
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..100 {
        bench.write(conn, Dialler, &[0; 64]);
        bench.run();
        let (came, notes) = bench.take_bytes(conn, Acceptor);
        assert_eq!(bits_changed(&came, &vec![0; came.len()]) as usize, notes.len());
        places.extend(came.iter().position(|byte| *byte != 0));
    }
    assert!(places.len() > 30, "{places:?}");
}

#[test]
fn what_is_truncated_breaks_both_ends() {
    let (mut bench, conn) = with_rates(Rates { truncated_ppm: ALWAYS, ..Rates::default() });
    let bytes = numbered(1_000);
    bench.write(conn, Dialler, &bytes);
    bench.write(conn, Dialler, b"lost");
    bench.run();
    let (came, others) = bench.take_bytes(conn, Acceptor);
    assert!(!came.is_empty() && came.len() < bytes.len() && bytes.starts_with(&came));
    let resets = [Happening::Reset { conn, side: Acceptor }, Happening::Reset { conn, side: Dialler }];
    let [one, other] = resets;
    assert_eq!(others, [Happening::Note("truncated"), one, other]);
    assert_eq!(bench.network.connections(), 0);
}

#[test]
fn a_reset_by_rate_comes_after_its_chunk() {
    let (mut bench, conn) = with_rates(Rates { reset_ppm: ALWAYS, ..Rates::default() });
    bench.write(conn, Acceptor, b"whole");
    bench.write(conn, Acceptor, b"never");
    bench.run();
    let arrived = Happening::Arrived { conn, side: Dialler, bytes: b"whole".to_vec() };
    let resets = [Happening::Reset { conn, side: Dialler }, Happening::Reset { conn, side: Acceptor }];
    let [one, other] = resets;
    assert_eq!(bench.take(), [Happening::Note("reset"), arrived, one, other]);
    assert_eq!(bench.network.connections(), 0);
}

#[test]
fn a_reset_by_fault_loses_what_is_under_way_in_all_connections_of_the_two() {
    let mut bench = Bench::new(&exact(&[1, 1, 1]));
    let conns = [bench.connect(0, 1), bench.connect(1, 0)];
    let other = bench.connect(0, 2);
    let dialling = bench.dial(1, 0);
    for conn in conns {
        bench.write(conn, Dialler, b"lost");
    }
    bench.write(other, Dialler, b"not lost");
    bench.act(|network, now, planned| network.reset(now, 0, 1, planned));
    assert_eq!(bench.write(conns[0], Acceptor, b"swallowed"), 9);
    bench.run();
    let (came, happened) = bench.take_bytes(other, Acceptor);
    assert_eq!(came, b"not lost");
    for conn in conns {
        for side in Side::BOTH {
            assert!(happened.contains(&Happening::Reset { conn, side }), "{happened:?}");
        }
    }
    assert!(happened.contains(&Happening::Refused(dialling)), "{happened:?}");
    assert_eq!((happened.len(), bench.network.connections()), (5, 1));
}

#[test]
fn what_is_ordered_happens_to_the_next_bytes_of_the_two() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    bench.network.alter_next(0, 1);
    bench.network.truncate_next(0, 1);
    bench.write(conn, Acceptor, &[0; 10]);
    bench.run();
    assert_eq!(bench.take_bytes(conn, Dialler), (vec![0; 10], vec![]));
    bench.write(conn, Dialler, &[0]);
    bench.run();
    let (came, notes) = bench.take_bytes(conn, Acceptor);
    assert_eq!((bits_changed(&came, &[0]), notes), (1, vec![]));
    bench.write(conn, Dialler, &[0]);
    bench.run();
    let resets = [Happening::Reset { conn, side: Acceptor }, Happening::Reset { conn, side: Dialler }];
    assert_eq!(bench.take(), resets);
    // Nothing is left of the orders.
    let conn = bench.connect(0, 1);
    bench.write(conn, Dialler, &[0]);
    bench.run();
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![0], vec![]));
}

#[test]
fn after_healing_nothing_goes_wrong_not_even_to_what_is_under_way() {
    let all = Rates { altered_ppm: ALWAYS, doubled_ppm: ALWAYS, ..Rates::default() };
    let (mut bench, conn) = with_rates(all);
    bench.network.truncate_next(0, 1);
    bench.write(conn, Acceptor, &[0; 100]);
    bench.act(|network, now, planned| network.heal(now, planned));
    bench.write(conn, Dialler, &[0; 100]);
    bench.run();
    let (came, others) = bench.take_bytes(conn, Acceptor);
    assert_eq!(came, [0; 100]);
    assert!(
        others
            .iter()
            .all(|it| matches!(it, Happening::Arrived { bytes, .. } if bytes.iter().all(|b| *b == 0)))
    );
}

#[test]
fn without_one_kind_of_fault_the_others_stay_where_they_were() {
    let notes = |rates| {
        let (mut bench, conn) = with_rates(rates);
        let mut notes = Vec::new();
        for number in 0..2_000 {
            bench.write(conn, Dialler, &[0]);
            bench.run();
            notes.extend(bench.take_bytes(conn, Acceptor).1.into_iter().map(|note| (number, note)));
        }
        notes
    };
    let (lost_ppm, doubled_ppm, altered_ppm) = (20_000, 20_000, 20_000);
    let all = notes(Rates { lost_ppm, doubled_ppm, altered_ppm, ..Rates::default() });
    let fewer = notes(Rates { doubled_ppm, altered_ppm, ..Rates::default() });
    assert!(all.len() > fewer.len() && fewer.len() > 40);
    assert!(fewer.into_iter().eq(all.into_iter().filter(|(_, note)| *note != Happening::Note("lost"))));
}
