//! What is found in a trace, on a terminal.

use std::fmt::Write as _;

use super::sentences::{
    CHECKPOINTS, LINKS, PATH, RANK_CALLS, STEPS, about, busiest_pairs, by_time, links_of_path, percent,
    rows_of_checkpoints, rows_of_path, rows_of_rank_calls, rows_of_steps, sentence_of_gain, sentence_of_path,
    sentences_of_losses, time,
};
use super::summary::Summary;
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

fn head(summary: &Summary) -> Option<String> {
    Some(about(summary).iter().map(|line| format!("{line}\n")).collect())
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

fn rank_calls(summary: &Summary) -> Option<String> {
    let rows = rows_of_rank_calls(summary);
    rows.first()?;
    let mut said = "Calls of ranks, from when each began until it returned\n".to_owned();
    table(&mut said, &RANK_CALLS, rows.into_iter())?;
    Some(said)
}

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

fn steps(summary: &Summary) -> Option<String> {
    let rows = rows_of_steps(summary);
    rows.first()?;
    let mut said = "Balancing steps: load of the busiest PE over the average, measured before, expected, measured after\n".to_owned();
    table(&mut said, &STEPS, rows.into_iter())?;
    Some(said)
}

fn checkpoints(summary: &Summary) -> Option<String> {
    summary.checkpoints.first()?;
    let frozen = summary.pes.values().map(|of| of.frozen_ns).max().unwrap_or(0);
    let mut said = format!("Checkpoints: a PE was frozen for {} in all, at most\n", time(frozen));
    table(&mut said, &CHECKPOINTS, rows_of_checkpoints(summary))?;
    Some(said)
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
