//! What one rank says of its waiting; set beside what the others say, whatever node they are on.

use std::collections::BTreeMap;

use talisman_core::chare::{Explainer, Waiting as Wait};
use talisman_pup::{Pup, from_bytes, inventory, to_bytes};

use super::{Waiting, explain};
use crate::comm::is_of_parts;
use crate::engine::{Condition, Context, Doing, Engine, Head, Pattern};
use crate::rank::Rank;

/// For people, as the name of the explainer.
const NAME: &str = "virtual MPI ranks";

inventory::submit! { Explainer { name: NAME, explain: together } }

/// Requests, and messages that were sent instead of what is waited for, that a rank tells of.
const TOLD: usize = 16;

/// A rank, and how it names communicators.
#[derive(Debug, Pup)]
struct Note {
    waiting: Waiting,
    names: Vec<(Context, String)>,
}

/// For the runtime's report of a job that is stuck.
pub(crate) fn of_rank(rank: &Rank) -> Vec<Wait> {
    let (process, site) = (rank.process(), rank.site());
    let doing = doing(&process.engine);
    let kept = instead(&process.engine, &doing);
    let contexts = doing.iter().filter_map(Doing::context).chain(kept.iter().map(|head| head.context));
    let names: BTreeMap<Context, String> =
        contexts.map(|context| (context, process.comms.name_of(context))).collect();
    let waiting = Waiting {
        rank: process.engine.rank(),
        call: site.call.to_string(),
        place: rank.place(),
        any: matches!(process.engine.waits_for(), Some(Condition::Any(_))),
        is_ready: rank.is_ready(),
        doing,
        kept,
    };
    let note = Note { waiting, names: names.into_iter().collect() };
    vec![Wait::new("rank", "its peers", site.file.clone(), site.line).with_note(NAME, to_bytes(&note))]
}

/// What a rank waits for; of a collective the messages that it lacks.
fn doing(engine: &Engine) -> Vec<Doing> {
    let blocked = engine.blocked_on();
    if !blocked.iter().any(|doing| matches!(doing, Doing::Opened(_))) {
        return blocked.into_iter().take(TOLD).collect();
    }
    let parts = engine.posted().into_iter().map(|(pattern, _)| pattern).filter(is_of_collective);
    let others = blocked.into_iter().filter(|doing| !matches!(doing, Doing::Opened(_)));
    let all: Vec<Doing> = others.chain(parts.map(Doing::Receive)).take(TOLD).collect();
    // Sends of collectives are no receives, and what has no parts is of the program's own.
    if all.is_empty() { engine.blocked_on() } else { all }
}

/// A communicator has two contexts, the second of which is that of its collectives, and a third of operations in parts.
pub(super) fn is_of_collective(pattern: &Pattern) -> bool {
    pattern.context % 2 == 1 && !is_of_parts(pattern.context)
}

/// Messages from the right source that no receive accepts.
fn instead(engine: &Engine, doing: &[Doing]) -> Vec<Head> {
    let wanted = |head: &&Head| {
        doing.iter().any(|doing| match doing {
            Doing::Receive(pattern) | Doing::Probe(pattern) => {
                !is_of_collective(pattern) && pattern.source.is_none_or(|source| source == head.source)
            }
            _ => false,
        })
    };
    engine.unexpected().filter(|head| head.context % 2 == 0).filter(wanted).take(TOLD).copied().collect()
}

/// The lines of all ranks that wait.
fn together(notes: Vec<Vec<u8>>) -> Vec<String> {
    let notes: Vec<Note> = notes.iter().filter_map(|note| from_bytes(note).ok()).collect();
    let mut all: Vec<Waiting> = Vec::with_capacity(notes.len());
    let mut names = BTreeMap::new();
    for note in notes {
        all.push(note.waiting);
        names.extend(note.names);
    }
    let name_of = |context: Context| {
        names.get(&context).cloned().unwrap_or_else(|| format!("communicator {}", context / 2))
    };
    explain(&all, name_of)
}
