//! Several hosts on one machine: namespaces of their own for network, processes, mounts and names, linked by a bridge that
//! stands in one more namespace, each with a real ssh server. Nothing of them is visible outside, and nothing outlives
//! the test: the kernel ends every process of a host with its first one, and that one with the test.
//!
//! Needs root, and the Debian packages `iproute2`, `openssh-client`, `openssh-server` and `util-linux`.

mod namespace;
mod processes;
mod run;
#[allow(dead_code, reason = "not all tests need it")]
mod slurm;
mod ssh;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

pub use namespace::Namespace;
pub use processes::{Process, kill_at_once, signal};
pub use run::{Ended, Running, eventually};
#[allow(unused_imports, reason = "not all tests need it")]
pub use slurm::{Slurm, slurm};
use ssh::Keys;

/// Some hosts, called `h0`, `h1`, …
pub struct Network {
    hosts: Vec<Host>,
    ssh_config: PathBuf,
    // In this order: the namespaces end before the folder that they use goes.
    _switch: Namespace,
    folder: Folder,
}

/// One of them.
pub struct Host {
    pub name: String,
    pub address: String,
    pub namespace: Namespace,
}

impl Network {
    /// So many hosts, where there can be [some](hosts).
    pub fn new(count: u32) -> Network {
        let folder = Folder::new();
        let switch = Namespace::new("switch");
        switch.sh("ip link add bridge type bridge && ip link set bridge up");
        let keys = Keys::new(&folder.0);
        let hosts: Vec<Host> = (0..count).map(|number| Host::new(number, &switch, &keys)).collect();
        let ssh_config = keys.configure_clients(&hosts);
        let network = Network { hosts, ssh_config, _switch: switch, folder };
        for host in &network.hosts {
            ssh::serve(host, &network.folder.0);
        }
        network
    }

    /// A host by its number.
    pub fn host(&self, number: usize) -> &Host {
        &self.hosts[number]
    }

    /// Where tests may write; it goes with the network.
    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Options with which `ssh` finds hosts, keys and nothing of the user's.
    pub fn ssh_options(&self) -> String {
        format!("-F {}", self.ssh_config.display())
    }

    /// Writes a hosts file with these lines.
    pub fn hosts_file(&self, lines: &[&str]) -> PathBuf {
        let file = self.folder.0.join("hosts");
        fs::write(&file, lines.join("\n")).expect("the folder is ours");
        file
    }

    /// A command that will run on this host in the test's folder, and find the others by ssh.
    pub fn command(&self, host: usize, program: &Path) -> Command {
        // Whoever enters a namespace of mounts loses the folder it was in.
        let mut command = self.hosts[host].namespace.command("env");
        // What a program leaves in the folder for temporary files goes with the network.
        command.arg("-C").arg(self.folder()).arg(format!("TMPDIR={}", self.folder().display())).arg(program);
        command.env("TALISMAN_SSH", self.ssh_options());
        command
    }

    /// The agent of a program on a host.
    pub fn agent_of(&self, host: usize, program: &Path) -> Process {
        let all = self.processes_of(program);
        let agent = all.into_iter().find(|process| self.hosts[host].has(process) && is_agent(process));
        agent.expect("the program runs there")
    }

    /// The nodes of a program on a host that has an agent.
    pub fn nodes_of(&self, host: usize, program: &Path) -> Vec<Process> {
        let all = self.processes_of(program).into_iter();
        all.filter(|process| self.hosts[host].has(process) && !is_agent(process)).collect()
    }

    /// The living processes of a program on all hosts; where it was started by which name does not matter.
    pub fn processes_of(&self, program: &Path) -> Vec<Process> {
        self.processes().into_iter().filter(|process| process.executable == program).collect()
    }

    /// The living processes on all hosts.
    pub fn processes(&self) -> Vec<Process> {
        self.hosts.iter().flat_map(|host| host.namespace.processes()).collect()
    }
}

impl Host {
    fn new(number: u32, switch: &Namespace, keys: &Keys) -> Host {
        let name = format!("h{number}");
        let address = format!("10.77.0.{}", number + 1);
        let namespace = Namespace::new(&name);
        switch.bridge_to(&namespace);
        namespace.sh(&format!("ip address add {address}/24 dev eth0 && ip link set eth0 up"));
        keys.of_host(&name);
        Host { name, address, namespace }
    }

    /// Whether a process runs here.
    pub fn has(&self, process: &Process) -> bool {
        process.shares_network_with(self.namespace.first_process())
    }

    /// From now on nothing goes in or out, and nobody is told.
    pub fn cut_off(&self) {
        self.namespace.sh("ip link set eth0 down");
    }

    /// It is on the network again.
    #[allow(dead_code, reason = "not all tests need it")]
    pub fn link_again(&self) {
        self.namespace.sh("ip link set eth0 up");
    }
}

fn is_agent(process: &Process) -> bool {
    process.arguments.iter().any(|argument| argument == "--talisman-agent")
}

/// To have hosts: the programs and rights that they take.
pub fn hosts() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    MISSING.get_or_init(missing).as_ref().map(|what| format!("there can be no hosts here: {what}"))
}

fn missing() -> Option<String> {
    let programs = ["ip", "ssh", "ssh-keygen", "unshare", "nsenter", "setpriv", "mount"];
    if let Some(program) = programs.into_iter().find(|program| !on_path(program)) {
        return Some(format!("there is no program `{program}`"));
    }
    if !Path::new(ssh::SERVER).exists() {
        return Some(format!("there is no {}", ssh::SERVER));
    }
    (!Namespace::possible()).then(|| "no right to make namespaces; are you root?".into())
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A folder that goes away by itself.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("talisman-hosts-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder for temporary files is there");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is only seen by people, and is no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}
