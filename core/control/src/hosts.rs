//! The hosts of a job: the file of `--hosts`, and which node runs on which of them.
//!
//! ```text
//! # one host a line; what is in brackets may be left out
//! name [slots=N] [address=A] [user=U] [port=P]
//! ```
//!
//! Pure: text in, hosts or a message out. Who reads the file and who logs in are others.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use talisman_job::options::NODES_MAX;

/// The name of the machine on which the job is started: its nodes are started without ssh.
pub const LOCALHOST: &str = "localhost";

/// In front of lines of hosts with commas between, which `--hosts` takes instead of a file.
pub const LIST: &str = "list:";

/// A machine of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Host {
    /// What ssh calls it: a name, an address, or an alias of the user's ssh configuration.
    pub name: String,
    /// Nodes it takes at most.
    pub slots: u32,
    /// Where its nodes listen; if not given, where ssh came in.
    pub address: Option<IpAddr>,
    /// Whom to log in as, if not as ssh's configuration says.
    pub user: Option<String>,
    /// The port of its ssh server, if not as ssh's configuration says.
    pub port: Option<u16>,
    /// By what a program is started there.
    pub login: Login,
}

/// By what programs are started on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Login {
    /// `ssh`.
    #[default]
    Ssh,
    /// `srun`: Slurm counts and limits what runs there, and ends it with the allocation.
    Srun,
}

impl Login {
    /// What the program is called that does it.
    pub fn program(self) -> &'static str {
        match self {
            Login::Ssh => "ssh",
            Login::Srun => "srun",
        }
    }

    /// What is wrong where that program cannot be started, and what people can do.
    pub fn cannot_be_run(self, error: &io::Error) -> String {
        let cure = match self {
            Login::Ssh => "install ssh's client here, or use one host",
            Login::Srun => {
                "put Slurm's commands into PATH, or set TALISMAN_SSH to options of ssh (-4) to log in by that"
            }
        };
        format!("{} cannot be run: {error}; {cure}", self.program())
    }
}

impl Host {
    /// A host of which only the name is known, with one slot.
    pub fn named(name: &str) -> Result<Host, LineError> {
        check_word("name", name)?;
        Ok(Host { name: name.into(), slots: 1, ..Host::default() })
    }

    /// Whether it is the machine on which the job is started.
    pub fn is_local(&self) -> bool {
        self.name == LOCALHOST
    }

    /// What people can try to see whether a program can be started there.
    pub fn trial(&self) -> String {
        match self.login {
            Login::Ssh => format!("ssh {} true", self.name),
            Login::Srun => format!("srun --overlap --nodelist={} true", self.name),
        }
    }

    /// Where its nodes listen as far as the file tells: those of a host alone on loopback.
    fn known_address(&self, alone: bool) -> Option<IpAddr> {
        self.address.or(alone.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) if self.is_local() => write!(f, "{} ({address})", self.name),
            _ => f.write_str(&self.name),
        }
    }
}

/// All hosts, in the order in which they are filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

impl Hosts {
    /// Hosts that are known from elsewhere than a file.
    ///
    /// # Errors
    /// There is none, one is there twice, or together they have too many slots.
    pub fn new(hosts: Vec<Host>) -> Result<Hosts, HostsError> {
        let numbered = hosts.into_iter().zip(1..).map(|(host, line)| (line, host)).collect();
        Hosts::checked(numbered)
    }

