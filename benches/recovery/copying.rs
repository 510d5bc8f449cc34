//! The limit of a checkpoint: as many processes as the job has nodes, each of which copies as much as a node does, all at once.

use std::io::{self, BufRead, BufReader, Read, Write, stdin};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Instant;

use rustix::net::sockopt::set_tcp_congestion;

pub const PROGRAM: &str = "@copying";

/// What goes from one process to another passes through memory of this size, which stays in the cache: as in the
/// transport through memory.
const BUFFER: usize = 1 << 20;

/// Seconds until the last process had copied its bytes.
#[derive(Clone, Copy)]
pub struct Copied {
    /// Into memory that nobody had used before.
    pub fresh_s: f64,
    /// Into memory that was used before.
    pub used_s: f64,
    /// Into memory that was used before, by way of a small buffer.
    pub sent_s: f64,
    /// Into memory that was used before, through a connection of the loopback interface.
    pub tcp_s: f64,
}

impl Copied {
    pub fn mean(self, other: Copied) -> Copied {
        let mean = |of: fn(&Copied) -> f64| (of(&self) + of(&other)) / 2.0;
        Copied {
            fresh_s: mean(|copied| copied.fresh_s),
            used_s: mean(|copied| copied.used_s),
            sent_s: mean(|copied| copied.sent_s),
            tcp_s: mean(|copied| copied.tcp_s),
        }
    }
}

/// Measures them, after one another.
pub fn at_once(processes: u32, bytes_each: u64) -> Copied {
    let mut all: Vec<Process> =
        (0..processes).map(|_| Process::start(&[PROGRAM, &bytes_each.to_string()])).collect();
    all.iter_mut().for_each(Process::wait);
    let [fresh_s, used_s, sent_s, tcp_s] = [(); 4].map(|()| {
        let start = Instant::now();
        all.iter_mut().for_each(Process::go);
        all.iter_mut().for_each(Process::wait);
        start.elapsed().as_secs_f64()
    });
    all.into_iter().for_each(Process::end);
    Copied { fresh_s, used_s, sent_s, tcp_s }
}

/// One that does what it has to when it is told to, and says when it has.
pub struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Process {
    /// This program, with these words.
    pub fn start(words: &[&str]) -> Process {
        let mut child = Command::new(std::env::current_exe().expect("the system tells"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let to = child.stdin.take().expect("it is a pipe");
        let from = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Process { child, to, from }
    }

    pub fn go(&mut self) {
        self.to.write_all(b"\n").expect("it reads");
    }

    pub fn wait(&mut self) {
        let mut line = String::new();
        assert_ne!(
            self.from.read_line(&mut line).expect("it writes"),
            0,
            "it goes on until it is told not to"
        );
    }

    pub fn end(self) {
        let Process { mut child, to, .. } = self;
        drop(to);
        assert!(child.wait().expect("it is ours").success());
    }
}

pub fn program() {
    let bytes = std::env::args().nth(2).and_then(|word| word.parse().ok()).expect("how many bytes");
    let from = vec![1_u8; bytes];
    let mut copied = Vec::new();
    let mut buffer = vec![1_u8; BUFFER];
    println!("ready");
    for (round, _) in stdin().lines().enumerate() {
        match round {
            0 | 1 => {
                copied.clear();
                copied.extend_from_slice(&from);
            }
            2 => through(&mut buffer, &from, &mut copied),
            _ => over_tcp(&from, &mut copied).expect("the loopback interface is there"),
        }
        std::hint::black_box(&copied);
        println!("done");
    }
}

fn through(buffer: &mut [u8], from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(BUFFER).zip(to.chunks_mut(BUFFER)) {
        let buffer = &mut buffer[..from.len()];
        buffer.copy_from_slice(from);
        to.copy_from_slice(std::hint::black_box(buffer));
    }
}

/// One thread sends, another receives: a process of a job sends its part to one other, and receives as much.
fn over_tcp(from: &[u8], to: &mut [u8]) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiver, _) = listener.accept()?;
    // The runtime's choice for loopback: the limit must have it too.
    set_tcp_congestion(&sender, "cubic").or_else(|_| set_tcp_congestion(&sender, "reno"))?;
    thread::scope(|scope| {
        let sent = scope.spawn(move || sender.write_all(from));
        receiver.read_exact(to)?;
        sent.join().expect("it does not panic")
    })
}
