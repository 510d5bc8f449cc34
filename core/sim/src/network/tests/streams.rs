//! Streams of bytes without faults: order, times, room.

use super::*;
use Side::{Acceptor, Dialler};

#[test]
fn bytes_take_latency_and_bandwidth() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    let start = bench.now;
    assert_eq!(bench.write(conn, Dialler, &[7; 1_000]), 1_000);
    bench.run();
    assert_eq!(bench.now - start, 10_000 + 1_000);
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![7; 1_000], vec![]));
}

#[test]
fn a_long_write_comes_in_chunks_one_behind_the_other() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.connect(0, 1);
    let start = bench.now;
    let bytes = numbered(1_000_000);
    assert_eq!(bench.write(conn, Acceptor, &bytes), bytes.len());
    bench.run();
    assert!(bench.happened.len() > 15 && bench.happened.len() < 500, "{} chunks", bench.happened.len());
    // Fractions of nanoseconds are not kept.
    assert!((1_009_400..=1_010_000).contains(&(bench.now - start)), "{}", bench.now - start);
    assert!(bench.take_bytes(conn, Dialler).0 == bytes);
}

#[test]
fn connections_share_the_line_out_of_their_host_in_turns() {
    // Two nodes of host 0 write to different hosts.
    let mut bench = Bench::new(&exact(&[2, 1, 1]));
    let (one, other) = (bench.connect(0, 2), bench.connect(1, 3));
    let start = bench.now;
    bench.write(one, Dialler, &[1; 1_000_000]);
    bench.write(other, Dialler, &[2; 1_000_000]);
    bench.run_for(1_010_000);
    let came = |bench: &mut Bench| {
        let (one, others) = bench.take_bytes(one, Acceptor);
        let lens = others.iter().map(|happening| match happening {
            Happening::Arrived { bytes, .. } => bytes.len(),
            other => panic!("{other:?}"),
        });
        (one.len(), lens.sum::<usize>())
    };
    let (first, second) = came(&mut bench);
    assert!((350_000..650_000).contains(&first) && (350_000..650_000).contains(&second), "{first} {second}");
    assert!((870_000..=1_000_100).contains(&(first + second)), "{}", first + second);
    bench.run();
    let (first_rest, second_rest) = came(&mut bench);
    assert_eq!((first + first_rest, second + second_rest), (1_000_000, 1_000_000));
    assert!((2_009_000..=2_010_000).contains(&(bench.now - start)), "{}", bench.now - start);
}

#[test]
fn connections_share_the_line_into_their_host() {
    let mut bench = Bench::new(&exact(&[1, 1, 1]));
    let (one, other) = (bench.connect(0, 2), bench.connect(1, 2));
    let start = bench.now;
    bench.write(one, Dialler, &[1; 1_000_000]);
    bench.write(other, Dialler, &[2; 1_000_000]);
    bench.run();
    assert!((2_008_000..=2_010_000).contains(&(bench.now - start)), "{}", bench.now - start);
}

#[test]
fn directions_and_other_hosts_do_not_share() {
    let mut bench = Bench::new(&exact(&[1, 1, 1, 1]));
    let (one, other) = (bench.connect(0, 1), bench.connect(2, 3));
    let start = bench.now;
    bench.write(one, Dialler, &[1; 1_000_000]);
    bench.write(one, Acceptor, &[1; 1_000_000]);
    bench.write(other, Dialler, &[1; 1_000_000]);
    bench.run();
    assert!(bench.now - start <= 1_010_000, "{}", bench.now - start);
}

#[test]
fn nodes_of_a_host_have_a_line_of_their_own() {
    let mut bench = Bench::new(&exact(&[2, 1]));
    let (near, far) = (bench.connect(0, 1), bench.connect(0, 2));
    let start = bench.now;
    bench.write(far, Dialler, &[1; 1_000_000]);
    bench.write(near, Dialler, &[1; 4_000]);
    bench.run_for(1_100);
    assert_eq!(bench.take_bytes(near, Acceptor), (vec![1; 4_000], vec![]));
    bench.run();
    assert!(bench.now - start <= 1_010_000, "{}", bench.now - start);
}

