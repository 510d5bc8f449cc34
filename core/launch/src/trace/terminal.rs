//! What is found in a trace, on a terminal.

use std::fmt::Write as _;

use super::path::{Link, Looked};
use super::summary::{OfEntry, Summary};
use super::usage::BINS;

/// Lines of each table: those with most.
const LINES: usize = 20;
/// PEs of which the matrix of messages has a row and a column each.
const MATRIX_MAX: usize = 8;

/// All of it.
pub fn text(summary: &Summary) -> String {
    let parts: [fn(&Summary) -> Option<String>; 12] = [
        head,
        usage,
        entries,
        rank_calls,
        gain,
        critical_path,
        grains,
        outliers,
        messages,
        steps,
        checkpoints,
        losses,
    ];
    let parts: Vec<_> = parts.iter().filter_map(|part| part(summary)).collect();
    parts.join("\n")
}

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

fn head(summary: &Summary) -> Option<String> {
    Some(about(summary).iter().map(|line| format!("{line}\n")).collect())
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

fn usage(summary: &Summary) -> Option<String> {
    let mut said = "PEs\n".to_owned();
    writeln!(
        said,
        "{:>6} {:>8} {:>8} {:>8} {:>10} {:>10}  busy over time",
        "PE", "busy", "idle", "asleep", "calls", "messages"
    )
    .ok()?;
    let mut pes: Vec<_> = summary.pes.iter().collect();
    pes.sort_by_key(|(pe, of)| (std::cmp::Reverse(of.busy_ns), **pe));
    let shown = pes.len().min(LINES);
    pes[..shown].sort_by_key(|(pe, _)| **pe);
    for (pe, of) in &pes[..shown] {
        let share = |ns| percent(ns, summary.end);
        let (busy, idle, asleep) = (share(of.busy_ns), share(of.idle_ns), share(of.asleep_ns));
        let line = line_of(summary, **pe);
        writeln!(said, "{pe:>6} {busy:>8} {idle:>8} {asleep:>8} {:>10} {:>10}  {line}", of.entries, of.sent)
            .ok()?;
    }
    if pes.len() > shown {
        writeln!(said, "       and {} more, which were busy for less", pes.len() - shown).ok()?;
    }
    Some(said)
}

/// How busy a PE was, as a line of blocks up to the end.
fn line_of(summary: &Summary, pe: u32) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let width = summary.usage.width();
    let bins = (summary.end.div_ceil(width) as usize).min(BINS);
    let Some(row) = summary.usage.rows().get(&pe) else { return String::new() };
    row[..bins].iter().map(|ns| BLOCKS[(*ns * 8).div_ceil(width).min(8) as usize]).collect()
}

/// Entries by what they took, the most first.
pub fn by_time(summary: &Summary) -> Vec<(u32, &OfEntry)> {
    let mut entries: Vec<_> = summary.entries.iter().map(|(name, of)| (*name, of)).collect();
    entries.sort_by_key(|(name, of)| (std::cmp::Reverse(of.ns), *name));
    entries
}

