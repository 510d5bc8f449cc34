//! A snapshot in Prometheus's text format. Names, labels and units stay as they are: seconds, bytes, parts of 1.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::{Display, Write as _};

use talisman_job::snapshot::{Snapshot, State};

/// What Prometheus reads.
///
/// ```
/// use talisman_dashboard::metrics;
/// use talisman_job::snapshot::Snapshot;
///
/// let text = metrics(&Snapshot { program: "leanmd".into(), lost: 2, ..Snapshot::default() });
/// assert!(text.contains("# TYPE talisman_losses_total counter\ntalisman_losses_total{program=\"leanmd\"} 2\n"));
/// ```
pub fn metrics(snapshot: &Snapshot) -> String {
    let mut out = Metrics { text: String::new(), program: escaped(&snapshot.program) };
    job(&mut out, snapshot);
    messages(&mut out, snapshot);
    checkpoints(&mut out, snapshot);
    nodes(&mut out, snapshot);
    pes(&mut out, snapshot);
    out.text
}

fn job(out: &mut Metrics, of: &Snapshot) {
    out.gauge("running_seconds", "Since the program began.", of.at_s);
    out.head("state", "gauge", "1 for what the job is at.");
    for (name, state) in [
        ("starting", State::Starting),
        ("running", State::Running),
        ("recovering", State::Recovering),
        ("ending", State::Ending),
    ] {
        out.line("state", &[("state", name.into())], u8::from(of.state == state));
    }
    out.gauge(
        "degraded",
        "1 if another loss may be one too many, or nodes are missing.",
        u8::from(of.degraded.is_some()),
    );
    out.counter("steps_total", "Steps that the program has reported.", of.steps.done);
    out.some("steps_expected", "Steps there will be, as the program says.", of.steps.total);
    out.some("left_seconds", "Until all steps are done, at the present rate.", of.left_s);
    out.gauge("memory_bytes", "Resident memory of all nodes.", of.memory);
    out.gauge("log_bytes", "What nodes keep for others, with --ft logging.", of.kept);
    out.counter("losses_total", "Nodes that were lost.", of.lost);
    out.counter("balancing_steps_total", "Steps of load balancing.", of.balancing);
    if let Some(step) = &of.balanced {
        out.gauge("balancing_last_moves", "Objects that the last step moved.", step.moves);
        out.gauge("balancing_last_seconds", "How long the last step took.", step.step_s);
    }
    out.head("objects", "gauge", "Objects by chare.");
    for (chare, count) in &of.objects {
        out.line("objects", &[("chare", chare.clone())], count);
    }
}

fn messages(out: &mut Metrics, of: &Snapshot) {
    out.head("messages_total", "counter", "Messages to entry methods, by how far they went.");
    for (way, count) in [
        ("local", of.messages.local),
        ("between_pes", of.messages.between_pes),
        ("between_nodes", of.messages.between_nodes),
    ] {
        out.line("messages_total", &[("way", way.into())], count);
    }
    out.counter(
        "bytes_between_nodes_total",
        "Bytes of messages to other nodes.",
        of.messages.bytes_between_nodes,
    );
}

fn checkpoints(out: &mut Metrics, of: &Snapshot) {
    out.counter("checkpoints_total", "Checkpoints that were committed.", of.checkpoints.count);
    out.some("checkpoint_age_seconds", "Since the last one was committed.", of.checkpoints.age_s);
    out.some("checkpoint_next_seconds", "Until the next one is due.", of.checkpoints.next_s);
    if let Some(last) = &of.checkpoints.last {
        out.gauge("checkpoint_last_bytes", "Size of the last one.", last.bytes);
        out.gauge("checkpoint_last_blocked_seconds", "For how long it let no entry run.", last.blocked_s);
        out.gauge("checkpoint_last_commit_seconds", "Until all of it was held twice.", last.commit_s);
    }
}

