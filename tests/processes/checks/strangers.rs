//! Whoever else comes to a node's port is refused with one line, and the job goes on.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::checks;
use crate::job::{Job, PATIENCE, Scratch, Shape, example, program, run, until};
use crate::system::{Sniffer, rights, sockets};

checks!(
    are_refused_and_named,
    of_all_kinds_at_once,
    who_repeat_a_handshake needs rights,
    only_loopback_is_listened_at,
    another_address_if_asked,
    an_address_that_is_not_there,
);

const SHAPE: Shape = (4, 1, "tcp");

/// Where the nodes of a job listen.
pub fn ports(job: &Job, nodes: u32) -> Vec<SocketAddr> {
    let listening = |pid: &i32| sockets(*pid).into_iter().find(|socket| socket.listens);
    let found = until(|| job.nodes(nodes as usize).iter().map(listening).collect::<Option<Vec<_>>>());
    let found = found.unwrap_or_else(|| panic!("not every node listens: {}", job.said()));
    found.iter().map(|socket| socket.address).collect()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    stream.set_read_timeout(Some(PATIENCE)).expect("it is not zero");
    stream
}

/// What strangers say first.
fn greetings() -> [Vec<u8>; 6] {
    let noise = (0..3000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        vec![0xff; 1 << 20],
        vec![0; 4096],
        noise,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
    ]
}

fn are_refused_and_named() {
    refused_and_named("");
}

/// The same for a job with these runtime options.
pub fn refused_and_named(options: &str) {
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("{options} traffic --stop {}", stop.name()), SHAPE));
    job.wait_for("under way");
    let mut from = Vec::new();
    for port in ports(&job, SHAPE.0) {
        for greeting in greetings() {
            let mut stream = connect(port);
            from.push(stream.local_addr().expect("it is connected"));
            // It may hang up in the middle.
            let _ = stream.write_all(&greeting);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() < 64, "{port} answers {answer:?}");
        }
    }
    let line = |from: &SocketAddr| format!("refused a connection from {from}: ");
    from.iter().for_each(|from| drop(job.wait_for_error(&line(from))));
    stop.touch();
    let ended = job.end().expect(0, &[]);
    let all = &from;
    for from in all {
        let lines = ended.stderr.iter().filter(|said| said.contains(&line(from))).count();
        // Whoever has gone leaves its address to the next one, at another node.
        let times = all.iter().filter(|other| *other == from).count();
        assert_eq!(lines, times, "of {from}: {}", ended.said());
    }
    assert_eq!(ended.stderr.len(), from.len(), "{}", ended.said());
}

/// Half-open ones, too many at once, and some who leave again, while the nodes work.
fn of_all_kinds_at_once() {
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("traffic --stop {}", stop.name()), SHAPE));
    job.wait_for("under way");
    let ports = ports(&job, SHAPE.0);
    let silent: Vec<TcpStream> = (0..200).map(|_| connect(ports[1])).collect();
    (0..30).for_each(|_| drop(connect(ports[0])));
    for (stream, greeting) in silent.iter().zip(greetings().iter().cycle()).skip(100).take(80) {
        let _ = { stream }.write_all(greeting);
    }
    // All of them are hung up on: those who say nothing too, at the latest after some seconds.
    for mut stream in silent {
        let answer = stream.read_to_end(&mut Vec::new());
        let timed_out = answer.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!timed_out, "a silent stranger may stay: {}", job.said());
    }
    // Few have a line each, and the rest is counted, at each port.
    let all = until(|| {
        let said = job.said();
        let single = said.matches("refused a connection from 127.0.0.1:").count() as u64;
        let counts = said.split("refused ").skip(1).filter(|rest| rest.contains(" more connections within "));
        let counted: u64 = counts.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok()).sum();
        (single + counted == 230).then_some(single)
    });
    let single = all.unwrap_or_else(|| panic!("not all are told of: {}", job.said()));
    assert!(single <= 32, "{single} lines: {}", job.said());
    stop.touch();
    job.end().expect(0, &["it said no more before the deadline", "it closed the connection"]);
}

/// What a node said when it connected, recorded on the way, is worth nothing to who repeats it.
fn who_repeat_a_handshake() {
    let sniffer = Sniffer::new();
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("traffic --stop {}", stop.name()), SHAPE));
    job.wait_for("under way");
    let ports = ports(&job, SHAPE.0);
    let recorded = sniffer.first_words(&ports);
    assert!(!recorded.is_empty(), "nothing was recorded");
    let mut from = Vec::new();
    for (port, words) in &recorded {
        let mut stream = connect(*port);
        from.push(stream.local_addr().expect("it is connected"));
        let mut challenge = [0; 4096];
        for packet in words {
            if stream.write_all(packet).is_err() {
                break;
            }
            stream.set_read_timeout(Some(Duration::from_millis(50))).expect("it is not zero");
            let _ = stream.read(&mut challenge);
        }
        stream.set_read_timeout(Some(PATIENCE)).expect("it is not zero");
        while stream.read(&mut challenge).is_ok_and(|n| n > 0) {}
    }
    for from in &from {
        let line = job.wait_for_error(&format!("refused a connection from {from}: "));
        assert!(line.contains("repeats an old handshake"), "{line}");
    }
    stop.touch();
    job.end().expect(0, &[]);
}

fn only_loopback_is_listened_at() {
    let job = Job::start(program("traffic", (3, 2, "mixed")));
    job.wait_for("under way");
    let nodes = job.nodes(3);
    let everybody = [&[job.launcher_pid()], &nodes[..]].concat();
    for pid in everybody {
        let outside = sockets(pid).into_iter().find(|socket| !socket.address.ip().is_loopback());
        assert_eq!(outside, None);
    }
    let launcher = sockets(job.launcher_pid());
    assert!(launcher.is_empty(), "the launcher has {launcher:?}");
    // Without TCP there is no port at all.
    let job = Job::start(program("traffic", (3, 1, "shm")));
    job.wait_for("under way");
    assert!(job.nodes(3).iter().all(|pid| sockets(*pid).is_empty()));
}

fn another_address_if_asked() {
    let stop = Scratch::new("stop");
    let words = format!("--listen 127.0.0.2 traffic --stop {}", stop.name());
    let job = Job::start(program(&words, SHAPE));
    job.wait_for("under way");
    let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    assert!(ports(&job, SHAPE.0).iter().all(|port| port.ip() == address));
    stop.touch();
    job.end().expect(0, &[]).quietly();
}

fn an_address_that_is_not_there() {
    // One of those kept for documents.
    let ended = run(example("hello", "--listen 192.0.2.1", SHAPE));
    ended.expect(3, &["error: node ", "192.0.2.1 (--listen)", "Cannot assign requested address"]);
}
