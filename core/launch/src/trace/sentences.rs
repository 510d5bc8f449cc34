//! What is found in a trace, in words: sentences, and cells of tables, for a terminal and for a page.

use super::path::{Link, Looked};
use super::summary::{OfEntry, Summary};

/// Entries, or PEs, of a path: those with most.
const LINES: usize = 20;

/// A time as people read it.
pub fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// So many of them.
pub fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A part of the whole.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// What job it was, and how far the trace can be believed: lines.
pub fn about(summary: &Summary) -> Vec<String> {
    let (job, (calls, sent)) = (&summary.job, totals(summary));
    let mut said = vec![format!(
        "{}: {} on {}, {} each; {}, {}, {}",
        job.program,
        plural(job.nodes, "node"),
        plural(job.hosts, "host"),
        plural(job.pes_per_node, "PE"),
        time(summary.end),
        plural(calls, "call"),
        plural(sent, "message"),
    )];
    match job.clock_error_ns {
        _ if job.hosts < 2 => {}
        Some(error) => {
            said.push(format!("Clocks of hosts are aligned by messages, to {} at most.", time(error)))
        }
        None => said.push(
            "Clocks of hosts are aligned by their calendars: arrows between them may point back.".into(),
        ),
    }
    if summary.dropped > 0 {
        let dropped = summary.dropped;
        said.push(format!(
            "{dropped} records were dropped, as there was no room: what follows has less than all."
        ));
    }
    said
}

/// Calls and messages.
fn totals(summary: &Summary) -> (u64, u64) {
    summary.pes.values().fold((0, 0), |(entries, sent), of| (entries + of.entries, sent + of.sent))
}

/// Entries by what they took, the most first.
pub fn by_time(summary: &Summary) -> Vec<(u32, &OfEntry)> {
    let mut entries: Vec<_> = summary.entries.iter().map(|(name, of)| (*name, of)).collect();
    entries.sort_by_key(|(name, of)| (std::cmp::Reverse(of.ns), *name));
    entries
}

/// What ranks called, the most first: time from the call until it returned.
pub fn rows_of_rank_calls(summary: &Summary) -> Vec<[String; 5]> {
    let mut calls: Vec<_> = summary.rank_calls.iter().collect();
    calls.sort_by_key(|(name, of)| (std::cmp::Reverse(of.ns), **name));
    let row = |(name, of): (&u32, &OfEntry)| {
        let mean = time(of.ns / of.calls.max(1));
        [summary.names.get(*name).to_owned(), time(of.ns), of.calls.to_string(), mean, time(of.max_ns)]
    };
    calls.into_iter().map(row).collect()
}

/// What the columns of [`rows_of_rank_calls`] are.
pub const RANK_CALLS: [&str; 5] = ["call", "time", "calls", "mean", "longest"];

/// What a critical path says, as a sentence; none if nobody has looked for one.
pub fn sentence_of_path(summary: &Summary) -> Option<String> {
    let (part, Looked { path, .. }) = summary.looked.as_ref()?;
    let when = format!("{}, {} to {}", part.what, time(part.from), time(part.until));
    let Some(path) = path else {
        return Some(format!(
            "{when}: there is none, or too much is in it; choose a part with --path 10s..11s"
        ));
    };
    let (took, share) = (time(path.ns), percent(path.ns, part.ns()));
    let (calls, messages) = (plural(path.calls, "call"), plural(path.messages, "message"));
    Some(format!("{when}: {took} in {calls} with {messages} between them, {share} of the time"))
}

/// What a balancer would have saved, as a sentence; none if nothing.
pub fn sentence_of_gain(summary: &Summary) -> Option<String> {
    let (part, looked) = summary.looked.as_ref()?;
    looked.gain.as_ref().map(|gain| gain.sentence(&part.what, None))
}

/// Entries on the path in words: time, share of the path, calls.
pub fn rows_of_path(summary: &Summary) -> Vec<[String; 4]> {
    let Some((_, Looked { path: Some(path), .. })) = &summary.looked else { return Vec::new() };
    let entries = path.entries.iter().map(|(name, ns, calls)| {
        [summary.names.get(*name).to_owned(), time(*ns), percent(*ns, path.ns), calls.to_string()]
    });
    let pes = path
        .pes
        .iter()
        .map(|(pe, ns)| [format!("on PE {pe}"), time(*ns), percent(*ns, path.ns), String::new()]);
    entries.take(LINES).chain(pes.take(LINES)).collect()
}

