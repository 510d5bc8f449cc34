//! A program whose nodes start, find each other, and end as those of any other, and exchange no messages: for tests of
//! starting and ending jobs.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use super::launch;
use crate::member::{Joining, NodeCommands, joining};
use crate::remote::agent;
use crate::standby::Turn;
use crate::voice::Control;
use talisman_control::protocol::{NodeReport, Stop};
use talisman_job::command_line::{self, Program};
use talisman_job::program_types::ProgramTypes;
use talisman_job::progress::Steps;
use talisman_pup::{Packed, PupError};

const PROGRAM: Program =
    Program { name: "probe", package: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };

/// Long enough for any network of a test.
const DIAL_LIMIT: Duration = Duration::from_secs(5);

/// A probe of starting and ending processes
#[derive(clap::Parser)]
struct Options {
    /// What the nodes do: end at once, wait to be ended, echo what node 0 reads, or write so many lines each
    #[arg(long, default_value = "end")]
    role: String,
}

/// What a process of the probe does: the launcher, an agent or a node.
pub fn main() -> ExitCode {
    if agent::is_asked_for() {
        return agent::main();
    }
    let joining = joining();
    let (run, (options,)) = command_line::parse::<(Options,)>(&PROGRAM);
    match joining {
        Some(Ok(joining)) => node(joining, &options.role),
        Some(Err(error)) => {
            eprintln!("probe: error: {error}");
            ExitCode::FAILURE
        }
        None => {
            let outcome = launch(&PROGRAM, &NoChares, &run, Turn::LAST);
            if let Some(message) = &outcome.message {
                eprintln!("probe: error: {message}");
            }
            ExitCode::from(outcome.interrupted.map_or(outcome.status as u8, |signal| signal.exit_code()))
        }
    }
}

/// It has none.
pub struct NoChares;

impl ProgramTypes for NoChares {
    fn chares(&self) -> Vec<(u64, String)> {
        Vec::new()
    }

    fn has_nodegroups(&self, _part: Packed) -> Result<bool, PupError> {
        Ok(false)
    }
}

/// What the launcher says last.
struct Told(Mutex<mpsc::Sender<Stop>>);

impl NodeCommands for Told {
    fn stop(&self, stop: Stop) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(stop);
    }

    fn steps(&self) -> Steps {
        Steps::default()
    }
}

fn node(joining: Joining, role: &str) -> ExitCode {
    let (task, control) = (joining.task().clone(), joining.control().clone());
    let listener = TcpListener::bind((task.listen, 0))
        .unwrap_or_else(|error| control.failed(format!("cannot listen at {}: {error}", task.listen)));
    let address = listener.local_addr().ok();
    let meeting = joining.meet(address);
    let others: Vec<SocketAddr> =
        meeting.addresses.iter().flatten().copied().filter(|other| Some(*other) != address).collect();
    meet_all(listener, &others).unwrap_or_else(|error| control.failed(error));
    let (sender, stops) = mpsc::channel();
    let control = meeting.begin(Arc::new(Told(Mutex::new(sender))));
    println!("node {} of {} at {} pid {}", task.number, task.nodes, task.listen, std::process::id());
    play(role, task.number, &control);
    let _ = stops.recv();
    control.done(NodeReport::default());
    ExitCode::SUCCESS
}

/// Every node reaches every other one at its address.
fn meet_all(listener: TcpListener, others: &[SocketAddr]) -> Result<(), String> {
    let count = others.len();
    let accepting =
        thread::spawn(move || (0..count).map(|_| listener.accept()).collect::<io::Result<Vec<_>>>());
    for address in others {
        let dialled = TcpStream::connect_timeout(address, DIAL_LIMIT);
        dialled.map_err(|error| format!("no way to {address}: {error}"))?;
    }
    let accepted = accepting.join().map_err(|_| "the thread that accepts has panicked".to_owned())?;
    accepted.map(drop).map_err(|error| error.to_string())
}

fn play(role: &str, number: u32, control: &Control) {
    match (role, number) {
        ("wait", _) => return,
        ("echo", 0) => {
            let mut text = String::new();
            let _ = io::stdin().read_to_string(&mut text);
            print!("{text}");
        }
        (lines, _) => {
            for line in 0..lines.parse::<u32>().unwrap_or(0) {
                println!("line {line} of node {number} {}", "x".repeat(80));
            }
        }
    }
    let _ = io::stdout().flush();
    if number == 0 {
        control.ended(0, None);
    }
}
