//! A set of namespaces, held by a process that sleeps in them.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::processes::{Process, processes};

/// Namespaces for network, processes, mounts and the host's name. They end, with all their processes, when this is
/// dropped, and also when the thread that made them ends in whatever way.
pub struct Namespace {
    name: String,
    /// `unshare`, outside. It has something to say about how its child is killed, which nobody wants to know.
    holder: Child,
    /// The first process inside, by its number outside.
    first: u32,
}

impl Namespace {
    pub fn new(name: &str) -> Namespace {
        // The ssh server wants its folder in /run, and nothing of the machine's own is to be seen or changed there.
        let script = "exec 2>&1; mount -t tmpfs tmpfs /run && mkdir /run/sshd && hostname \"$1\" && ip link set lo up \
                      && echo ready && exec sleep infinity";
        let mut holder = unshare()
            .args(["sh", "-c", script, "sh", name])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("unshare is there");
        let mut line = String::new();
        let output = holder.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a pipe can be read");
        assert_eq!(line, "ready\n", "{name} cannot be made");
        let inside = processes().find(|process| process.parent == holder.id());
        let first = inside.expect("unshare has one child").id;
        Namespace { name: name.into(), holder, first }
    }

    /// Whether this process may make them, and link them.
    pub fn possible() -> bool {
        let script = "mount -t tmpfs tmpfs /run && ip link add bridge type bridge \
                      && ip link add one type veth peer name other";
        let mut tried = unshare();
        tried.args(["sh", "-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success())
    }

    /// The process that holds them, by its number outside.
    pub fn first_process(&self) -> u32 {
        self.first
    }

    /// A command that will run in them.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--pid", "--uts", "--target", &self.first.to_string(), "--"]);
        command.arg(program);
        command
    }

    /// Runs a line of shell in them, which must succeed.
    pub fn sh(&self, line: &str) {
        self.check(line, self.command("sh").args(["-c", line]));
    }

    /// Links its bridge with `eth0` of another, under the other's name.
    pub fn bridge_to(&self, other: &Namespace) {
        let (name, process) = (&other.name, other.first);
        let line = format!(
            "ip link add {name} type veth peer name eth0 netns {process} && ip link set {name} master bridge up"
        );
        // Processes have other numbers inside, so only the network is entered.
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.first.to_string(), "--", "sh", "-c", &line]);
        self.check(&line, &mut command);
    }

    fn check(&self, line: &str, command: &mut Command) {
        let done = command.stdin(Stdio::null()).output().expect("nsenter is there");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "on {}: {line}: {said}", self.name);
    }

    /// Their living processes, without the one that holds them.
    pub fn processes(&self) -> Vec<Process> {
        processes()
            .filter(|process| process.id != self.first && process.shares_network_with(self.first))
            .collect()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The first process ends all others inside; then unshare, its parent, has seen it end.
        if !Process::kill(self.first) {
            // It has gone before, or cannot be ended this way: unshare takes it along.
            let _ = self.holder.kill();
        }
        let _ = self.holder.wait();
    }
}

/// Ends with this thread, and its namespaces with it.
fn unshare() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--uts", "--mount-proc"]);
    command.args(["--fork", "--kill-child=KILL"]);
    command
}
