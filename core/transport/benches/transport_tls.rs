//! What encryption costs: links over TCP with it against links without, in the same run:
//! `cargo bench -p talisman-transport --bench transport_tls`.
//!
//! Both ends in one thread, which takes turns: what a message costs the processor in all, on a busy machine too. Medians
//! over interleaved rounds; the ratio is the median of the ratios within a round.

use std::hint::black_box;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

use talisman_pup::{SEGMENT_MIN, Segment};
use talisman_transport::probe::TcpEnd;

fn main() {
    let mut rounds = 11;
    if let Some(number) = std::env::args().filter_map(|argument| argument.parse().ok()).next() {
        rounds = number;
    }
    println!("{:<20} | {:>12} | {:>10} | {:>6}", "what, one way", "with TLS, ns", "plain, ns", "ratio");
    for (size, count, together) in [
        (8, 20_000, 1),
        (8, 200_000, 64),
        (1 << 10, 20_000, 1),
        (8 << 10, 5_000, 1),
        (64 << 10, 1_000, 1),
        (1 << 20, 100, 1),
        (16 << 20, 6, 1),
    ] {
        let name = if together == 1 { format!("{size} B") } else { format!("{size} B, {together} together") };
        compare(rounds, &name, |ends| carry(ends, size, count, together));
    }
}

fn compare(rounds: usize, what: &str, measure: impl Fn([TcpEnd; 2]) -> f64) {
    let mut samples: Vec<_> = (0..rounds).map(|_| (measure(encrypted()), measure(plain()))).collect();
    let mut ratios: Vec<f64> = samples.iter().map(|(tls, plain)| tls / plain).collect();
    let (tls, plain) = (median(&mut samples, |sample| sample.0), median(&mut samples, |sample| sample.1));
    let ratio = median(&mut ratios, |&ratio| ratio);
    println!("{what:<20} | {tls:>12.0} | {plain:>10.0} | {ratio:>6.2}");
}

fn median<T>(samples: &mut [T], key: impl Fn(&T) -> f64) -> f64 {
    samples.sort_by(|a, b| key(a).total_cmp(&key(b)));
    key(&samples[samples.len() / 2])
}

fn sockets() -> [OwnedFd; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let dialled = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
    let accepted = listener.accept().expect("the other end").0;
    [dialled.into(), accepted.into()]
}

fn plain() -> [TcpEnd; 2] {
    sockets().map(|socket| TcpEnd::new(socket).expect("a TCP socket"))
}

fn encrypted() -> [TcpEnd; 2] {
    TcpEnd::encrypted(sockets()).expect("TCP sockets")
}

/// Nanoseconds for one of `count` messages, of which so many are on their way together.
fn carry([mut a, mut b]: [TcpEnd; 2], size: usize, count: usize, together: usize) -> f64 {
    let segment = (size >= SEGMENT_MIN).then(|| Segment::of_vec(vec![2u8; size]));
    let head = vec![1; if segment.is_some() { 32 } else { size }];
    let start = Instant::now();
    for _ in 0..count / together {
        for _ in 0..together {
            a.send(&head, segment.iter().cloned().collect());
        }
        let mut come = 0;
        while come < together {
            a.flush();
            turn(&mut b, &mut come);
            b.flush();
            turn(&mut a, &mut 0);
        }
    }
    start.elapsed().as_nanos() as f64 / count as f64
}

fn turn(end: &mut TcpEnd, come: &mut usize) {
    let mut take = |head: &[u8], segments: Vec<Segment>| {
        black_box((head, &segments));
        *come += 1;
    };
    end.receive(256, &mut take).expect("a link");
}
