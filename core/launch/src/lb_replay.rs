//! `talisman lb-replay SNAPSHOT`: what strategies make of what a balancing step knew.
//!
//! The strategies are those of `talisman-lb`; a program's own are known to that program alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use talisman_lb::distributed::{self, Model, Ran};
use talisman_lb::dump::{Dump, DumpError};
use talisman_lb::plan::{Nonsense, Plan};
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::Snapshot;
use talisman_lb::strategies::{Choice, KNOWN, UnknownStrategy, by_name};

#[derive(clap::Args)]
pub(super) struct LbReplay {
    /// A file that --lb-dump wrote
    #[arg(value_name = "SNAPSHOT")]
    file: PathBuf,

    /// The strategy, or several with `+` between them, each of which starts from the plan of the one before
    /// [default: a table of all]
    #[arg(long, value_name = "NAME")]
    balancer: Option<String>,
}

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplayError {
    #[error("{} cannot be read: {source}; give a file that --lb-dump wrote", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    NoSnapshot { path: PathBuf, source: DumpError },
    #[error("--balancer {name}: {source}")]
    Strategy { name: String, source: UnknownStrategy },
}

impl LbReplay {
    /// What the strategies make of it, as text.
    pub(super) fn run(&self) -> Result<String, ReplayError> {
        let choices = self.choices()?;
        let dump = read(&self.file)?;
        let mut text = heading(&dump);
        let tried: Vec<Tried> =
            choices.into_iter().map(|choice| Tried::new(choice, &dump.snapshot)).collect();
        text += &table(&dump.snapshot, &tried);
        text += &traffic(&tried);
        for tried in &tried {
            if let Some(refused) = &tried.refused {
                let _ = writeln!(text, "\n{} is refused: {refused}", tried.name);
            }
        }
        Ok(text)
    }

    fn choices(&self) -> Result<Vec<Choice>, ReplayError> {
        match &self.balancer {
            None => Ok(KNOWN.iter().map(|known| (known.make)()).collect()),
            Some(name) => match by_name(name) {
                Ok(choice) => Ok(vec![choice]),
                Err(source) => Err(ReplayError::Strategy { name: name.clone(), source }),
            },
        }
    }
}

fn read(path: &Path) -> Result<Dump, ReplayError> {
    let bytes = fs::read(path).map_err(|source| ReplayError::Unreadable { path: path.to_owned(), source })?;
    Dump::from_bytes(&bytes).map_err(|source| ReplayError::NoSnapshot { path: path.to_owned(), source })
}

/// What a strategy made of a snapshot.
struct Tried {
    name: String,
    plan: Plan,
    seconds: f64,
    /// Why the plan would not be carried out.
    refused: Option<String>,
    /// Of a strategy that no part sees everything for.
    ran: Option<Ran>,
}

