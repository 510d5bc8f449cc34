//! What one rank says of its waiting, without asking the others.

use talisman_core::chare::Waiting;

use crate::engine::{Condition, Context, Doing, Head, Pattern};
use crate::rank::Rank;

/// For the runtime's report of a job that is stuck: a line for each thing that the rank waits for.
pub(crate) fn of_rank(rank: &Rank) -> Vec<Waiting> {
    let (engine, site) = (&rank.process().engine, rank.site());
    let name_of = |context| rank.process().comms.name_of(context);
    let kept: Vec<Head> = engine.unexpected().copied().collect();
    let doing = engine.blocked_on();
    let what = match (engine.waits_for(), doing.is_empty()) {
        (None, _) if rank.is_ready() => "its turn".to_owned(),
        (None, _) => "the other ranks".to_owned(),
        (Some(_), true) => "requests that have ended".to_owned(),
        (Some(condition), false) => {
            let link = if matches!(condition, Condition::Any(_)) { ", or " } else { ", and " };
            doing.iter().map(|doing| part(doing, &kept, &name_of)).collect::<Vec<_>>().join(link)
        }
    };
    let what = if site.call.is_empty() { what } else { format!("{what} in `{}`", site.call) };
    vec![Waiting::new("rank", &what, site.file.clone(), site.line)]
}

fn part(doing: &Doing, kept: &[Head], name_of: &impl Fn(Context) -> String) -> String {
    match doing {
        Doing::Receive(pattern) | Doing::Probe(pattern) => message(pattern, kept, name_of),
        Doing::Pull { from, context } => {
            format!("the bytes of a message from {from} in {}", name_of(*context))
        }
        Doing::Send { to, context, tag, bytes } => {
            format!("{to} to receive {bytes} bytes with tag {tag} in {}", name_of(*context))
        }
        Doing::Opened(_) => "the other members of its communicator".to_owned(),
    }
}

/// A message that does not come, with those that came instead.
fn message(pattern: &Pattern, kept: &[Head], name_of: &impl Fn(Context) -> String) -> String {
    let source = pattern.source.map_or("anybody".to_owned(), |source| source.to_string());
    let tag = pattern.tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
    let wanted = format!("a message with {tag} from {source} in {}", name_of(pattern.context));
    let instead: Vec<String> = kept
        .iter()
        .filter(|head| pattern.source.is_none_or(|source| source == head.source))
        .map(|head| format!("{} has sent it tag {} in {}", head.source, head.tag, name_of(head.context)))
        .collect();
    if instead.is_empty() { wanted } else { format!("{wanted} ({})", instead.join(", ")) }
}