    /// The hosts of a file's text.
    ///
    /// # Errors
    /// The first line that cannot be, by its number; a file without hosts.
    pub fn parse(text: &str) -> Result<Hosts, HostsError> {
        let mut hosts = Vec::new();
        // Some editors put a mark before the text that says how it is encoded.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in text.lines().zip(1..) {
            let words = line.split('#').next().unwrap_or_default().split_whitespace();
            let host = host(words).map_err(|error| HostsError::Line { line: number, error })?;
            hosts.extend(host.map(|host| (number, host)));
        }
        Hosts::checked(hosts)
    }

    /// The hosts of a list: a file's lines with commas between.
    ///
    /// # Errors
    /// As for [`Hosts::parse`].
    pub fn listed(list: &str) -> Result<Hosts, HostsError> {
        Hosts::parse(&list.replace(',', "\n"))
    }

    /// Nodes that all hosts together take.
    pub fn slots(&self) -> u32 {
        self.0.iter().map(|host| host.slots).sum()
    }

    /// Distributes a job's nodes: each host is filled before the next, so that neighbours in number are on one host.
    /// Hosts that are left without a node appear only if some may come there when the job grows to the `most` nodes that it may have.
    ///
    /// # Errors
    /// More nodes than slots, or a local host among others that nobody told where to listen.
    pub fn distribute(&self, nodes: u32, most: u32) -> Result<Vec<Share>, HostsError> {
        let slots = self.slots();
        if nodes > slots {
            return Err(HostsError::TooFewSlots { nodes, slots, hosts: self.0.len() });
        }
        let shares = self.shares(nodes, most);
        self.check_addresses(&shares)?;
        Ok(shares)
    }

    fn shares(&self, nodes: u32, most: u32) -> Vec<Share> {
        let (mut first, mut slots) = (0, 0);
        let mut shares = Vec::new();
        for host in &self.0 {
            let count = host.slots.min(nodes - first);
            if slots < most {
                shares.push(Share { host: host.clone(), first_node: first, nodes: count });
            }
            first += count;
            slots += host.slots;
        }
        shares
    }

    /// A local host that shares a job with others has to be told its address: loopback is no use to them.
    fn check_addresses(&self, shares: &[Share]) -> Result<(), HostsError> {
        let alone = shares.len() == 1;
        let lost = |share: &Share| share.host.is_local() && share.host.known_address(alone).is_none();
        if shares.iter().any(lost) { Err(HostsError::LocalWithoutAddress) } else { Ok(()) }
    }

    fn checked(hosts: Vec<(usize, Host)>) -> Result<Hosts, HostsError> {
        let mut seen = HashSet::new();
        let mut slots = 0;
        for (line, host) in &hosts {
            // Several "hosts" on this machine are told apart by their addresses.
            let address = host.address.filter(|_| host.is_local());
            if !seen.insert((&host.name, address)) {
                let error = LineError::Twice { name: host.name.clone() };
                return Err(HostsError::Line { line: *line, error });
            }
            slots += u64::from(host.slots);
        }
        if slots > u64::from(NODES_MAX) {
            return Err(HostsError::TooManySlots { slots });
        }
        if hosts.is_empty() {
            return Err(HostsError::Empty);
        }
        Ok(Hosts(hosts.into_iter().map(|(_, host)| host).collect()))
    }
}

/// What a host has of a job: nodes `first_node .. first_node + nodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub host: Host,
    pub first_node: u32,
    pub nodes: u32,
}

impl Share {
    /// So many nodes, all of them on this machine.
    pub fn here(nodes: u32) -> Share {
        let host = Host { name: LOCALHOST.into(), slots: nodes, ..Host::default() };
        Share { host, first_node: 0, nodes }
    }

    /// The numbers of its nodes.
    pub fn numbers(&self) -> std::ops::Range<u32> {
        self.first_node..self.first_node + self.nodes
    }

    /// Without the last numbers of the job whose shares these are: those of processes that are no nodes yet.
    pub fn without_last(&self, all: &[Share], last: u32) -> Share {
        let end = all.iter().map(|share| share.nodes).sum::<u32>().saturating_sub(last);
        let nodes = end.saturating_sub(self.first_node).min(self.nodes);
        Share { nodes, ..self.clone() }
    }

    /// What the host is called, unless it is this machine.
    pub fn name_elsewhere(&self) -> Option<String> {
        (!self.host.is_local()).then(|| self.host.to_string())
    }

    /// Where its nodes listen, as far as it is known without asking the host: `alone` if it has all nodes of the job.
    pub fn address(&self, alone: bool) -> Option<IpAddr> {
        self.host.known_address(alone)
    }
}

/// Nodes in words: `node 3`, `nodes 0 to 3`.
pub fn in_words(nodes: &std::ops::Range<u32>) -> String {
    match nodes.len() {
        0 => "no node".into(),
        1 => format!("node {}", nodes.start),
        _ => format!("nodes {} to {}", nodes.start, nodes.end - 1),
    }
}

/// The host of one line's words; an empty line has none.
fn host<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Option<Host>, LineError> {
    let Some(name) = words.next() else { return Ok(None) };
    let mut host = Host::named(name)?;
    let mut given = HashSet::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| LineError::NoValue { word: word.into() })?;
        if !given.insert(key) {
            return Err(LineError::KeyTwice { key: key.into() });
        }
        set(&mut host, key, value)?;
    }
    Ok(Some(host))
}

fn set(host: &mut Host, key: &str, value: &str) -> Result<(), LineError> {
    let wrong = |wanted| LineError::Value { key: key.into(), value: value.into(), wanted };
    match key {
        "slots" => host.slots = slots(value).ok_or(wrong("a number from 1 to 65536"))?,
        "address" => host.address = Some(address(value).ok_or(wrong("an IP address of one interface"))?),
        "user" => {
            check_word("user", value)?;
            host.user = Some(value.into());
        }
        "port" => host.port = Some(port(value).ok_or(wrong("a number from 1 to 65535"))?),
        _ => return Err(LineError::UnknownKey { key: key.into() }),
    }
    Ok(())
}

