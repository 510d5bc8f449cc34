//! Blocks of commands with what they print: `console` in the pages.
//!
//! A line that begins with `$` is a command; those up to the next one are what it prints, on standard output or standard
//! error, each in their order. A line `…` stands for any others, and `…` within a line for any text. Without such a line
//! all of standard output is shown. A command ends with status 0, unless `$ echo $?` shows another.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pages::Page;

/// What stands for text that differs from run to run.
const ANY: &str = "…";

/// A job that takes longer hangs (seconds).
const LIMIT_S: &str = "120";

/// The commands of a block, which run one after the other in a folder of their own.
pub struct Transcript {
    page: PathBuf,
    steps: Vec<Step>,
}

/// A command, and what is shown of it.
struct Step {
    command: String,
    shown: Vec<String>,
    status: i32,
}

/// What a command has printed.
struct Printed {
    out: Vec<String>,
    err: Vec<String>,
    status: Option<i32>,
}

/// Those of a page.
pub fn of(page: &Page) -> Vec<Transcript> {
    let blocks = page.blocks().into_iter().filter(|block| block.language == "console");
    blocks.map(|block| Transcript { page: page.path.clone(), steps: steps(&block.text) }).collect()
}

fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = block.lines();
    while let Some(line) = lines.next() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some("echo $?"), Some(step)) => step.status = status(lines.next()),
            (Some(command), _) => steps.push(Step { command: command.into(), shown: vec![], status: 0 }),
            (None, Some(step)) => step.shown.push(line.into()),
            (None, None) => panic!("a block begins with a command, not with {line}"),
        }
    }
    steps
}

fn status(line: Option<&str>) -> i32 {
    line.and_then(|line| line.parse().ok()).expect("a status is shown after `echo $?`")
}

impl Transcript {
    /// Runs it, and compares. The error says what differs.
    pub fn run(&self) -> Result<(), String> {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("talisman-book-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder can be made");
        let ran = self.steps.iter().try_for_each(|step| step.run(&folder));
        std::fs::remove_dir_all(&folder).expect("just made");
        ran.map_err(|error| format!("{}: {error}", self.page.display()))
    }
}

impl Step {
    fn run(&self, folder: &Path) -> Result<(), String> {
        let printed = self.execute(folder);
        let differs = match self.difference(&printed) {
            _ if printed.status != Some(self.status) => format!("it ends with status {:?}", printed.status),
            Some(difference) => difference,
            None => return Ok(()),
        };
        let (out, err) = (printed.out.join("\n"), printed.err.join("\n"));
        Err(format!("$ {}\n{differs}\nstandard output:\n{out}\nstandard error:\n{err}", self.command))
    }

    fn execute(&self, folder: &Path) -> Printed {
        let mut words = self.command.split_whitespace();
        let program = examples().join(words.next().expect("a command has a name"));
        assert!(program.exists(), "{} is not built: run `cargo build --examples`", program.display());
        let mut command = Command::new("timeout");
        command.arg("--kill-after=5").arg(LIMIT_S).arg(program).args(words).current_dir(folder);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TALISMAN_"))
        {
            command.env_remove(name);
        }
        let output = command.output().expect("every system has `timeout`");
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(String::from).collect();
        Printed { out: lines(&output.stdout), err: lines(&output.stderr), status: output.status.code() }
    }

    /// A line that is shown and not printed, or printed and not shown.
    fn difference(&self, printed: &Printed) -> Option<String> {
        let (mut out, mut err) = (printed.out.iter(), printed.err.iter());
        for line in self.shown.iter().filter(|line| *line != ANY) {
            let rest = out.clone();
            if !out.any(|printed| fits(line, printed)) {
                out = rest;
                if !err.any(|printed| fits(line, printed)) {
                    return Some(format!("it does not print: {line}"));
                }
            }
        }
        let lines =
            self.shown.iter().filter(|line| printed.out.iter().any(|printed| fits(line, printed))).count();
        let shows_all = self.shown.iter().any(|line| line == ANY) || lines == printed.out.len();
        (!shows_all).then(|| format!("it prints {} lines on standard output", printed.out.len()))
    }
}

/// Whether a line is what is shown of it.
fn fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split(ANY);
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut is_open = false;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        (rest, is_open) = (&rest[at + part.len()..], part.is_empty());
    }
    rest.is_empty() || is_open
}

/// Where the examples of this build are.
fn examples() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().and_then(Path::parent).expect("it is in `deps`").join("examples")
}
