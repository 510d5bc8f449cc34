//! A snapshot as lines of text. Pure.

use std::fmt::Write as _;

use talisman_job::Failure;
use talisman_job::snapshot::{Node, Pe, Snapshot, State};

/// Chares that are told of on one line, and losses on their own.
const CHARES: usize = 6;
const LOSSES: usize = 5;
/// Width of a load's bar.
const BAR: usize = 20;

/// All of it, in lines of this width.
pub(crate) fn whole(snapshot: &Snapshot, width: usize) -> String {
    let lines = head(snapshot).into_iter().chain(pes(snapshot)).chain(losses(snapshot));
    lines.fold(String::new(), |mut text, line| {
        let line: String = line.chars().take(width).collect();
        let _ = writeln!(text, "{}", line.trim_end());
        text
    })
}

/// What concerns the whole job.
pub(crate) fn head(of: &Snapshot) -> Vec<String> {
    let state = match of.state {
        State::Starting => "starting",
        State::Running => "running",
        State::Recovering => "recovering",
        State::Ending => "ending",
    };
    let (there, began) = (of.nodes_there(), of.nodes.len());
    let mut lines = vec![
        format!(
            "{} ({}): {state}, for {}; --ft {}, --balancer {}",
            of.program,
            of.job,
            time(of.at_s),
            of.ft,
            of.balancer
        ),
        format!(
            "{there} of {began} nodes, {} PEs, {} memory, {} lost",
            of.pes().count(),
            bytes(of.memory),
            of.lost
        ),
    ];
    lines.extend(of.degraded.iter().map(|why| format!("degraded: {why}")));
    lines.push(steps(of));
    let rates = of.rates;
    lines.push(format!(
        "per second: {} entries, {} messages between PEs, {} between nodes ({})",
        count(rates.entries),
        count(rates.between_pes),
        count(rates.between_nodes),
        bytes(rates.bytes_between_nodes as u64)
    ));
    lines.push(objects(of));
    lines.extend(checkpoints(of));
    lines.extend(of.balanced.iter().map(|step| step.to_string()));
    lines
}

fn steps(of: &Snapshot) -> String {
    let total = of.steps.total.map_or(String::new(), |total| format!(" of {total}"));
    let rate = of.steps_per_s.map_or(String::new(), |rate| format!(", {} per second", count(rate)));
    let left = of.left_s.map_or(String::new(), |left| format!(", {} left", time(left)));
    format!("{}{total} steps{rate}{left}", of.steps.done)
}

fn objects(of: &Snapshot) -> String {
    let told: Vec<String> =
        of.objects.iter().take(CHARES).map(|(chare, count)| format!("{count} {chare}")).collect();
    let further = of.objects.len().saturating_sub(CHARES);
    let further = if further > 0 { format!(", and {further} chares more") } else { String::new() };
    format!("objects: {}{further}", if told.is_empty() { "none yet".into() } else { told.join(", ") })
}

fn checkpoints(of: &Snapshot) -> Option<String> {
    let last = of.checkpoints.last.as_ref();
    let age = of.checkpoints.age_s.map_or(String::new(), |age| format!(", the last {} ago", time(age)));
    let cost = last.map_or(String::new(), |last| {
        format!(" ({}, {} blocked, {} in all)", bytes(last.bytes), time(last.blocked_s), time(last.commit_s))
    });
    let next = of.checkpoints.next_s.map_or(String::new(), |next| format!(", the next in {}", time(next)));
    let log = if of.kept > 0 { format!("; {} kept", bytes(of.kept)) } else { String::new() };
    (of.ft != "off").then(|| format!("{} checkpoints{age}{cost}{next}{log}", of.checkpoints.count))
}

/// A line for each PE, below a head.
pub(crate) fn pes(of: &Snapshot) -> Vec<String> {
    let head = format!(
        "{:>6}  {:<8}  {:<16}  {:>8}  {:>10}  {:>8}  {:>6}  LOAD",
        "PE", "NODE", "HOST", "OBJECTS", "ENTRIES/S", "WAITING", ""
    );
    let row = |(node, pe): (&Node, Option<&Pe>)| {
        let host = node.host.as_deref().unwrap_or("this host");
        let name = format!("node {}", node.node);
        let Some(pe) = pe else { return format!("{:>6}  {name:<8}  {host:<16}  {}", "–", node.stage) };
        let load = pe.load.map_or("–".into(), |load| format!("{:.0} %", load * 100.0));
        format!(
            "{:>6}  {name:<8}  {host:<16}  {:>8}  {:>10}  {:>8}  {load:>6}  {}",
            pe.pe,
            pe.objects,
            count(pe.entries_per_s),
            pe.waiting,
            bar(pe.load.unwrap_or(0.0))
        )
    };
    let rows = of.nodes.iter().flat_map(|node| {
        let is_told = node.stage != "gone" && !node.pes.is_empty();
        let told = node.pes.iter().filter(move |_| is_told).map(move |pe| (node, Some(pe)));
        told.chain((!is_told).then_some((node, None)))
    });
    std::iter::once(head).chain(rows.map(row)).collect()
}

