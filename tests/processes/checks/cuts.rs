//! Connections that break while both nodes live: the job goes on, and nothing is lost or doubled.

use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, Shutdown};
use serde_json::{Map, Value};
use talisman::rng::Rng;

use super::checks;
use super::results::{results, results_in};
use crate::job::{Job, Scratch, Shape, example, program, until};
use crate::program::traffic::beats_of;
use crate::system::{Socket, rights, sockets, take_descriptor};

checks!(
    lose_no_message needs rights,
    of_what_is_being_written_lose_no_message needs rights,
    and_noise_in_between_lose_no_message needs rights,
    of_a_sender_that_waits_for_room needs rights,
    leave_jacobi3d_the_same needs rights,
    leave_leanmd_the_same needs rights;
    // Longer than the others wait for a connection: half a minute, for the long command.
    ignored: of_a_node_in_a_long_entry,
);

/// How a connection is harmed.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    /// Both ends find that it has ended.
    Shut,
    /// One direction of it.
    ShutHalf,
    /// Somebody takes bytes out of it.
    Steal,
    /// Somebody puts bytes into it.
    Add,
}

fn lose_no_message() {
    cut_traffic("", (4, 2, "tcp"), 60, &[Harm::Shut]);
    cut_traffic("", (4, 1, "mixed"), 30, &[Harm::Shut]);
}

fn of_what_is_being_written_lose_no_message() {
    cut_traffic("", (3, 1, "tcp"), 40, &[Harm::ShutHalf, Harm::Shut]);
}

fn and_noise_in_between_lose_no_message() {
    cut_traffic("", (3, 1, "tcp"), 20, &[Harm::Steal, Harm::Add]);
}

/// Does so many times something of this kind to connections of running traffic, which then has to end well.
pub fn cut_traffic(options: &str, shape: Shape, times: u32, harms: &[Harm]) {
    let (stop, beats) = (Scratch::new("stop"), Beats::new(shape.0 * shape.1));
    let words = format!("{options} traffic --beats {} --stop {}", beats.files.name(), stop.name());
    let job = Job::start(program(&words, shape));
    job.wait_for("under way");
    let nodes = job.nodes(shape.0 as usize);
    let mut rng = Rng::new(u64::from(times));
    let mut harmed = 0;
    // One that ends before says why.
    while harmed < times && job.processes().len() > 1 {
        let harm = harms[rng.below(harms.len() as u64) as usize];
        let did = harm_one(&nodes, &mut rng, harm);
        if did {
            eprintln!(
                "HARM {:?} {harm:?}",
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap()
            );
        }
        harmed += u32::from(did);
        match harm {
            Harm::Shut | Harm::ShutHalf => sleep(Duration::from_micros(rng.below(20_000))),
            // The same frame damaged three times is a fault, and ends the job.
            Harm::Steal | Harm::Add => beats.get_on(&job),
        }
    }
    stop.touch();
    let ended = job.end().expect(0, &[]);
    // What others said before may arrive behind it.
    let line = ended.stdout.iter().find(|line| line.contains("sent,")).cloned().unwrap_or_default();
    let numbers: Vec<&str> = line.split(&[' ', ','][..]).filter(|word| word.parse::<u64>().is_ok()).collect();
    assert!(numbers.len() == 2 && numbers[0] == numbers[1], "{}", ended.said());
}

/// How often each PE has had so many replies, in files, as lines of output come later than what they tell of.
struct Beats {
    files: Scratch,
    pes: u32,
}

impl Beats {
    fn new(pes: u32) -> Beats {
        Beats { files: Scratch::new("beats"), pes }
    }

    fn so_far(&self) -> Vec<u64> {
        let of = |pe| std::fs::metadata(beats_of(&self.files.0, pe)).map_or(0, |file| file.len());
        (0..self.pes).map(of).collect()
    }

    /// Waits until every PE has got so many replies that there must have been some of every other PE.
    fn get_on(&self, job: &Job) {
        let before = self.so_far();
        let all = || self.so_far().iter().zip(&before).all(|(now, before)| *now >= before + 3);
        until(|| (all() || job.processes().len() < 2).then_some(()));
    }
}

impl Drop for Beats {
    fn drop(&mut self) {
        for pe in 0..self.pes {
            let _ = std::fs::remove_file(beats_of(&self.files.0, pe));
        }
    }
}

/// Cuts a connection of one of these processes, if there is any.
pub fn cut_one(nodes: &[i32], rng: &mut Rng) {
    harm_one(nodes, rng, Harm::Shut);
}