#[test]
fn one_connection_overtakes_another_but_not_itself() {
    let mut plan = exact(&[1, 1]);
    plan.network.far.latency_ns = (1_000, 1_000_000);
    let mut bench = Bench::new(&plan);
    let conns = [bench.connect(0, 1), bench.connect(0, 1)];
    for number in 0..100 {
        bench.write(conns[number % 2], Dialler, &[number as u8]);
    }
    bench.run();
    let order = |conn: Option<ConnId>| {
        let arrived = bench.happened.iter().filter_map(move |(_, happening)| match happening {
            Happening::Arrived { conn: at, bytes, .. } if conn.is_none() || conn == Some(*at) => {
                Some(bytes[0])
            }
            _ => None,
        });
        arrived.collect::<Vec<_>>()
    };
    assert!(order(Some(conns[0])).is_sorted() && order(Some(conns[1])).is_sorted());
    assert_eq!(order(None).len(), 100);
    assert!(!order(None).is_sorted());
}

#[test]
fn what_is_late_takes_ten_times_as_long() {
    let mut plan = exact(&[1, 1]);
    plan.network.far.late_ppm = 100_000;
    let mut bench = Bench::new(&plan);
    let conn = bench.connect(0, 1);
    let mut late = 0;
    for _ in 0..1_000 {
        let start = bench.now;
        bench.write(conn, Dialler, &[1]);
        bench.run();
        let took = bench.now - start;
        assert!(took == 10_001 || took == 100_001, "{took}");
        late += (took == 100_001) as u32;
    }
    assert!((60..140).contains(&late), "{late}");
}

#[test]
fn a_full_socket_buffer_takes_no_more_until_something_is_delivered() {
    let mut plan = exact(&[1, 1]);
    plan.limits.socket_bytes = 10;
    let mut bench = Bench::new(&plan);
    let conn = bench.connect(0, 1);
    assert_eq!(bench.write(conn, Dialler, &[1; 7]), 7);
    assert_eq!(bench.write(conn, Dialler, &[2; 7]), 3);
    assert_eq!(bench.write(conn, Dialler, &[2; 4]), 0);
    bench.run();
    let (bytes, others) = bench.take_bytes(conn, Acceptor);
    assert_eq!(bytes, [1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
    assert_eq!(others, [Happening::Room { conn, side: Dialler }]);
    // Who could write everything is not told that there is room.
    assert_eq!(bench.write(conn, Dialler, &[2; 10]), 10);
    bench.run();
    assert_eq!(bench.take_bytes(conn, Acceptor), (vec![2; 10], vec![]));
}

#[test]
fn who_writes_before_the_answer_hears_when_it_may() {
    let mut bench = Bench::new(&exact(&[1, 1]));
    let conn = bench.dial(0, 1);
    assert_eq!(bench.write(conn, Dialler, &[1]), 0);
    bench.run();
    let room = Happening::Room { conn, side: Dialler };
    assert_eq!(bench.take(), [Happening::Dialled(conn), Happening::Connected(conn), room]);
    assert_eq!(bench.network.node_at(conn, Dialler), Some(0));
    assert_eq!(bench.network.node_at(conn, Acceptor), Some(1));
}

#[test]
fn control_messages_stay_in_order_and_wait_for_no_data() {
    let mut plan = exact(&[1, 1]);
    plan.network.far.latency_ns = (1_000, 1_000_000);
    let mut bench = Bench::new(&plan);
    let conn = bench.connect(0, 1);
    bench.write(conn, Dialler, &[1; 2_000_000]);
    let mut last = 0;
    for number in 0..1_000 {
        let at = bench.network.host_control(number, 0, 1, 100).expect("nothing is cut");
        assert!(at > last && at >= number + 1_100, "{at}");
        assert!(at < 1_002_000 + 1_000, "{at}");
        last = at;
    }
    assert!(bench.network.host_control(0, 1, 0, 100).expect("nothing is cut") < 1_002_000);
    // A launcher's host that is none of the nodes'.
    assert!(bench.network.host_control(0, 77, 0, 100).is_some());
}
