//! Links over TCP against a raw socket that is polled, which is the limit of the same machine in the same run:
//! `cargo bench -p talisman-transport --bench transport_tcp`.
//!
//! Two threads, each polling, which wants two idle cores. Medians over interleaved rounds; the ratio is the median of the
//! ratios within a round. Both sides of a comparison have the same congestion control. One way is half a round trip; a
//! stream is one way only.

use std::hint::black_box;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Instant;

use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use talisman_pup::{SEGMENT_MIN, Segment};
use talisman_transport::probe::TcpEnd;

/// Nanoseconds per operation.
type Measure = Box<dyn FnMut() -> f64>;

fn main() {
    let mut rounds = 21;
    if let Some(number) = std::env::args().filter_map(|argument| argument.parse().ok()).next() {
        rounds = number;
    }
    println!("{:<42} | {:>10} | {:>10} | {:>6}", "what, one way", "ours, ns", "limit, ns", "ratio");
    for (size, trips) in
        [(8, 5_000), (1 << 10, 5_000), (8 << 10, 3_000), (64 << 10, 600), (1 << 20, 60), (16 << 20, 4)]
    {
        let (ours, limit) = (move || ping(size, trips), move || raw_ping(size, trips));
        compare(rounds, &format!("ping-pong, {size} B"), Box::new(ours), Box::new(limit));
    }
    for (size, count) in [(1 << 20, 200), (16 << 20, 12)] {
        let (ours, limit) = (move || stream(size, count), move || raw_stream(size, count));
        compare(rounds, &format!("stream, {size} B"), Box::new(ours), Box::new(limit));
    }
    for batch in [1, 16, 64, 256] {
        let (ours, limit) = (move || rate(16, 200_000, batch), || raw_stream(48, 100_000));
        compare(
            rounds,
            &format!("16 B messages, {batch} a flush | a write each"),
            Box::new(ours),
            Box::new(limit),
        );
    }
}

fn compare(rounds: usize, what: &str, mut ours: Measure, mut limit: Measure) {
    let mut samples: Vec<(f64, f64)> = (0..rounds).map(|_| (ours(), limit())).collect();
    let mut ratios: Vec<f64> = samples.iter().map(|(ours, limit)| ours / limit).collect();
    let (ours, limit) = (median(&mut samples, |sample| sample.0), median(&mut samples, |sample| sample.1));
    let ratio = median(&mut ratios, |&ratio| ratio);
    println!("{what:<42} | {ours:>10.0} | {limit:>10.0} | {ratio:>6.2}");
}

fn median<T>(samples: &mut [T], key: impl Fn(&T) -> f64) -> f64 {
    samples.sort_by(|a, b| key(a).total_cmp(&key(b)));
    key(&samples[samples.len() / 2])
}

/// Two connected sockets, set alike.
fn sockets() -> (OwnedFd, OwnedFd) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let dialled = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
    let accepted = listener.accept().expect("the other end").0;
    for socket in [&dialled, &accepted] {
        socket.set_nodelay(true).expect("a TCP socket");
        socket.set_nonblocking(true).expect("a socket");
        let _ = sockopt::set_tcp_congestion(socket, "cubic");
    }
    (dialled.into(), accepted.into())
}

fn ends() -> (TcpEnd, TcpEnd) {
    let (a, b) = sockets();
    (TcpEnd::new(a).expect("a TCP socket"), TcpEnd::new(b).expect("a TCP socket"))
}

/// A message of `size` bytes, in a segment if it is as large as those of the runtime.
fn post(end: &mut TcpEnd, small: &[u8], large: &Option<Segment>) {
    match large {
        Some(segment) => end.send(&small[..32], vec![segment.clone()]),
        None => end.send(small, Vec::new()),
    }
    while end.flush() {}
}

fn content(size: usize) -> (Vec<u8>, Option<Segment>) {
    let large = size >= SEGMENT_MIN;
    (vec![1; if large { 32 } else { size }], large.then(|| Segment::of_vec(vec![2u8; size])))
}