impl Tried {
    fn new(choice: Choice, snapshot: &Snapshot) -> Self {
        let name = choice.name().to_owned();
        let start = Instant::now();
        let (plan, ran) = match choice {
            Choice::Central(mut strategy) => (strategy.plan(snapshot), None),
            Choice::Distributed(strategy) => {
                let mut ran = distributed::run(&*strategy, snapshot, Model::default());
                (std::mem::take(&mut ran.plan), Some(ran))
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let refused = plan.check(snapshot).err().map(|nonsense: Nonsense| nonsense.to_string());
        let refused = ran.as_ref().and_then(|ran| ran.refused.clone()).or(refused);
        Tried { name, plan, seconds, refused, ran }
    }
}

fn heading(dump: &Dump) -> String {
    let Dump { step, trigger, strategy, snapshot } = dump;
    let hosts: std::collections::BTreeSet<u32> = snapshot.nodes.iter().map(|node| node.host).collect();
    format!(
        "step {step} ({trigger}, {strategy}): {} objects, {} PEs, {} nodes, {} hosts, {} pairs of objects that talk\n\n",
        snapshot.objects.len(),
        snapshot.pes.len(),
        snapshot.nodes.len(),
        hosts.len(),
        snapshot.edges.len(),
    )
}

/// A line for each, after one of how things stood.
fn table(snapshot: &Snapshot, tried: &[Tried]) -> String {
    let mut text = format!(
        "| {:<24} | {:>11} | {:>10} | {:>14} | {:>14} | {:>10} | {:>14} | {:>9} |\n",
        "strategy",
        "max/average",
        "max/ideal",
        "external bytes",
        "between nodes",
        "moves",
        "bytes moved",
        "seconds"
    );
    let _ = writeln!(
        text,
        "|{:-<26}|{:->13}|{:->12}|{:->16}|{:->16}|{:->12}|{:->16}|{:->11}|",
        "", ":", ":", ":", ":", ":", ":", ":"
    );
    text += &row("(as it was)", &Quality::of(snapshot, &Plan::default()), None);
    for tried in tried {
        text += &match tried.refused {
            None => row(&tried.name, &Quality::of(snapshot, &tried.plan), Some(tried.seconds)),
            Some(_) => format!("| {:<24} | {:>11} |\n", tried.name, "refused"),
        };
    }
    text
}

fn row(name: &str, quality: &Quality, seconds: Option<f64>) -> String {
    format!(
        "| {name:<24} | {:>11.3} | {:>10.3} | {:>14.0} | {:>14.0} | {:>10} | {:>14} | {:>9} |\n",
        quality.ratio(),
        quality.over_ideal(),
        quality.external_bytes,
        quality.bytes_between_nodes,
        quality.moves,
        quality.bytes_moved,
        seconds.map_or("–".into(), |seconds| format!("{seconds:.6}")),
    )
}

/// What those told each other that no part sees everything for.
fn traffic(tried: &[Tried]) -> String {
    let ran = tried.iter().filter_map(|tried| Some((&tried.name, tried.ran.as_ref()?)));
    let lines: String = ran
        .map(|(name, ran)| {
            format!(
                "{name}: {} notes of {} bytes between PEs, {:.6} s on a modelled network, {} objects at most known to one PE\n",
                ran.notes, ran.bytes, ran.simulated_s, ran.most_held
            )
        })
        .collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

#[cfg(test)]
mod tests {
    use talisman_lb::snapshot::{Key, Node, Object, Pe};

    use super::*;

    /// Eight objects of a second on the first of two PEs.
    fn dump() -> Dump {
        let pe = |node| Pe { node, speed: 1.0, background: 0.0, available: true };
        let object = |index| Object {
            key: Key { collection: 1, index },
            load: 1.0,
            bytes: 100,
            pe: 0,
            migratable: true,
            position: None,
        };
        let nodes = vec![Node { host: 0, memory: None }; 2];
        let snapshot =
            Snapshot { pes: vec![pe(0), pe(1)], nodes, objects: (0..8).map(object).collect(), edges: vec![] };
        Dump { step: 3, trigger: "sync".into(), strategy: "greedy".into(), snapshot }
    }

    /// Of a file of these bytes.
    fn replayed(name: &str, bytes: &[u8], balancer: Option<&str>) -> Result<String, String> {
        let file = std::env::temp_dir().join(format!("talisman-replay-{}-{name}", std::process::id()));
        fs::write(&file, bytes).unwrap();
        let replay = LbReplay { file: file.clone(), balancer: balancer.map(str::to_owned) };
        let told = replay.run().map_err(|error| error.to_string());
        fs::remove_file(file).unwrap();
        told
    }

    #[test]
    fn a_strategy_stands_beside_how_it_was() {
        let told = replayed("one", &dump().to_bytes(), Some("greedy")).unwrap();
        assert!(told.starts_with("step 3 (sync, greedy): 8 objects, 2 PEs, 2 nodes, 1 hosts"), "{told}");
        let columns = |name: &str| -> Vec<String> {
            let row = told.lines().find(|line| line.starts_with(&format!("| {name}"))).expect("a row");
            row.split('|').map(|column| column.trim().to_owned()).collect()
        };
        assert_eq!(columns("(as it was)")[2..4], ["2.000", "2.000"]);
        let greedy = columns("greedy");
        assert_eq!((&greedy[2], &greedy[6], &greedy[7]), (&"1.000".into(), &"4".into(), &"400".into()));
    }

    #[test]
    fn without_a_name_there_are_all_and_none_is_refused() {
        let told = replayed("all", &dump().to_bytes(), None).unwrap();
        for known in KNOWN {
            assert!(told.contains(&format!("| {} ", known.name)), "{}: {told}", known.name);
        }
        assert!(!told.contains("refused"), "{told}");
    }

    #[test]
    fn what_is_no_snapshot_and_what_is_no_strategy_is_named() {
        let whole = dump().to_bytes();
        let said = |name, bytes: &[u8], balancer| replayed(name, bytes, balancer).unwrap_err();
        assert!(said("empty", b"", None).contains("is no snapshot"));
        assert!(said("foreign", b"\x7fELF", None).contains("-foreign: this is no snapshot"));
        assert!(said("cut", &whole[..whole.len() / 2], None).contains("cut off or damaged"));
        let unknown = said("unknown", &whole, Some("greed"));
        assert!(unknown.starts_with("--balancer greed: ") && unknown.contains("greedy-refine"), "{unknown}");
        let missing = LbReplay { file: "no/such.lb".into(), balancer: None }.run().unwrap_err().to_string();
        assert!(missing.contains("no/such.lb") && missing.contains("--lb-dump"), "{missing}");
    }
}
