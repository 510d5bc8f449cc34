//! What is on its way between nodes beside frames, and between nodes and whoever leads.

use std::collections::BTreeMap;
use std::time::Duration;

use talisman_base::ids::PeId;
use talisman_base::rng::Rng;
use talisman_core::logging::words::{Said, Word};
use talisman_ft::event::Event;
use talisman_ft::logging::{Incarnation, LogId, Membership, Order, Session, Standing};
use talisman_ft::{NodeId, Version};
use talisman_job::job;

/// What one of them takes, in nanoseconds: between these.
const TAKES_NS: (u64, u64) = (3_000, 120_000);
/// A node sends its keeper its log so much after it was given something; a seed takes one of these.
const FLUSH_NS: [(u64, u64); 2] = [(1_000, 60_000), (50_000, 900_000)];

/// What a turn of a PE on a thread of its own takes until its node hears of it.
const TURN_NS: (u64, u64) = (200, 40_000);

/// Something on its way.
pub(super) enum Mail {
    /// From a process of one incarnation to that of another.
    Word { from: NodeId, to: NodeId, line: Version, between: (Incarnation, Incarnation), word: Word },
    /// To the leader.
    Report { from: NodeId, incarnation: Incarnation, event: Event },
    /// To whoever prints.
    Say { from: LogId, incarnation: Incarnation, line: Version, number: u64, said: Said },
    /// From whoever prints: so much has been printed of what was said on a PE in that line.
    Printed { to: NodeId, incarnation: Incarnation, line: Version, log: LogId, before: u64 },
    /// From whoever leads: the job ends as soon as all is printed.
    Finish { to: NodeId, incarnation: Incarnation, end: job::End },
    /// Another leads from now on, and asks where the node is.
    Introduce { to: NodeId, incarnation: Incarnation },
    /// That.
    Standing { from: NodeId, incarnation: Incarnation, standing: Box<Standing>, end: Option<job::End> },
    /// From the leader, when the job was in that line.
    Order { to: NodeId, incarnation: Incarnation, order: Order, line: Version },
    /// To the leader: a node holds its part of a cut twice, as of a recovery and in a membership.
    Holds { from: NodeId, incarnation: Incarnation, version: Version, of: (Session, u32) },
    /// From the leader: the next line has begun.
    Line { to: NodeId, incarnation: Incarnation, version: Version, membership: Box<Membership> },
    /// From the leader: who is to be there in the next one.
    Expect { to: NodeId, incarnation: Incarnation, membership: Box<Membership> },
    /// From the leader: it is not there in the line that has begun.
    Leave { to: NodeId, incarnation: Incarnation },
    /// A process is there.
    Start { node: NodeId, incarnation: Incarnation },
    /// It is time to send the keeper what is new.
    Flush { node: NodeId, incarnation: Incarnation },
    /// What a PE did in this turn comes back to its node.
    TurnOver { pe: PeId, turn: u64 },
}

/// Where something comes from: a node, or whoever leads and prints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Node(NodeId),
    Leader,
}

/// All that is on its way, each under a number.
pub(super) struct Post {
    mail: BTreeMap<u32, Mail>,
    next: u32,
    /// When the last between two arrives: none overtakes another.
    last: BTreeMap<(End, End), u64>,
    rng: Rng,
    flush_ns: (u64, u64),
    /// Until a process is there in a lost one's place, if that is said.
    pause: Option<Duration>,
}

impl Post {
    pub(super) fn new(seed: u64, pause: Option<Duration>) -> Self {
        let mut rng = Rng::new(seed);
        // On the model of a machine it is measured how long a recovery takes.
        let flush_ns = FLUSH_NS[pause.map_or_else(|| rng.below(FLUSH_NS.len() as u64) as usize, |_| 0)];
        Post { mail: BTreeMap::new(), next: 0, last: BTreeMap::new(), rng, flush_ns, pause }
    }

    /// Below this.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    /// Sends something off: its number, and when it arrives.
    pub(super) fn put(&mut self, mail: Mail, now: u64) -> (u32, u64) {
        let at = now + self.takes(&mail);
        let at = match ends(&mail) {
            None => at,
            Some(ends) => {
                let last = self.last.entry(ends).or_default();
                *last = at.max(*last + 1);
                *last
            }
        };
        let number = self.next;
        self.next += 1;
        self.mail.insert(number, mail);
        (number, at)
    }

    fn takes(&mut self, mail: &Mail) -> u64 {
        let (least, most) = match mail {
            Mail::Flush { .. } => self.flush_ns,
            Mail::TurnOver { .. } => TURN_NS,
            _ => TAKES_NS,
        };
        match self.pause.filter(|_| matches!(mail, Mail::Start { .. })) {
            Some(pause) => pause.as_nanos() as u64,
            None => least + self.rng.below(most - least),
        }
    }

    /// It arrives, unless it was lost.
    pub(super) fn take(&mut self, number: u32) -> Option<Mail> {
        self.mail.remove(&number)
    }

    /// Whoever leads is lost: nothing comes to it any more, and of what it had said to each node some of the last does not come. Processes that
    /// are about to begin end with it.
    pub(super) fn lose_leader(&mut self) {
        let mut cut: BTreeMap<NodeId, bool> = BTreeMap::new();
        let rng = &mut self.rng;
        self.mail.retain(|_, mail| match (&mail, ends(mail)) {
            (Mail::Start { .. }, _) | (_, Some((_, End::Leader))) => false,
            (_, Some((End::Leader, End::Node(to)))) => {
                let is_cut = cut.entry(to).or_insert_with(|| rng.below(3) == 0);
                *is_cut |= rng.below(4) == 0;
                !*is_cut
            }
            _ => true,
        });
    }
}

fn ends(mail: &Mail) -> Option<(End, End)> {
    match mail {
        Mail::Word { from, to, .. } => Some((End::Node(*from), End::Node(*to))),
        Mail::Report { from, .. } | Mail::Holds { from, .. } | Mail::Standing { from, .. } => {
            Some((End::Node(*from), End::Leader))
        }
        Mail::Say { from, .. } => Some((End::Node(from.node), End::Leader)),
        Mail::Order { to, .. }
        | Mail::Line { to, .. }
        | Mail::Expect { to, .. }
        | Mail::Leave { to, .. }
        | Mail::Printed { to, .. }
        | Mail::Finish { to, .. }
        | Mail::Introduce { to, .. } => Some((End::Leader, End::Node(*to))),
        Mail::Start { .. } | Mail::Flush { .. } | Mail::TurnOver { .. } => None,
    }
}