/// Harms a connection of a node; whether there was one.
fn harm_one(nodes: &[i32], rng: &mut Rng, harm: Harm) -> bool {
    let pid = nodes[rng.below(nodes.len() as u64) as usize];
    let connected: Vec<Socket> = sockets(pid).into_iter().filter(|socket| socket.connected).collect();
    if connected.is_empty() {
        return false;
    }
    let socket = connected[rng.below(connected.len() as u64) as usize];
    let Ok(taken) = take_descriptor(pid, socket.number) else { return false };
    // By now the number may mean something else, to which none of this does anything.
    if rustix::net::sockopt::socket_domain(taken.as_fd()) != Ok(rustix::net::AddressFamily::INET) {
        return false;
    }
    let mut bytes = [0xa5; 37];
    match harm {
        Harm::Shut => rustix::net::shutdown(taken, Shutdown::Both).is_ok(),
        Harm::ShutHalf => rustix::net::shutdown(taken, Shutdown::Write).is_ok(),
        Harm::Steal => rustix::net::recv(taken, &mut bytes, RecvFlags::DONTWAIT).is_ok_and(|(n, _)| n > 0),
        Harm::Add => rustix::net::send(taken, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).is_ok(),
    }
}

/// It is deep in one entry, and cannot do anything else than wait and look after its connections.
fn of_a_sender_that_waits_for_room() {
    // Either side of the connection: the one that makes a new one, and the one that waits for it.
    [0, 1].into_iter().for_each(|sender| cut_flood(sender, Duration::ZERO));
}

/// A node whose PE is busy for longer than others wait for it.
fn of_a_node_in_a_long_entry() {
    [0, 1].into_iter().for_each(|sender| cut_flood(sender, Duration::from_secs(12)));
}

/// Cuts the connection with a receiver that is asleep, and sleeps on for so long; then it is cut again while it works.
fn cut_flood(sender: u32, asleep: Duration) {
    let wake = Scratch::new("wake");
    let words = format!("flood --sender {sender} --messages 400 --bytes 1048576 --wake {}", wake.name());
    let job = Job::start(program(&words, (2, 1, "tcp")));
    job.wait_for("asleep");
    let nodes = job.nodes(2);
    let mut rng = Rng::new(1);
    while !harm_one(&nodes, &mut rng, Harm::Shut) {}
    sleep(asleep);
    wake.touch();
    for _ in 0..5 {
        sleep(Duration::from_micros(rng.below(20_000)));
        harm_one(&nodes, &mut rng, Harm::Shut);
    }
    let ended = job.end().expect(0, &[]);
    ended.prints("400 received");
}

fn leave_jacobi3d_the_same() {
    let words = "--grid 32,32,32 --block 8,8,8 --steps 150";
    cut_example("jacobi3d", words, (4, 1, "tcp"));
}

fn leave_leanmd_the_same() {
    let words = "--cells 4,4,3 --atoms-per-cell 12 --steps 40 --migrate-every 10";
    cut_example("leanmd", words, (3, 1, "mixed"));
}

/// Cuts an example off as often as it goes; again if it was over before it could be cut off.
fn cut_example(name: &str, words: &str, shape: Shape) {
    let one = results(name, words, (1, 2, "shm"));
    let cuts = (0..100).map(|_| cuts_of_example(name, words, shape, &one)).find(|cuts| *cuts > 0);
    assert!(cuts.is_some(), "it is always over before it can be cut off");
}

/// How often a run was cut off, which has to come to this.
fn cuts_of_example(name: &str, words: &str, shape: Shape, expected: &Map<String, Value>) -> u32 {
    let report = Scratch::new("report.json");
    let mut command = example(name, words, shape);
    command.arg("--report").arg(&report.0);
    let job = Job::start(command);
    let nodes = job.nodes(shape.0 as usize);
    let (mut rng, mut cuts) = (Rng::new(7), 0);
    // A node whose connections are cut before it has got all of them is not our matter here.
    while job.processes().len() > 1
        && !nodes.iter().all(|pid| sockets(*pid).iter().any(|socket| socket.connected))
    {}
    while job.processes().len() > 1 {
        cuts += u32::from(harm_one(&nodes, &mut rng, Harm::Shut));
        sleep(Duration::from_micros(rng.below(50_000)));
    }
    job.end().expect(0, &[]);
    assert_eq!(&results_in(&report), expected, "after {cuts} cuts");
    cuts
}