fn nodes(out: &mut Metrics, of: &Snapshot) {
    out.gauge("nodes", "Nodes that are there.", of.nodes_there());
    out.head("node_up", "gauge", "1 for nodes that are there.");
    for node in &of.nodes {
        out.line("node_up", &[("node", node.node.to_string())], u8::from(node.stage != "gone"));
    }
    out.head("node_memory_bytes", "gauge", "Resident memory of a node.");
    for node in of.nodes.iter().filter(|node| node.stage != "gone") {
        out.line("node_memory_bytes", &[("node", node.node.to_string())], node.memory);
    }
}

fn pes(out: &mut Metrics, of: &Snapshot) {
    out.head("pe_load", "gauge", "The part of the time that a PE was busy lately.");
    for pe in of.pes() {
        pe.load.into_iter().for_each(|load| out.line("pe_load", &[("pe", pe.pe.to_string())], load));
    }
    out.head("pe_entries_total", "counter", "Entries that a PE has run.");
    of.pes().for_each(|pe| out.line("pe_entries_total", &[("pe", pe.pe.to_string())], pe.entries));
    out.head("pe_idle_seconds_total", "counter", "Time without work of a PE.");
    of.pes().for_each(|pe| out.line("pe_idle_seconds_total", &[("pe", pe.pe.to_string())], pe.idle_s));
    out.head("pe_objects", "gauge", "Objects on a PE.");
    of.pes().for_each(|pe| out.line("pe_objects", &[("pe", pe.pe.to_string())], pe.objects));
    out.head("pe_waiting_messages", "gauge", "Messages in a PE's queue.");
    of.pes().for_each(|pe| out.line("pe_waiting_messages", &[("pe", pe.pe.to_string())], pe.waiting));
}

struct Metrics {
    text: String,
    program: String,
}

impl Metrics {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.text, "# HELP talisman_{name} {help}\n# TYPE talisman_{name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, String)], value: impl Display) {
        let _ = write!(self.text, "talisman_{name}{{program=\"{}\"", self.program);
        for (label, value) in labels {
            let _ = write!(self.text, ",{label}=\"{}\"", escaped(value));
        }
        let _ = writeln!(self.text, "}} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.line(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "counter", help);
        self.line(name, &[], value);
    }

    fn some(&mut self, name: &str, help: &str, value: Option<impl Display>) {
        value.into_iter().for_each(|value| self.gauge(name, help, value));
    }
}

/// As the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use talisman_job::snapshot::{Checkpoints, Node, Pe};
    use talisman_job::{BalancingStep, CheckpointTaken};

    fn snapshot() -> Snapshot {
        let pe = |pe| Pe { pe, load: Some(0.5), idle_s: 1.5, ..Pe::default() };
        let node =
            |node, stage: &str| Node { node, stage: stage.into(), pes: vec![pe(node)], ..Node::default() };
        Snapshot {
            program: "a \"b\" \\ c\nd".into(),
            objects: vec![("Cell<\"x\">".into(), 3)],
            nodes: vec![node(0, "running"), node(1, "gone")],
            checkpoints: Checkpoints {
                age_s: Some(2.0),
                next_s: Some(1.0),
                last: Some(CheckpointTaken::default()),
                count: 1,
            },
            balanced: Some(BalancingStep::default()),
            left_s: Some(1.0),
            ..Snapshot::default()
        }
    }

    #[test]
    fn every_line_is_as_prometheus_reads_it() {
        let text = metrics(&snapshot());
        let mut known = BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert!(known.insert(name.to_owned()), "{name} comes once");
                assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            } else if !line.starts_with("# HELP ") {
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert!(known.contains(series.split_once('{').unwrap().0), "{line}");
                assert!(value.parse::<f64>().is_ok() && series.ends_with("\"}"), "{line}");
            }
        }
        let job = r#"{program="a \"b\" \\ c\nd""#;
        assert!(text.contains(&format!("talisman_objects{job},chare=\"Cell<\\\"x\\\">\"}} 3\n")), "{text}");
        assert!(text.contains(&format!("talisman_node_up{job},node=\"1\"}} 0\n")), "{text}");
    }

    #[test]
    fn a_node_that_is_gone_has_no_load() {
        let text = metrics(&snapshot());
        assert_eq!(text.matches("\ntalisman_pe_load{").count(), 1, "{text}");
        assert!(text.contains(",pe=\"0\"} 0.5\n"), "{text}");
    }
}
