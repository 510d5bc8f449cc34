//! The process that takes the launcher's place: the same program, started by the agent of the first host that is left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use talisman_job::variables::SUCCESSION_VARIABLE as VARIABLE;

use super::estate::{Estate, Will};
use super::gathering::{Gathered, gather};
use crate::children::{Executable, leave_open};
use crate::console::{Console, Wires};
use crate::descriptors;
use crate::host_pool::HostPool;
use crate::launcher::{Launcher, Means};
use crate::memory::host_memory;
use crate::spool::Spool;
use crate::standby::{Pledge, Turn};
use rustix::io::{FdFlags, fcntl_setfd};
use talisman_base::frame::{Decoder, encode};
use talisman_control::coordinator::Coordinator;
use talisman_control::kills::Kills;
use talisman_control::outcome::ClusterOutcome;
use talisman_control::plan::Plan;
use talisman_control::succession::election::Alone;
use talisman_job::Program;
use talisman_job::RunArgs;
use talisman_store::restart::Keeping;

/// What a process is started with that takes a launcher's place, and where it listens.
pub type Inherited = io::Result<(Will, TcpListener)>;

/// Starts it. What it prints goes where the launcher's output did, or, on another host, to files in the working folder.
///
/// # Errors
/// The system gives no process, descriptor or file.
pub fn start(executable: &Executable, will: &Will, door: &TcpListener) -> io::Result<Child> {
    let mut command = Command::new(&executable.path);
    let mut args = executable.args.iter();
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    command.args(args).envs(executable.variables.iter().map(|(name, value)| (name, value)));
    command.env(VARIABLE, door.as_raw_fd().to_string());
    let [out, err] = streams(&will.estate)?;
    command.stdin(Stdio::piped()).stdout(out).stderr(err).process_group(0);
    let legacy = will.estate.legacy.as_ref();
    let inherited = legacy.into_iter().flat_map(|legacy| legacy.pledge.into_iter().chain(legacy.spool.all()));
    leave_open(&mut command, inherited.chain([door.as_raw_fd()]).collect());
    let mut child = command.spawn()?;
    let written =
        child.stdin.take().map(|mut stdin| stdin.write_all(&encode(will).map_err(io::Error::other)?));
    match written {
        Some(Err(error)) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
        _ => Ok(child),
    }
}

fn streams(estate: &Estate) -> io::Result<[Stdio; 2]> {
    let inherited = |number| -> io::Result<Stdio> {
        // SAFETY: the borrow is only used for a call that fails if there is no such descriptor.
        let stream = unsafe { BorrowedFd::borrow_raw(number) };
        Ok(stream.try_clone_to_owned()?.into())
    };
    let file = |kind: &str| -> io::Result<Stdio> { Ok(output(&file_name(estate, kind))?.into()) };
    match &estate.legacy {
        Some(legacy) => Ok([inherited(legacy.streams[0])?, inherited(legacy.streams[1])?]),
        None => Ok([file("out")?, file("err")?]),
    }
}

/// A file for nobody else, to whose end is written. A name that leads elsewhere is none of ours: others may be able to write in the working folder.
fn output(name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(name)
}

/// Where a launcher prints to that is on another host than the first one.
fn file_name(estate: &Estate, kind: &str) -> String {
    format!("talisman-{:016x}.{kind}", estate.job)
}

/// This process does not lead: a file that nothing was printed to is of no use.
fn leave_no_output(estate: &Estate) {
    let name = file_name(estate, "out");
    if estate.legacy.is_none() && fs::metadata(&name).is_ok_and(|file| file.len() == 0) {
        let _ = fs::remove_file(name);
    }
}

/// Writes a line where the launcher's errors went, if that is on this host.
pub fn complain(estate: &Estate, line: &str) {
    let Some(legacy) = &estate.legacy else { return };
    // SAFETY: the borrow is only used for a call that fails if there is no such descriptor.
    if let Ok(stream) = unsafe { BorrowedFd::borrow_raw(legacy.streams[1]) }.try_clone_to_owned() {
        let _ = File::from(stream).write_all(format!("{line}\n").as_bytes());
    }
}

/// What this process was started with, if it is to take a launcher's place.
///
/// Has to be called before any other thread is started: it changes the environment, so that no child process takes itself for one.
///
/// # Errors
/// It does not say what it should.
pub fn will() -> Option<Inherited> {
    let number = std::env::var_os(VARIABLE)?;
    // SAFETY: no other thread reads the environment, by this function's contract.
    unsafe { std::env::remove_var(VARIABLE) };
    Some(number.to_str().and_then(|number| number.parse().ok()).ok_or_else(none).and_then(inherit))
}

