//! What is found in a trace, as one page that needs nothing else: plots, and beside each a table with the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::sentences::{
    CHECKPOINTS, LINKS, PATH, RANK_CALLS, STEPS, about, busiest_pairs, by_time, escaped, links_of_path,
    percent, rows_of_checkpoints, rows_of_path, rows_of_rank_calls, rows_of_steps, sentence_of_gain,
    sentence_of_path, sentences_of_losses, time,
};
use super::summary::Summary;
use super::usage::{BINS, Usage};

/// Rows of each plot and table: those with most.
const ROWS: usize = 64;
/// Width of plots, in their own units.
const WIDTH: f64 = 640.0;
const ROW: f64 = 14.0;
/// Left of a plot, for names.
const NAMES: f64 = 60.0;

/// Follows the reader's choice of dark or light. Shades of one colour say how much; text is never colour alone.
const STYLE: &str = "
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --line: #bbb; --plot: #0b62a8; }
@media (prefers-color-scheme: dark) { :root { --back: #16181b; --text: #e8e8e8; --line: #555; --plot: #6db3f2; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; }
section { display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start; }
h2 { flex-basis: 100%; margin: 1.5em 0 0; }
figure { margin: 0; flex: 1 1 40em; } figure svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0 .6em; text-align: right; }
th:first-child, td:first-child { text-align: left; }
rect { fill: var(--plot); } rect.frame { fill: none; stroke: var(--line); } text { fill: var(--text); font-size: 10px; }
";

/// The page.
pub fn page(summary: &Summary) -> String {
    let title = escaped(&summary.job.program);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Trace of {title}</title><style>{STYLE}</style></head><body>\n<h1>Trace of {title}</h1>\n"
    );
    page.push_str(&head(summary));
    let sections: [fn(&Summary) -> Option<String>; 11] = [
        usage,
        profile,
        rank_calls,
        gain,
        critical_path,
        grains,
        messages,
        outliers,
        steps,
        checkpoints,
        losses,
    ];
    sections.iter().filter_map(|section| section(summary)).for_each(|section| page.push_str(&section));
    page.push_str("</body></html>\n");
    page
}

fn head(summary: &Summary) -> String {
    about(summary).iter().map(|line| format!("<p>{}</p>\n", escaped(line))).collect()
}

fn section(title: &str, plot: &str, table: &str) -> String {
    let figure = if plot.is_empty() { String::new() } else { format!("<figure>{plot}</figure>") };
    format!("<section><h2>{title}</h2>{figure}{table}</section>\n")
}

fn table<const N: usize>(names: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let cells = |cells: &[String], tag: &str| {
        let cell = |cell: &String| format!("<{tag}>{}</{tag}>", escaped(cell));
        format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>())
    };
    let head = cells(&names.map(String::from), "th");
    let body: String = rows.take(ROWS).map(|row| cells(&row, "td") + "\n").collect();
    format!("<table>{head}\n{body}</table>")
}

fn usage(summary: &Summary) -> Option<String> {
    let rows: Vec<(u32, String)> =
        summary.pes.keys().take(ROWS).map(|pe| (*pe, format!("PE {pe}"))).collect();
    let plot = over_time("How busy each PE was over time", &rows, &summary.usage, summary.end);
    let share = |ns| percent(ns, summary.end);
    let lines = summary.pes.iter().map(|(pe, of)| {
        [
            format!("PE {pe}"),
            share(of.busy_ns),
            share(of.idle_ns),
            share(of.asleep_ns),
            of.entries.to_string(),
            of.sent.to_string(),
        ]
    });
    let table = table(["PE", "busy", "idle", "asleep", "calls", "messages"], lines);
    Some(section("PEs", &plot, &table))
}

fn profile(summary: &Summary) -> Option<String> {
    let all = by_time(summary);
    let whole: u64 = all.iter().map(|(_, of)| of.ns).sum();
    // On one line of a plot there is room for a short name.
    let rows: Vec<(u32, String)> =
        (1..).zip(all.iter().take(ROWS)).map(|(nth, (name, _))| (*name, format!("{nth}"))).collect();
    let plot = over_time("What entries took over time", &rows, &summary.profile, summary.end);
    let lines = (1..).zip(&all).map(|(nth, (name, of))| {
        [
            format!("{nth}: {}", summary.names.get(*name)),
            time(of.ns),
            percent(of.ns, whole),
            of.calls.to_string(),
            time(of.ns / of.calls.max(1)),
            time(of.max_ns),
        ]
    });
    let table = table(["entry", "time", "share", "calls", "mean", "longest"], lines);
    Some(section("Entries", &plot, &table))
}

/// Rows of bins, each the darker the more of its time was used; of a row, its own most is darkest where several PEs add up.
fn over_time(what: &str, rows: &[(u32, String)], usage: &Usage, end: u64) -> String {
    let bins = (end.div_ceil(usage.width()) as usize).clamp(1, BINS);
    let wide = (WIDTH - NAMES) / bins as f64;
    let mut plot = begin_plot(what, rows.len() as f64 * ROW + ROW);
    for (nth, (number, name)) in rows.iter().enumerate() {
        let y = nth as f64 * ROW;
        let _ = write!(plot, "<text x=\"0\" y=\"{:.0}\">{}</text>", y + 11.0, escaped(name));
        let Some(row) = usage.rows().get(number) else { continue };
        let most = row.iter().copied().max().unwrap_or(0).max(usage.width());
        for (bin, ns) in row[..bins].iter().enumerate().filter(|(_, ns)| **ns > 0) {
            let (x, shade) = (NAMES + bin as f64 * wide, *ns as f64 / most as f64);
            let _ = write!(
                plot,
                "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"12\" opacity=\"{shade:.2}\"/>"
            );
        }
    }
    let y = rows.len() as f64 * ROW + 11.0;
    let _ = write!(plot, "<text x=\"{NAMES}\" y=\"{y:.0}\">0</text>");
    let last = time(bins as u64 * usage.width());
    let _ = write!(plot, "<text x=\"{WIDTH}\" y=\"{y:.0}\" text-anchor=\"end\">{last}</text></svg>");
    plot
}

