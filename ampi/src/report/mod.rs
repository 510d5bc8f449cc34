//! The report of a job that is stuck: which rank waits for what, and why that does not come.
//!
//! ```
//! use talisman_ampi::engine::{Doing, Pattern};
//! use talisman_ampi::report::{Waiting, explain};
//!
//! let receive = Doing::Receive(Pattern { context: 0, source: Some(1), tag: Some(8) });
//! let (call, place) = ("MPI_Recv".into(), "main.rs:7".into());
//! let (any, is_ready, kept) = (false, false, vec![]);
//! let waiting = Waiting { rank: 0, call, place, any, is_ready, doing: vec![receive], kept };
//! let lines = explain(&[waiting], |_| "MPI_COMM_WORLD".into());
//! assert_eq!(lines, ["rank 0 in MPI_Recv (main.rs:7) waits for tag 8 from 1 in MPI_COMM_WORLD; 1 has ended"]);
//! ```

mod wait;

use std::collections::BTreeMap;

use talisman_pup::Pup;

use crate::comm::ContextPair;
use crate::engine::{Context, Doing, Head, Pattern, Rank};

use wait::is_of_collective;
pub(crate) use wait::of_rank;

#[cfg(test)]
mod tests;

/// A rank that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Waiting {
    /// Which one.
    pub rank: Rank,
    /// The call that it is in.
    pub call: String,
    /// File and line of the call, with its function if that is known.
    pub place: String,
    /// One of what it waits for is enough.
    pub any: bool,
    /// It would go on if it was run.
    pub is_ready: bool,
    /// What it waits for.
    pub doing: Vec<Doing>,
    /// Messages that it has and has not received.
    pub kept: Vec<Head>,
}

/// A line for each rank that waits, those first that were sent something else than they wait for. `name_of` names the
/// communicator of a context. Ranks that are not among `all` have ended.
pub fn explain(all: &[Waiting], name_of: impl Fn(Context) -> String) -> Vec<String> {
    let by_rank: BTreeMap<Rank, &Waiting> = all.iter().map(|waiting| (waiting.rank, waiting)).collect();
    let mut order: Vec<&Waiting> = by_rank.values().copied().collect();
    order.sort_by_key(|waiting| (waiting.kept.is_empty(), waiting.rank));
    let report = Report { by_rank, name_of };
    order.into_iter().map(|waiting| report.line(waiting)).collect()
}

struct Report<'a, F> {
    by_rank: BTreeMap<Rank, &'a Waiting>,
    name_of: F,
}

impl<F: Fn(Context) -> String> Report<'_, F> {
    fn line(&self, waiting: &Waiting) -> String {
        let parts: Vec<String> = waiting.doing.iter().map(|doing| self.part(waiting, doing)).collect();
        let link = if waiting.any { ", or " } else { ", and " };
        let parts = match (parts.is_empty(), waiting.is_ready) {
            (false, _) => parts.join(link),
            (true, true) => "waits to be run".to_owned(),
            (true, false) => "waits for the other ranks".to_owned(),
        };
        format!("rank {} in {} ({}) {parts}", waiting.rank, waiting.call, waiting.place)
    }

    fn part(&self, waiting: &Waiting, doing: &Doing) -> String {
        match doing {
            Doing::Receive(Pattern { context, source, .. })
                if ContextPair::around(*context) == ContextPair::PORTS =>
            {
                let owner = source.map_or("anybody".to_owned(), |owner| owner.to_string());
                format!("waits for another rank at a port of {owner}")
            }
            Doing::Receive(pattern) if is_of_collective(pattern) => self.part_of_collective(pattern),
            Doing::Receive(pattern) | Doing::Probe(pattern) => self.message(waiting, pattern),
            Doing::Pull { from, context } => {
                format!("waits for the bytes of a message from {from} in {}", (self.name_of)(*context))
            }
            Doing::Send { to, context, tag, bytes } => {
                let name = (self.name_of)(*context);
                let does = self.does(*to);
                format!("waits until {to} receives {bytes} bytes with tag {tag} in {name}; {to} {does}")
            }
            Doing::Opened(_) => "waits for the others".to_owned(),
        }
    }

    /// A member that has not come to a collective, or not so far in it.
    fn part_of_collective(&self, pattern: &Pattern) -> String {
        let name = (self.name_of)(pattern.context);
        match pattern.source {
            Some(source) => format!("waits for {source} to come, in {name}; {source} {}", self.does(source)),
            None => format!("waits for the others, in {name}"),
        }
    }

    /// A message that does not come, with those that were sent instead.
    fn message(&self, waiting: &Waiting, pattern: &Pattern) -> String {
        let source = pattern.source.map_or("anybody".to_owned(), |source| source.to_string());
        let tag = pattern.tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
        let wanted = format!("waits for {tag} from {source} in {}", (self.name_of)(pattern.context));
        let sent: Vec<String> = waiting.kept.iter().filter_map(|head| self.instead(pattern, head)).collect();
        let does = pattern.source.map(|source| (source, self.does(source)));
        match (sent.is_empty(), does) {
            (true, None) => wanted,
            (true, Some((source, does))) => format!("{wanted}; {source} {does}"),
            (false, None) => format!("{wanted}; {}", sent.join(", ")),
            (false, Some((_, does))) => format!("{wanted}; {}, and {does}", sent.join(", ")),
        }
    }

    /// A message from the right source that the receive does not accept, and how it differs.
    fn instead(&self, pattern: &Pattern, head: &Head) -> Option<String> {
        if pattern.source.is_some_and(|source| source != head.source) {
            return None;
        }
        let (source, tag) = (head.source, head.tag);
        if head.context != pattern.context {
            return Some(format!("{source} has sent it tag {tag} in {}", (self.name_of)(head.context)));
        }
        Some(format!("{source} has sent it tag {tag}"))
    }

    fn does(&self, rank: Rank) -> String {
        match self.by_rank.get(&rank) {
            Some(waiting) => format!("waits in {} ({})", waiting.call, waiting.place),
            None => "has ended".to_owned(),
        }
    }
}