/// What the columns of [`rows_of_path`] are.
pub const PATH: [&str; 4] = ["entry or PE", "time", "share", "calls"];

/// Its last calls, each a line.
pub fn links_of_path(summary: &Summary) -> Vec<[String; 4]> {
    let Some((_, Looked { path: Some(path), .. })) = &summary.looked else { return Vec::new() };
    let link = |link: &Link| {
        let who = format!("{} of [{}]", summary.names.get(link.name), link.index);
        [who, time(link.ns), time(link.at), link.pe.to_string()]
    };
    path.links.iter().map(link).collect()
}

/// What the columns of [`links_of_path`] are.
pub const LINKS: [&str; 4] = ["its last calls", "on the path for", "at", "PE"];

/// A pair of PEs, and the messages and bytes from one to the other.
pub type Pair = ((u32, u32), (u64, u64));

/// Pairs of different PEs, those with most messages first.
pub fn busiest_pairs(summary: &Summary) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = summary.pairs.iter().map(|(pair, of)| (*pair, *of)).collect();
    pairs.retain(|((from, to), _)| from != to);
    pairs.sort_by_key(|(pair, of)| (std::cmp::Reverse(*of), *pair));
    pairs
}

/// A balancing step in words: the busiest PE's load over the average, before and as expected; and as measured in the time
/// before and behind it, where that is long enough.
pub fn rows_of_steps(summary: &Summary) -> Vec<[String; 7]> {
    let mut rows = Vec::new();
    for (nth, step) in summary.steps.iter().enumerate() {
        let before = nth.checked_sub(1).and_then(|nth| summary.steps[nth].over).unwrap_or(0);
        let over = step.over.unwrap_or(step.at);
        let until = summary.steps.get(nth + 1).map_or(summary.end, |next| next.at);
        let measured = |from, until| match summary.balance_in(from, until) {
            Some((max, average)) if average > 0.0 => format!("{:.2}", max / average),
            _ => "-".into(),
        };
        let ratio = |max: f64| match step.average_before_s > 0.0 {
            true => format!("{:.2}", max / step.average_before_s),
            false => "-".into(),
        };
        rows.push([
            step.step.to_string(),
            time(step.at),
            time(over.saturating_sub(step.at)),
            step.moves.to_string(),
            measured(before, step.at),
            format!("{} to {}", ratio(step.max_before_s), ratio(step.max_predicted_s)),
            measured(over, until),
        ]);
    }
    rows
}

/// What the columns of [`rows_of_steps`] are.
pub const STEPS: [&str; 7] = ["step", "at", "took", "moves", "before", "expected", "after"];

/// Checkpoints in words.
pub fn rows_of_checkpoints(summary: &Summary) -> impl Iterator<Item = [String; 6]> {
    summary.checkpoints.iter().map(|of| {
        let until = |end: Option<u64>| end.map_or_else(|| "-".into(), |end| time(end.saturating_sub(of.at)));
        [
            of.version.to_string(),
            time(of.at),
            until(of.taken),
            until(of.over),
            of.objects.to_string(),
            of.bytes.to_string(),
        ]
    })
}

/// What the columns of [`rows_of_checkpoints`] are.
pub const CHECKPOINTS: [&str; 6] = ["version", "at", "taken after", "over after", "objects", "bytes"];

/// Losses and what followed, a sentence each.
pub fn sentences_of_losses(summary: &Summary) -> Vec<String> {
    let lost = summary.losses.iter().map(|loss| {
        let until = loss.until.map_or_else(String::new, |until| {
            format!("; the others went on after {}", time(until.saturating_sub(loss.at)))
        });
        format!("{} was lost at {} ({}){until}", loss.who, time(loss.at), loss.what)
    });
    let back = summary.recoveries.iter().map(|(epoch, (at, pes))| {
        format!("{} had begun from a checkpoint at {} (period {epoch})", plural(*pes, "PE"), time(*at))
    });
    let again = summary.replays.iter().map(|replay| {
        let took = replay.ns.map_or_else(|| "was not done".into(), |ns| format!("took {}", time(ns)));
        let (pe, line) = (replay.pe, replay.line);
        format!("PE {pe} did again what was done from line {line} on, at {}: that {took}", time(replay.at))
    });
    lost.chain(back).chain(again).collect()
}

/// Names come from a file: none of them is markup.
pub fn escaped(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => all.push_str("&amp;"),
            '<' => all.push_str("&lt;"),
            '>' => all.push_str("&gt;"),
            '"' => all.push_str("&quot;"),
            _ => all.push(letter),
        }
    }
    all
}