fn inherit(number: i32) -> Inherited {
    // SAFETY: the borrow is only used for a call that fails if there is no such descriptor.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, and the agent left it for this process alone; the variable that names it is gone.
    let door = unsafe { OwnedFd::from_raw_fd(number) };
    let (mut bytes, mut decoder) = (Vec::new(), Decoder::default());
    io::stdin().read_to_end(&mut bytes)?;
    decoder.push(&bytes);
    let will = decoder.next().map_err(io::Error::other)?;
    Ok((will.ok_or_else(none)?, door.into()))
}

fn none() -> io::Error {
    io::Error::other(format!("{VARIABLE} is set, but not by an agent; unset it"))
}

/// Leads the job that this process was started to lead, to its end.
///
/// # Errors
/// It does not lead: somebody else may, so that it has nothing to report.
pub fn succeed(program: &Program, options: &RunArgs, inherited: Inherited) -> Result<ClusterOutcome, String> {
    descriptors::raise_limit();
    let led = inherited.and_then(|(will, door)| lead(program, options, &will, door));
    led.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| format!("the launcher is gone; {why}"))
}

fn lead(
    program: &Program,
    options: &RunArgs,
    will: &Will,
    door: TcpListener,
) -> io::Result<Result<ClusterOutcome, String>> {
    let (desk, wires) = Console::open(options, None)?;
    let pledge = will.estate.legacy.as_ref().and_then(|legacy| legacy.pledge);
    let pledge = pledge.map(Pledge::inherited).transpose()?;
    let gathered = desk.wait(gather(door, will, &wires.lines))?;
    if gathered.is_err() {
        leave_no_output(&will.estate);
    }
    pledge.into_iter().for_each(|pledge| match &gathered {
        Ok(_) => pledge.begun(),
        Err(Alone::NothingHasBegun) => pledge.nobody_has_begun(),
        Err(Alone::Other(_)) => {}
    });
    Ok(gathered
        .map_err(|alone| alone.to_string())
        .map(|gathered| lead_on(program, options, &will.estate, gathered, desk, wires)))
}

/// Leads those that have been gathered.
fn lead_on(
    program: &Program,
    options: &RunArgs,
    estate: &Estate,
    gathered: Gathered,
    desk: Console,
    wires: Wires,
) -> ClusterOutcome {
    let Gathered { mut followers, hosts, events, happened } = gathered;
    let Wires { lines, signalled, written } = wires;
    if let Some(legacy) = &estate.legacy {
        Spool::inherit(legacy.spool);
        followers.add_printed(Spool::go_on_with(&lines));
    }
    let running = followers.running();
    let kills = Kills::new(&options.kill, options.chaos).after(running, followers.steps().done);
    let mut plan = plan(estate, options, &kills, followers.lives());
    for host in &hosts {
        host.left.iter().for_each(|node| plan.put(*node, host.site.number));
    }
    let (checkpoint_dirs, pes) = (plan.keeping.checkpoint_dirs.clone(), plan.pes as usize);
    let means = Means { executable: Executable::this(), memory: host_memory, turn: Turn::LAST };
    let mut sites = HostPool::attached(hosts);
    let start = Instant::now().checked_sub(running).unwrap_or_else(Instant::now);
    let pid = estate.legacy.as_ref().map_or_else(std::process::id, |legacy| legacy.launcher);
    let job = async {
        let waiting = plan.nodes..plan.nodes + plan.spares;
        plan.spare_hosts = sites.start_waiting(waiting, &means, &events, &lines);
        let coordinator = Coordinator::taking_over(plan, kills, &own_name(estate), &followers);
        let launcher = Launcher::new(program, coordinator, sites, lines).going_on(start, pid);
        launcher.go_on(&means, (events, happened), signalled, written).await
    };
    desk.conclude(job, pes, checkpoint_dirs.as_ref())
}

/// The job's plan, as far as this host was told. Processes that waited have ended with their launcher: as many will, but for those that
/// have become nodes.
fn plan(estate: &Estate, options: &RunArgs, kills: &Kills, lives: u64) -> Plan {
    let mut checkpoint_dirs = estate.checkpoint_dirs.clone();
    if estate.legacy.is_none() {
        // Of this host nobody has looked whether the folder was there.
        checkpoint_dirs.iter_mut().for_each(|checkpoint_dirs| checkpoint_dirs.is_new = false);
    }
    let keeping = Keeping { checkpoint_dirs, restart: estate.restart.clone(), notes: Vec::new() };
    let known = Plan::known(estate.job, estate.secret.clone(), estate.hosts.clone(), options);
    let used = u32::try_from(lives).unwrap_or(u32::MAX);
    let spares = options.spares.saturating_sub(used);
    let names = estate.names.clone();
    Plan { nodes: estate.nodes, names, watched: kills.watched(), keeping, spares, ..known }
}

/// Who leads, for people.
fn own_name(estate: &Estate) -> String {
    let pid = std::process::id();
    match estate.own_name() {
        Some(host) => format!("process {pid} on the host {host}"),
        None => format!("process {pid}"),
    }
}
