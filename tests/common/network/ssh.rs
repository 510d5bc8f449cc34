//! Keys, configurations and servers of ssh, all in the test's own folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Host, eventually};

/// Where Debian has it; it insists on being called by its whole path.
pub const SERVER: &str = "/usr/sbin/sshd";

/// Not 22, so that a forgotten option is noticed.
const PORT: u16 = 40_022;

/// A key of the user, and one of each host.
pub struct Keys {
    folder: PathBuf,
}

impl Keys {
    pub fn new(folder: &Path) -> Keys {
        let keys = Keys { folder: folder.into() };
        keys.generate("user");
        keys
    }

    pub fn of_host(&self, host: &str) {
        self.generate(host);
    }

    /// Writes what clients need to know the hosts by name; the file is for `ssh -F`.
    pub fn configure_clients(&self, hosts: &[Host]) -> PathBuf {
        let known: String = hosts.iter().map(|host| self.known(host)).collect();
        self.write("known_hosts", &known);
        let named = |host: &Host| format!("Host {}\n    HostName {}\n", host.name, host.address);
        let names: String = hosts.iter().map(named).collect();
        let folder = self.folder.display();
        let common = format!(
            "Host *\n    Port {PORT}\n    User root\n    IdentityFile {folder}/user\n    IdentitiesOnly yes\n    \
             UserKnownHostsFile {folder}/known_hosts\n    GlobalKnownHostsFile /dev/null\n    \
             StrictHostKeyChecking yes\n    LogLevel ERROR\n"
        );
        self.write("ssh_config", &(names + &common))
    }

    fn known(&self, host: &Host) -> String {
        let public = fs::read_to_string(self.folder.join(format!("{}.pub", host.name)));
        format!("[{}]:{PORT} {}", host.address, public.expect("it has been generated"))
    }

    fn generate(&self, name: &str) {
        let mut generator = Command::new("ssh-keygen");
        generator.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(self.folder.join(name));
        let done = generator.stdin(Stdio::null()).status().expect("ssh-keygen is there");
        assert!(done.success(), "no key for {name}");
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, text).expect("the folder is ours");
        file
    }
}

/// Starts the server of a host; it goes with the host.
pub fn serve(host: &Host, folder: &Path) {
    let (name, shown) = (&host.name, folder.display());
    let config = format!(
        "Port {PORT}\nListenAddress {}\nHostKey {shown}/{name}\nAuthorizedKeysFile {shown}/user.pub\n\
         PidFile {shown}/{name}.pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
         KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nAllowUsers root\nPrintMotd no\n\
         SetEnv TMPDIR={shown}\n",
        host.address
    );
    let file = folder.join(format!("{name}.sshd_config"));
    fs::write(&file, config).expect("the folder is ours");
    let log = folder.join(format!("{name}.sshd.log"));
    host.namespace.sh(&format!("{SERVER} -f {} -E {}", file.display(), log.display()));
    // The file is written once the server listens.
    let listens = || folder.join(format!("{name}.pid")).exists();
    assert!(eventually(listens), "{}", fs::read_to_string(&log).unwrap_or_default());
}