fn begin_plot(what: &str, height: f64) -> String {
    format!(
        "<svg role=\"img\" aria-label=\"{what}\" viewBox=\"0 0 {WIDTH} {height:.0}\"><title>{what}</title>"
    )
}

fn rank_calls(summary: &Summary) -> Option<String> {
    let rows = rows_of_rank_calls(summary);
    rows.first()?;
    let title = "Calls of ranks, from when each began until it returned";
    Some(section(title, "", &table(RANK_CALLS, rows.into_iter())))
}

fn gain(summary: &Summary) -> Option<String> {
    Some(section("Balance", "", &format!("<p>{}</p>", escaped(&sentence_of_gain(summary)?))))
}

/// The shares of entries and PEs, and the last calls.
fn critical_path(summary: &Summary) -> Option<String> {
    let sentence = format!("<p>{}</p>", escaped(&sentence_of_path(summary)?));
    let shares = table(PATH, rows_of_path(summary).into_iter());
    let links = table(LINKS, links_of_path(summary).into_iter());
    Some(section("Critical path", "", &(sentence + &shares + &links)))
}

fn grains(summary: &Summary) -> Option<String> {
    let classes = summary.grains.classes();
    let most = classes.iter().map(|class| class.2).max()?;
    let mut plot = begin_plot("How many entries took how long", classes.len() as f64 * ROW);
    for (nth, (from, _, count)) in classes.iter().enumerate() {
        let (y, wide) = (nth as f64 * ROW, (WIDTH - NAMES) * *count as f64 / most.max(1) as f64);
        let _ = write!(plot, "<text x=\"0\" y=\"{:.0}\">{}</text>", y + 11.0, time(*from));
        let _ = write!(plot, "<rect x=\"{NAMES}\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"12\"/>");
    }
    plot.push_str("</svg>");
    let lines = classes.iter().map(|(from, until, count)| [time(*from), time(*until), count.to_string()]);
    Some(section("How long entries took", &plot, &table(["from", "to", "calls"], lines)))
}

fn messages(summary: &Summary) -> Option<String> {
    if summary.pairs.is_empty() {
        return None;
    }
    let pes: BTreeSet<u32> = summary.pes.keys().take(ROWS).copied().collect();
    let most = summary.pairs.values().map(|pair| pair.0).max()?.max(1);
    let size = ((WIDTH - NAMES) / pes.len().max(1) as f64).min(40.0);
    let mut plot = begin_plot("Messages from PEs (rows) to PEs (columns)", pes.len() as f64 * size + ROW);
    for (row, from) in pes.iter().enumerate() {
        let y = row as f64 * size + ROW;
        let _ = write!(plot, "<text x=\"0\" y=\"{:.1}\">PE {from}</text>", y + size / 2.0 + 4.0);
        for (column, to) in pes.iter().enumerate() {
            let x = NAMES + column as f64 * size;
            let shade = summary.pairs.get(&(*from, *to)).map_or(0.0, |pair| pair.0 as f64 / most as f64);
            let at = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size:.1}\" height=\"{size:.1}\"");
            let _ = write!(plot, "<rect class=\"frame\" {at}/><rect {at} opacity=\"{shade:.2}\"/>");
        }
    }
    for (column, to) in pes.iter().enumerate() {
        let x = NAMES + column as f64 * size;
        let _ = write!(plot, "<text x=\"{x:.1}\" y=\"11\">{to}</text>");
    }
    plot.push_str("</svg>");
    let lines = busiest_pairs(summary).into_iter().map(|((from, to), (messages, bytes))| {
        [format!("PE {from}"), format!("PE {to}"), messages.to_string(), bytes.to_string()]
    });
    let table = table(["from", "to", "messages", "bytes between nodes"], lines);
    Some(section("Messages between PEs", &plot, &table))
}

fn outliers(summary: &Summary) -> Option<String> {
    let all = summary.outliers();
    all.first()?;
    let lines = all.iter().map(|of| {
        let who = format!("{} of [{}]", summary.names.get(of.name), of.index);
        [who, time(of.ns), time(of.at), of.pe.to_string()]
    });
    Some(section("Longest entries", "", &table(["entry", "took", "at", "PE"], lines)))
}

fn steps(summary: &Summary) -> Option<String> {
    let rows = rows_of_steps(summary);
    rows.first()?;
    let title = "Balancing steps: load of the busiest PE over the average";
    Some(section(title, "", &table(STEPS, rows.into_iter())))
}

fn checkpoints(summary: &Summary) -> Option<String> {
    summary.checkpoints.first()?;
    Some(section("Checkpoints", "", &table(CHECKPOINTS, rows_of_checkpoints(summary))))
}

fn losses(summary: &Summary) -> Option<String> {
    let sentences = sentences_of_losses(summary);
    sentences.first()?;
    let items: String = sentences.iter().map(|said| format!("<li>{}</li>", escaped(said))).collect();
    Some(section("Losses", "", &format!("<ul>{items}</ul>")))
}
