//! What the launcher and the agent of a host say to each other, framed as the control connections of nodes are.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::naming;
use crate::printer::{Chunk, Stream};
use crate::succession::estate::{Estate, Orphan};
use talisman_control::event::Event;
use talisman_control::exit_cause::How;
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_control::succession::discovery::Word;
use talisman_control::succession::quorum::Roll;
use talisman_job::variables::{CONTROL_VARIABLE, SSH_VARIABLE};
use talisman_store::files::remote::{Answer, Ask};

/// From the launcher to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToAgent {
    /// What to start; the first message.
    Begin(Box<Begin>),
    /// To a node of this host.
    Say(u32, ToNode),
    /// Kill a node of this host.
    Kill(u32),
    /// Start a process for a node that has none any more.
    Start(u32),
    /// A process that waits, of this number, is this node from now on.
    Use { spare: u32, node: u32 },
    /// So many bytes of output have gone on: as many more may come.
    Taken(u32),
    /// Standard input of the job's first node, which is here: an answer to [`FromAgent::InputWanted`]. Empty at its end.
    Input(Vec<u8>),
    /// The launcher is there.
    Ping,
    /// All nodes have ended: hand on what they wrote, and end.
    Finish,
    /// Who is there, for the case that the launcher is lost; the answer is `Enrolled`.
    Roll(Roll),
    /// The answer to `AreYouThere` of this number.
    Here(u64),
    /// To an agent that looks for a launcher: somebody listens, and does not know more yet.
    Wait,
    /// To an agent that looks for a launcher: the job goes on without this host, if at all.
    Out,
    /// A question about files, of this number; it may come before `Begin`. The answer is `Answer`.
    Ask(u64, Ask),
}

impl From<&ToAgent> for Word {
    fn from(word: &ToAgent) -> Word {
        match word {
            ToAgent::Wait => Word::Wait,
            ToAgent::Out => Word::Out,
            _ => Word::Leads,
        }
    }
}

/// What an agent starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The arguments of each node, the name the program is called by first.
    args: Vec<Bytes>,
    /// Variables that the launcher has and the nodes shall have.
    variables: Vec<(Bytes, Bytes)>,
    /// The launcher's working folder.
    folder: Bytes,
    /// The nodes of this host, and behind them the processes that wait there.
    pub nodes: Vec<u32>,
    /// How many of them, the last ones, wait to replace others or to be added, and share nothing with them.
    pub spares: u32,
    /// PEs of each.
    pub pes: u32,
    /// Whether they share memory.
    pub memory: bool,
    /// Where they listen, if the hosts file says it.
    pub address: Option<IpAddr>,
    /// Without a word for so long, the launcher counts as lost.
    pub silence: Duration,
    /// What the host needs to do without the launcher; none if its nodes end with it.
    pub estate: Option<Estate>,
}

/// Arguments and paths may be any bytes.
type Bytes = Vec<u8>;

impl Begin {
    /// What comes from this process itself: its arguments, its folder, and those of its variables that nodes need.
    pub fn of_this_process() -> std::io::Result<Begin> {
        let variables = std::env::vars_os().filter(|(name, _)| goes_along(name));
        let job = naming::variable().map(|(name, value)| (name.into(), value.into()));
        Ok(Begin {
            args: std::env::args_os().map(OsStringExt::into_vec).collect(),
            variables: variables
                .chain(job)
                .map(|(name, value)| (name.into_vec(), value.into_vec()))
                .collect(),
            folder: std::env::current_dir()?.into_os_string().into_vec(),
            ..Begin::default()
        })
    }

    pub fn args(&self) -> Vec<OsString> {
        self.args.iter().cloned().map(OsString::from_vec).collect()
    }

    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let text = |bytes: &Bytes| OsString::from_vec(bytes.clone());
        self.variables.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    pub fn folder(&self) -> &OsStr {
        OsStr::from_bytes(&self.folder)
    }
}

/// Runtime options, and what Rust itself listens to; not what concerns the launcher or one process alone.
fn goes_along(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let ours = name.starts_with(b"TALISMAN_") || name.starts_with(b"RUST_");
    ours && !OF_ONE_PROCESS.iter().any(|other| other.as_bytes() == name)
}

const OF_ONE_PROCESS: [&str; 2] = [SSH_VARIABLE, CONTROL_VARIABLE];

/// From the agent to the launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromAgent {
    /// The process of a node runs.
    Started { node: u32, pid: u32 },
    /// A node said something.
    Said(u32, ToLauncher),
    /// What a node said cannot be read.
    Garbled(u32, String),
    /// A node has no process.
    NotStarted(u32, String),
    /// A node's process is gone.
    Ended(u32, How),
    /// A node wrote something.
    Output { node: u32, to_errors: bool, bytes: Vec<u8> },
    /// The first node may be given more input.
    InputWanted,
    /// The agent is there.
    Alive,
    /// The agent cannot do what it is for.
    Failed(String),
    /// All output has been handed on.
    Finished,
    /// The agent listens there for those that may look for a launcher.
    Listening(SocketAddr),
    /// The roll of this number is known.
    Enrolled(u64),
    /// Another agent has lost the launcher: is it there?
    AreYouThere(u64),
    /// The launcher is gone: the first message to whoever has taken its place.
    Follow(Box<Orphan>),
    /// The answer to the question of this number.
    Answer(u64, Answer),
}

impl FromAgent {
    pub fn of_event(node: u32, event: Event) -> FromAgent {
        match event {
            Event::Started(pid) => FromAgent::Started { node, pid },
            Event::Said(message) => FromAgent::Said(node, message),
            Event::Garbled(what) => FromAgent::Garbled(node, what),
            Event::NotStarted(why) => FromAgent::NotStarted(node, why),
            Event::Ended(how) => FromAgent::Ended(node, how),
            Event::Lost(why) => FromAgent::Failed(why),
        }
    }

    pub fn of_chunk(chunk: Chunk) -> FromAgent {
        let Chunk { node, stream, bytes } = chunk;
        FromAgent::Output { node, to_errors: stream == Stream::Err, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_runtime_go_along_and_others_do_not() {
        let goes = |name: &str| goes_along(OsStr::new(name));
        assert!(goes("TALISMAN_PES") && goes("RUST_BACKTRACE"));
        assert!(!goes("PATH") && !goes("TALISMAN_SSH") && !goes("TALISMAN_CONTROL"));
    }
}