/// Receives `count` messages, flushing meanwhile as a PE does.
fn await_messages(end: &mut TcpEnd, count: usize) {
    let mut come = 0;
    while come < count {
        end.receive(256, &mut |head, segments| {
            black_box((head, &segments));
            come += 1;
        })
        .expect("a link");
        end.flush();
    }
}

fn ping(size: usize, trips: usize) -> f64 {
    let (mut a, mut b) = ends();
    let (small, large) = content(size);
    let (small, large) = (&small, &large);
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..trips {
                await_messages(&mut b, 1);
                post(&mut b, small, large);
            }
            while b.flush() || b.unsent() > 0 {}
        });
        let start = Instant::now();
        for _ in 0..trips {
            post(&mut a, small, large);
            await_messages(&mut a, 1);
        }
        start.elapsed().as_nanos() as f64 / trips as f64 / 2.0
    })
}

/// One way only, until the receiver has all of it.
fn stream(size: usize, count: usize) -> f64 {
    let (mut a, mut b) = ends();
    let (small, large) = content(size);
    thread::scope(|scope| {
        let start = Instant::now();
        let receiver = scope.spawn(move || await_messages(&mut b, count));
        for _ in 0..count {
            post(&mut a, &small, &large);
            while a.unsent() > 8 << 20 {
                a.flush();
                a.receive(1, &mut |_, _| ()).expect("a link");
            }
        }
        while !receiver.is_finished() {
            a.flush();
            a.receive(1, &mut |_, _| ()).expect("a link");
        }
        start.elapsed().as_nanos() as f64 / count as f64
    })
}

fn rate(size: usize, count: usize, batch: usize) -> f64 {
    let (mut a, mut b) = ends();
    let message = vec![1; size];
    thread::scope(|scope| {
        let start = Instant::now();
        let receiver = scope.spawn(move || await_messages(&mut b, count));
        for number in 0..count {
            a.send(&message, Vec::new());
            if (number + 1) % batch == 0 {
                a.flush();
                a.receive(1, &mut |_, _| ()).expect("a link");
                while a.unsent() > 4 << 20 {
                    a.flush();
                    a.receive(1, &mut |_, _| ()).expect("a link");
                }
            }
        }
        while !receiver.is_finished() {
            a.flush();
            a.receive(1, &mut |_, _| ()).expect("a link");
        }
        start.elapsed().as_nanos() as f64 / count as f64
    })
}

fn raw_write(socket: &OwnedFd, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = send(socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).unwrap_or(0);
        rest = &rest[n..];
    }
}

fn raw_read(socket: &OwnedFd, room: &mut [u8]) {
    let mut at = 0;
    while at < room.len() {
        at += recv(socket, &mut room[at..], RecvFlags::DONTWAIT).map_or(0, |(n, _)| n);
    }
}

fn raw_ping(size: usize, trips: usize) -> f64 {
    let (a, b) = sockets();
    let (mut here, mut there) = (vec![1; size], vec![2; size]);
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..trips {
                raw_read(&b, &mut there);
                raw_write(&b, &there);
            }
        });
        let start = Instant::now();
        for _ in 0..trips {
            raw_write(&a, &here);
            raw_read(&a, &mut here);
        }
        start.elapsed().as_nanos() as f64 / trips as f64 / 2.0
    })
}

fn raw_stream(size: usize, count: usize) -> f64 {
    let (a, b) = sockets();
    let (here, mut there) = (vec![1; size], vec![2; size]);
    thread::scope(|scope| {
        let start = Instant::now();
        let receiver = scope.spawn(move || (0..count).for_each(|_| raw_read(&b, &mut there)));
        (0..count).for_each(|_| raw_write(&a, &here));
        receiver.join().expect("it reads to the end");
        start.elapsed().as_nanos() as f64 / count as f64
    })
}