fn slots(value: &str) -> Option<u32> {
    value.parse().ok().filter(|slots| (1..=NODES_MAX).contains(slots))
}

/// All interfaces at once are no address: the other nodes could not dial it.
fn address(value: &str) -> Option<IpAddr> {
    value.parse::<IpAddr>().ok().filter(|address| !address.is_unspecified() && !address.is_multicast())
}

fn port(value: &str) -> Option<u16> {
    value.parse().ok().filter(|port| *port != 0)
}

/// Names become arguments of ssh, so one that ssh would take for an option, or the user for two, is refused.
fn check_word(what: &'static str, word: &str) -> Result<(), LineError> {
    let fits = |c: char| c.is_alphanumeric() || "._-:%\\+".contains(c);
    match word {
        _ if word.contains('@') => Err(LineError::At { word: word.into() }),
        _ if word.is_empty() || word.starts_with('-') || !word.chars().all(fits) => {
            Err(LineError::Name { what, word: word.into() })
        }
        _ => Ok(()),
    }
}

/// Why the hosts of a job cannot be; a usage error (status 2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsError {
    /// A line that cannot be.
    #[error("line {line}: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        error: LineError,
    },
    /// No host at all.
    #[error("no host: write one a line, as `name slots=2`")]
    Empty,
    /// More nodes than the hosts take.
    #[error(
        "{nodes} nodes do not fit: {hosts} hosts have {slots} slots in all; add `slots=N` to a line, or use fewer --nodes"
    )]
    TooFewSlots {
        /// Nodes of the job.
        nodes: u32,
        /// Slots of all hosts.
        slots: u32,
        /// How many hosts there are.
        hosts: usize,
    },
    /// More slots than a job may have nodes.
    #[error("{slots} slots in all: a job has at most {NODES_MAX} nodes")]
    TooManySlots {
        /// Slots of all hosts.
        slots: u64,
    },
    /// `localhost` beside other hosts, without `address=`.
    #[error(
        "`{LOCALHOST}` beside other hosts needs an address that they reach: write `{LOCALHOST} address=A`"
    )]
    LocalWithoutAddress,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A name that is none.
    #[error("`{word}` is no {what}: letters, digits and any of `. _ - : % \\ +`, not starting with `-`")]
    Name {
        /// What it was to be.
        what: &'static str,
        /// What is there.
        word: String,
    },
    /// `user@host`.
    #[error("`{word}`: write the user after the host, as `host user=name`")]
    At {
        /// What is there.
        word: String,
    },
    /// A word without `=` after the name.
    #[error("`{word}`: after the name come slots=N, address=A, user=U, port=P; one host a line")]
    NoValue {
        /// What is there.
        word: String,
    },
    /// A key that is none.
    #[error("`{key}=` is unknown: there are slots=N, address=A, user=U, port=P")]
    UnknownKey {
        /// What is there.
        key: String,
    },
    /// A key given twice.
    #[error("`{key}=` is there twice")]
    KeyTwice {
        /// Which.
        key: String,
    },
    /// A value that cannot be.
    #[error("`{key}={value}`: give {wanted}")]
    Value {
        /// Of which key.
        key: String,
        /// What is there.
        value: String,
        /// What could be.
        wanted: &'static str,
    },
    /// A host given twice.
    #[error("the host `{name}` is there twice; use slots=N for several nodes on it")]
    Twice {
        /// Which.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<Host> {
        Hosts::parse(text).unwrap().0
    }

    fn refused(text: &str) -> String {
        Hosts::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_mark_of_the_encoding_is_no_part_of_a_name() {
        let hosts = Hosts::parse("\u{feff}a slots=2\r\nb\r\n").unwrap();
        assert_eq!(hosts, Hosts::parse("a slots=2\nb\n").unwrap());
        assert!(Hosts::parse("\u{feff}").is_err_and(|error| error == HostsError::Empty));
    }

    #[test]
    fn a_line_has_a_name_and_what_differs_from_the_defaults() {
        let text = "# the cluster\n\nalpha\n  beta slots=4 address=10.0.0.2 user=eve port=2222 # big\n\tfe80::1%eth0\n";
        let alpha = Host::named("alpha").unwrap();
        let beta = Host {
            name: "beta".into(),
            slots: 4,
            address: Some("10.0.0.2".parse().unwrap()),
            user: Some("eve".into()),
            port: Some(2222),
            ..Host::default()
        };
        assert_eq!(parsed(text), [alpha, beta, Host::named("fe80::1%eth0").unwrap()]);
    }

    #[test]
    fn a_list_has_the_lines_of_a_file() {
        assert_eq!(
            Hosts::listed("a slots=2,b address=10.0.0.1"),
            Hosts::parse("a slots=2\nb address=10.0.0.1")
        );
        assert!(Hosts::listed("a,").is_ok() && Hosts::listed("").is_err() && Hosts::listed("a,a").is_err());
    }

    #[test]
    fn windows_line_ends_are_no_part_of_a_name() {
        assert_eq!(parsed("a slots=2\r\nb\r\n").iter().map(|host| &*host.name).collect::<String>(), "ab");
    }

    #[test]
    fn errors_name_the_line_and_say_what_to_write() {
        for (text, line, said) in [
            ("a\nb slots=0", 2, "a number from 1 to 65536"),
            ("a slots=many", 1, "`slots=many`"),
            ("a\n\n# c\na slots=2", 4, "the host `a` is there twice; use slots=N"),
            ("a b", 1, "one host a line"),
            ("a slot=2", 1, "`slot=` is unknown: there are slots=N"),
            ("a slots=1 slots=2", 1, "`slots=` is there twice"),
            ("a address=0.0.0.0", 1, "one interface"),
            ("a address=somewhere", 1, "an IP address"),
            ("a port=0", 1, "a number from 1 to 65535"),
            ("a port=70000", 1, "a number from 1 to 65535"),
            ("eve@a", 1, "as `host user=name`"),
            ("-oProxyCommand=x", 1, "is no name"),
            ("a user=-l", 1, "is no user"),
            ("a user=", 1, "is no user"),
            ("a;b", 1, "is no name"),
        ] {
            let error = refused(text);
            assert!(
                error.starts_with(&format!("line {line}: ")) && error.contains(said),
                "{text:?}: {error}"
            );
        }
        assert!(refused("# nobody\n").contains("write one a line"));
        assert!(refused("a slots=65536\nb").contains("at most 65536"));
    }

    #[test]
    fn several_local_hosts_differ_in_their_addresses() {
        let text = "localhost address=127.0.0.1\nlocalhost address=127.0.0.2 slots=2";
        assert_eq!(parsed(text).len(), 2);
        assert!(refused("localhost\nlocalhost").contains("twice"));
        assert!(refused("a address=10.0.0.1\na address=10.0.0.2").contains("twice"));
    }

    fn shares(text: &str, nodes: u32) -> Vec<(String, u32, u32)> {
        let all = Hosts::parse(text).unwrap().distribute(nodes, nodes).unwrap();
        all.into_iter().map(|share| (share.host.name, share.first_node, share.nodes)).collect()
    }

    #[test]
    fn hosts_are_filled_one_after_the_other() {
        let text = "a slots=2\nb slots=3\nc";
        assert_eq!(Hosts::parse(text).unwrap().slots(), 6);
        let (a, b, c) = (("a".to_owned(), 0, 2), ("b".to_owned(), 2, 3), ("c".to_owned(), 5, 1));
        assert_eq!(shares(text, 6), [a.clone(), b, c]);
        assert_eq!(shares(text, 3), [a, ("b".to_owned(), 2, 1)]);
        assert_eq!(shares(text, 1), [("a".to_owned(), 0, 1)]);
        let error = Hosts::parse(text).unwrap().distribute(7, 7).unwrap_err();
        assert_eq!(error, HostsError::TooFewSlots { nodes: 7, slots: 6, hosts: 3 });
    }

    #[test]
    fn the_local_host_is_reached_by_loopback_only_if_it_is_alone() {
        let alone = Hosts::parse("localhost slots=2\nb").unwrap();
        let shares = alone.distribute(2, 2).unwrap();
        assert_eq!(shares[0].address(true), Some("127.0.0.1".parse().unwrap()));
        assert_eq!(alone.distribute(3, 3), Err(HostsError::LocalWithoutAddress));
        let told = Hosts::parse("localhost address=10.0.0.1\nb").unwrap().distribute(2, 2).unwrap();
        assert_eq!(told[0].address(false), Some("10.0.0.1".parse().unwrap()));
        assert_eq!(told[1].address(false), None);
    }

    #[test]
    fn shares_are_told_in_words() {
        let shares = Hosts::parse("a\nb slots=2").unwrap().distribute(3, 3).unwrap();
        let words: Vec<String> = shares.iter().map(|share| in_words(&share.numbers())).collect();
        assert_eq!(words, ["node 0", "nodes 1 to 2"]);
        assert_eq!(shares[1].numbers(), 1..3);
    }
}