/// The last ones, with what became of each.
pub(crate) fn losses(of: &Snapshot) -> Vec<String> {
    let first = of.losses.len().saturating_sub(LOSSES);
    of.losses[first..].iter().map(story).collect()
}

fn story(loss: &Failure) -> String {
    let back = match (loss.recover_s, loss.version) {
        (None, _) => "not yet gone on without it".to_owned(),
        (Some(s), Some(version)) => {
            format!("back at checkpoint {version} in {}", time(loss.halt_s.unwrap_or(0.0) + s))
        }
        (Some(s), None) => format!("begun anew in {}", time(loss.halt_s.unwrap_or(0.0) + s)),
    };
    let replaced = if loss.replaced { ", replaced" } else { "" };
    format!("lost at {}: {} ({back}{replaced})", time(loss.at_s), loss.what)
}

/// As many blocks as a PE is busy.
fn bar(load: f64) -> String {
    let full = (load.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    "█".repeat(full) + &"·".repeat(BAR - full)
}

fn time(s: f64) -> String {
    match s {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn count(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n if n >= 10.0 || n == 0.0 => format!("{n:.0}"),
        n => format!("{n:.1}"),
    }
}

fn bytes(count: u64) -> String {
    match count {
        count if count < 10 << 10 => format!("{count} B"),
        count if count < 10 << 20 => format!("{} KiB", count >> 10),
        count if count < 10 << 30 => format!("{} MiB", count >> 20),
        count => format!("{} GiB", count >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_job::snapshot::Checkpoints;

    fn snapshot() -> Snapshot {
        let pe = |pe, load| Pe { pe, load, objects: 4, entries_per_s: 12_345.0, ..Pe::default() };
        let node = |node, stage: &str, pes| Node { node, stage: stage.into(), pes, ..Node::default() };
        let nodes = vec![
            node(0, "running", vec![pe(0, Some(0.5)), pe(1, None)]),
            node(1, "gone", vec![]),
            node(2, "starting", vec![]),
        ];
        let loss = Failure { what: "node 1 was killed".into(), at_s: 2.0, ..Failure::default() };
        Snapshot {
            program: "leanmd".into(),
            job: 17,
            state: State::Recovering,
            ft: "double".into(),
            balancer: "off".into(),
            at_s: 130.0,
            degraded: Some("2 of 3 nodes are there".into()),
            nodes,
            objects: (0..9).map(|number| (format!("C{number}"), 9 - number)).collect(),
            checkpoints: Checkpoints { count: 3, age_s: Some(0.25), next_s: Some(9.75), last: None },
            left_s: Some(7300.0),
            lost: 1,
            losses: vec![loss],
            ..Snapshot::default()
        }
    }

    #[test]
    fn each_pe_and_each_loss_has_a_line() {
        let text = whole(&snapshot(), 100);
        for line in [
            "leanmd (17): recovering, for 2.2 min; --ft double, --balancer off",
            "2 of 3 nodes, 2 PEs, 0 B memory, 1 lost",
            "degraded: 2 of 3 nodes are there",
            "0 steps, 2.0 h left",
            "objects: 9 C0, 8 C1, 7 C2, 6 C3, 5 C4, 4 C5, and 3 chares more",
            "3 checkpoints, the last 250.0 ms ago, the next in 9.8 s",
            "     0  node 0    this host                4      12.3 k         0    50 %  ██████████··········",
            "     –  node 1    this host         gone",
            "     –  node 2    this host         starting",
            "lost at 2.0 s: node 1 was killed (not yet gone on without it)",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        assert!(whole(&snapshot(), 30).lines().all(|line| line.chars().count() <= 30));
    }

    #[test]
    fn nothing_is_told_of_checkpoints_where_there_are_none() {
        let text = whole(&Snapshot { ft: "off".into(), ..Snapshot::default() }, 100);
        assert!(!text.contains("checkpoint") && text.contains("objects: none yet"), "{text}");
    }
}
