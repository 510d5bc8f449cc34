//! How ssh is called, and what its failures mean.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::agent::FLAG;
use talisman_control::exit_cause::How;
use talisman_control::hosts::Host;

/// So long ssh may take to reach a host.
const CONNECT_S: u32 = 10;

/// So long a host may take from there until its agent says something: logging in may ask a directory far away.
pub const GREETING_LIMIT: Duration = Duration::from_secs(CONNECT_S as u64 + 10);

/// The command that runs the agent of a host. Of options that contradict each other ssh takes the first, so the user's
/// stand in front.
pub fn command(host: &Host, options: &OsStr, program: &Path) -> Command {
    let mut command = Command::new("ssh");
    command.args(words(options));
    command.args(["-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"]);
    command.args([
        "-o",
        "RemoteCommand=none",
        "-o",
        "ClearAllForwardings=yes",
        "-o",
        &format!("ConnectTimeout={CONNECT_S}"),
    ]);
    if let Some(user) = &host.user {
        command.args(["-l", user]);
    }
    if let Some(port) = host.port {
        command.args(["-p", &port.to_string()]);
    }
    command.arg("--").arg(&host.name).arg(agent_command(program));
    command
}

fn words(options: &OsStr) -> impl Iterator<Item = &OsStr> {
    let words = options.as_bytes().split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty()).map(OsStr::from_bytes)
}

/// What the login shell of the host is given: with `exec`, so that it does not stand between.
pub fn agent_command(program: &Path) -> OsString {
    let mut command = b"exec ".to_vec();
    command.extend(quoted(program.as_os_str()));
    command.extend(format!(" {FLAG}").bytes());
    OsString::from_vec(command)
}

/// As one word of any shell: in quotes, in which only a quote means something.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Why there was no agent, by how ssh ended and the last that was said on standard error.
pub fn no_agent(how: How, said: &str, host: &Host, program: &Path) -> String {
    let program = program.display();
    let said = last_line(said);
    match how {
        How::Exited(255) => format!("ssh failed{said}; try `{}`", host.trial()),
        How::Exited(127) => {
            format!("there is no program {program} there; each host needs it at the same path{said}")
        }
        How::Exited(126) => format!("the program {program} cannot be run there{said}"),
        How::Exited(status) => {
            format!("{program} there is another program than here: it ended with status {status}{said}")
        }
        How::Signalled(signal) => format!("ssh was killed by signal {signal}"),
        How::Vanished => "ssh is gone".into(),
    }
}

/// Why the agent is lost, by how ssh ended.
pub fn lost(how: How, said: &str) -> String {
    let said = last_line(said);
    match how {
        How::Exited(255) if tells_of_connection(&said) => format!("the connection of ssh broke{said}"),
        // What was said may be of a shell that began there.
        How::Exited(255) => format!("its agent or the connection of ssh was killed{said}"),
        How::Exited(status) => format!("its agent ended with status {status}{said}"),
        How::Signalled(signal) => format!("ssh was killed by signal {signal}"),
        How::Vanished => "ssh is gone".into(),
    }
}

/// Whether ssh itself has said this, of a connection that is no more.
fn tells_of_connection(said: &str) -> bool {
    ["Connection", "connection", "Broken pipe", "Timeout"].iter().any(|word| said.contains(word))
}

/// The last that was said, in brackets.
pub fn last_line(said: &str) -> String {
    match said.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!(" ({line})"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_control::hosts::Hosts;

    fn host(line: &str) -> Host {
        Hosts::parse(line).unwrap().distribute(1, 1).unwrap().remove(0).host
    }

    fn arguments(line: &str, options: &str) -> Vec<String> {
        let command = command(&host(line), OsStr::new(options), Path::new("/opt/my program"));
        command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn what_a_shell_has_said_at_its_beginning_is_no_word_of_the_connection() {
        let ended = |said: &str| lost(How::Exited(255), said);
        assert_eq!(
            ended("Connection to h1 closed by remote host.\r\n"),
            "the connection of ssh broke (Connection to h1 closed by remote host.)"
        );
        assert!(ended("Timeout, server h1 not responding.").starts_with("the connection of ssh broke"));
        assert!(
            ended("client_loop: send disconnect: Broken pipe").starts_with("the connection of ssh broke")
        );
        assert_eq!(ended(""), "its agent or the connection of ssh was killed");
        assert_eq!(
            ended("shell: cannot write its history"),
            "its agent or the connection of ssh was killed (shell: cannot write its history)"
        );
    }

    #[test]
    fn the_users_options_come_first_and_the_hosts_are_given() {
        let all = arguments("h1 user=eve port=2222", " -F  my.config ");
        assert_eq!(all[..2], ["-F", "my.config"]);
        assert!(
            all.windows(2).any(|two| two == ["-l", "eve"]) && all.windows(2).any(|two| two == ["-p", "2222"])
        );
        assert_eq!(all[all.len() - 3..], ["--", "h1", "exec '/opt/my program' --talisman-agent"]);
        assert!(!arguments("h1", "").contains(&"-l".to_owned()));
    }

    #[test]
    fn a_path_stays_one_word_in_a_shell() {
        for path in ["/a b", "/it's", "/$(x);`y`\"z\\", "/é\n"] {
            let script = [b"printf %s ".to_vec(), quoted(OsStr::new(path))].concat();
            let said = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&script)).output().unwrap();
            assert_eq!(said.stdout, path.as_bytes());
        }
    }

    #[test]
    fn failures_say_what_is_wrong_with_what() {
        let why = |status, said| no_agent(How::Exited(status), said, &host("h1"), Path::new("/opt/prog"));
        let refused = why(255, "warning\nroot@h1: Permission denied (publickey).\n\n");
        assert_eq!(refused, "ssh failed (root@h1: Permission denied (publickey).); try `ssh h1 true`");
        assert!(why(127, "").starts_with("there is no program /opt/prog there"));
        assert!(why(126, "").contains("cannot be run"));
        assert!(why(2, "usage: prog").ends_with("it ended with status 2 (usage: prog)"));
        assert!(lost(How::Exited(255), "Connection closed").contains("broke (Connection closed)"));
    }
}
