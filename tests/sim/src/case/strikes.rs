//! Faults at steps of their own, said instead of those that a seed has.

use std::fmt::{self, Display};
use std::str::FromStr;

use talisman::simulation::What;

use super::{Drawn, Moment};

/// All that goes wrong, as on a command line: `2@17,launcher@40`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strikes(pub Vec<Strike>);

/// What happens, and before which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strike {
    /// What.
    pub blow: Blow,
    /// Just before this step.
    pub step: u64,
}

/// What a strike does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blow {
    /// Kills a node: `2`.
    Crash(u32),
    /// Kills the launcher: `launcher`.
    Launcher,
    /// Takes a host its power: `host1`.
    Host(u32),
    /// Stops a node for so many milliseconds: `stop2:500`.
    Stop(u32, u64),
    /// Resets all connections: `resets`.
    Resets,
}

impl Strikes {
    /// The faults on the nodes of these hosts, beside which so many processes have numbers of their own.
    pub(super) fn drawn(&self, hosts: &[u32], others: u32) -> Result<Vec<Drawn>, String> {
        let nodes = hosts.iter().sum();
        let mut drawn = Vec::new();
        for Strike { blow, step } in &self.0 {
            blow.is_on(nodes + others, hosts.len() as u32)?;
            for what in blow.whats(nodes) {
                drawn.push(Drawn { number: drawn.len(), moment: Moment::Step(*step), what });
            }
        }
        Ok(drawn)
    }

    /// How many nodes there have to be.
    pub fn nodes_least(&self) -> u32 {
        let least = |strike: &Strike| match strike.blow {
            Blow::Crash(node) | Blow::Stop(node, _) => node + 1,
            // Every host has a node.
            Blow::Host(host) => host + 1,
            Blow::Launcher | Blow::Resets => 1,
        };
        self.0.iter().map(least).max().unwrap_or(1)
    }
}

impl Blow {
    fn is_on(self, nodes: u32, hosts: u32) -> Result<(), String> {
        match self {
            Blow::Crash(node) | Blow::Stop(node, _) if node >= nodes => {
                Err(format!("there is no node {node} to strike: there are {nodes}"))
            }
            Blow::Host(host) if host >= hosts => {
                Err(format!("there is no host {host} to strike: there are {hosts}"))
            }
            _ => Ok(()),
        }
    }

    fn whats(self, nodes: u32) -> Vec<What> {
        match self {
            Blow::Crash(node) => vec![What::Crash { node }],
            Blow::Launcher => vec![What::LauncherLoss],
            Blow::Host(host) => vec![What::HostLoss { host }],
            Blow::Stop(node, ms) => vec![What::Stop { node, for_ns: ms.saturating_mul(1_000_000) }],
            Blow::Resets => {
                let pairs = (0..nodes).flat_map(|other| (0..other).map(move |one| (one, other)));
                pairs.map(|(one, other)| What::Reset { one, other }).collect()
            }
        }
    }
}

impl Display for Strikes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strikes: Vec<_> = self.0.iter().map(Strike::to_string).collect();
        f.write_str(&strikes.join(","))
    }
}

impl Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.blow, self.step)
    }
}

impl Display for Blow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blow::Crash(node) => write!(f, "{node}"),
            Blow::Launcher => f.write_str("launcher"),
            Blow::Host(host) => write!(f, "host{host}"),
            Blow::Stop(node, ms) => write!(f, "stop{node}:{ms}"),
            Blow::Resets => f.write_str("resets"),
        }
    }
}

impl FromStr for Strikes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Strikes)
    }
}

impl FromStr for Strike {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (blow, step) = text.split_once('@')?;
            Some(Strike { blow: Blow::read(blow)?, step: step.parse().ok()? })
        };
        read().ok_or_else(|| {
            format!("`{text}` is not of the form 2@17, launcher@17, host1@17, stop2:500@17 or resets@17")
        })
    }
}

impl Blow {
    fn read(text: &str) -> Option<Blow> {
        if let Some(host) = text.strip_prefix("host") {
            return host.parse().ok().map(Blow::Host);
        }
        if let Some(stop) = text.strip_prefix("stop") {
            let (node, ms) = stop.split_once(':')?;
            return Some(Blow::Stop(node.parse().ok()?, ms.parse().ok()?));
        }
        match text {
            "launcher" => Some(Blow::Launcher),
            "resets" => Some(Blow::Resets),
            node => node.parse().ok().map(Blow::Crash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "2@17,launcher@4,host1@3,stop0:500@9,resets@12";
        let strikes: Strikes = text.parse().expect("it is of the form");
        assert_eq!(strikes.to_string(), text);
        assert_eq!(strikes.nodes_least(), 3);
        for nonsense in ["", "2", "@3", "2@", "stop1@3", "host@3", "2@3,", "resets2@3"] {
            assert!(nonsense.parse::<Strikes>().is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_strike_is_a_fault_at_its_step() {
        let drawn = |text: &str| text.parse::<Strikes>().expect("it is of the form").drawn(&[1, 2], 0);
        let all = drawn("host1@3,resets@12").expect("they are there");
        assert!(all.iter().enumerate().all(|(number, drawn)| drawn.number == number));
        let steps: Vec<_> = all.iter().map(|drawn| drawn.moment).collect();
        assert_eq!(steps, [3, 12, 12, 12].map(Moment::Step), "three pairs of nodes have connections");
        assert_eq!(all[0].what, What::HostLoss { host: 1 });
        assert!(drawn("3@1").is_err() && drawn("stop3:1@1").is_err() && drawn("host2@1").is_err());
    }
}