fn entries(summary: &Summary) -> Option<String> {
    let all = by_time(summary);
    let whole: u64 = all.iter().map(|(_, of)| of.ns).sum();
    let mut said = "Entries\n".to_owned();
    writeln!(said, "{:>10} {:>8} {:>10} {:>10} {:>10}  entry", "time", "share", "calls", "mean", "longest")
        .ok()?;
    for (name, of) in all.iter().take(LINES) {
        let (total, share) = (time(of.ns), percent(of.ns, whole));
        let (mean, max, calls) = (time(of.ns / of.calls.max(1)), time(of.max_ns), of.calls);
        writeln!(
            said,
            "{total:>10} {share:>8} {calls:>10} {mean:>10} {max:>10}  {}",
            summary.names.get(*name)
        )
        .ok()?;
    }
    Some(said)
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

fn rank_calls(summary: &Summary) -> Option<String> {
    let rows = rows_of_rank_calls(summary);
    rows.first()?;
    let mut said = "Calls of ranks, from when each began until it returned\n".to_owned();
    table(&mut said, &RANK_CALLS, rows.into_iter())?;
    Some(said)
}

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
    looked.gain.as_ref().map(|gain| gain.sentence(part))
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

fn gain(summary: &Summary) -> Option<String> {
    Some(format!("Balance\n  {}\n", sentence_of_gain(summary)?))
}

fn critical_path(summary: &Summary) -> Option<String> {
    let mut said = format!("Critical path {}\n", sentence_of_path(summary)?);
    let rows = rows_of_path(summary);
    if !rows.is_empty() {
        table(&mut said, &PATH, rows.into_iter())?;
        table(&mut said, &LINKS, links_of_path(summary).into_iter())?;
    }
    Some(said)
}

fn grains(summary: &Summary) -> Option<String> {
    let classes = summary.grains.classes();
    let most = classes.iter().map(|class| class.2).max()?;
    let mut said = "How long entries took\n".to_owned();
    for (from, until, count) in classes {
        let bar = "#".repeat((count * 40).div_ceil(most.max(1)) as usize);
        writeln!(said, "{:>10} to {:>10} {count:>10}  {bar}", time(from), time(until)).ok()?;
    }
    Some(said)
}

fn outliers(summary: &Summary) -> Option<String> {
    let all = summary.outliers();
    all.first()?;
    let mut said = "Longest entries\n".to_owned();
    for outlier in all {
        let (took, at, pe) = (time(outlier.ns), time(outlier.at), outlier.pe);
        let name = summary.names.get(outlier.name);
        writeln!(said, "{took:>10} at {at:>10} on PE {pe:<5} {name} of [{}]", outlier.index).ok()?;
    }
    Some(said)
}

fn messages(summary: &Summary) -> Option<String> {
    if summary.pairs.is_empty() {
        return None;
    }
    let pes: Vec<u32> = summary.pes.keys().copied().collect();
    let mut said = "Messages from (rows) to (columns)\n".to_owned();
    if pes.len() <= MATRIX_MAX {
        let head: String = pes.iter().map(|pe| format!(" {:>10}", format!("PE {pe}"))).collect();
        writeln!(said, "{:>8}{head}", "").ok()?;
        for from in &pes {
            let count = |to: &u32| summary.pairs.get(&(*from, *to)).map_or(0, |pair| pair.0);
            let row: String = pes.iter().map(|to| format!(" {:>10}", count(to))).collect();
            writeln!(said, "{:>8}{row}", format!("PE {from}")).ok()?;
        }
    } else {
        for ((from, to), (messages, bytes)) in busiest_pairs(summary).into_iter().take(LINES) {
            writeln!(said, "{:>10} {messages:>10} messages {bytes:>14} bytes", format!("{from} to {to}"))
                .ok()?;
        }
    }
    let between: u64 = summary.pairs.values().map(|pair| pair.1).sum();
    writeln!(said, "{between} bytes went between nodes.").ok()?;
    if summary.other_pairs > 0 {
        writeln!(said, "{} messages of further pairs are not in here.", summary.other_pairs).ok()?;
    }
    Some(said)
}

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

fn steps(summary: &Summary) -> Option<String> {
    let rows = rows_of_steps(summary);
    rows.first()?;
    let mut said = "Balancing steps: load of the busiest PE over the average, measured before, expected, measured after\n".to_owned();
    table(&mut said, &STEPS, rows.into_iter())?;
    Some(said)
}

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

fn checkpoints(summary: &Summary) -> Option<String> {
    summary.checkpoints.first()?;
    let frozen = summary.pes.values().map(|of| of.frozen_ns).max().unwrap_or(0);
    let mut said = format!("Checkpoints: a PE was frozen for {} in all, at most\n", time(frozen));
    table(&mut said, &CHECKPOINTS, rows_of_checkpoints(summary))?;
    Some(said)
}

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
    lost.chain(back).collect()
}

fn losses(summary: &Summary) -> Option<String> {
    let sentences = sentences_of_losses(summary);
    sentences.first()?;
    Some(format!("Losses\n  {}\n", sentences.join("\n  ")))
}

/// Right-aligned columns under their names.
fn table<const N: usize>(
    said: &mut String,
    names: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Option<()> {
    let rows: Vec<_> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.chain([names[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut line = |cells: [&str; N]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}"));
        writeln!(said, "{}", cells.collect::<String>()).ok()
    };
    line(*names)?;
    for row in rows.iter().take(LINES) {
        line(row.each_ref().map(String::as_str))?;
    }
    if rows.len() > LINES {
        writeln!(said, "  and {} more", rows.len() - LINES).ok()?;
    }
    Some(())
}
