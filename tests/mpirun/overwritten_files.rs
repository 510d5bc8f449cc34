//! Files that ranks write over, empty, remove and replace: a rank that goes back to a checkpoint finds what was there then.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::job::{Interface, c_compiler, folder, mpirun, output, printed, program, text};
use crate::trials::checks;

checks!(
    what_is_overwritten_is_put_back needs c_compiler,
    what_a_rank_overwrites_that_goes_back_alone_is_put_back needs c_compiler,
    undo_logs_go_however_the_job_ends needs c_compiler,
);

/// The program's words, in a folder of its own.
struct Place {
    folder: PathBuf,
    words: Vec<String>,
}

impl Place {
    fn new(name: &str, what: &str) -> Place {
        let file = program("overwritten.c", Interface::Mpich);
        let folder = folder().join(format!("overwritten-{name}"));
        std::fs::create_dir_all(&folder).expect("a folder of this test");
        let stem = folder.join("file");
        let words = [file.to_str(), Some(what), stem.to_str(), Some("120")];
        Place { folder, words: words.map(|word| word.expect("text").to_owned()).into() }
    }

    fn job(&self, way: &[&str], others: &[&str]) -> Command {
        let own: Vec<&str> = self.words.iter().map(String::as_str).collect();
        mpirun(&[&["-n", "6", "--wdir", self.folder.to_str().expect("text")], way, &own, others].concat())
    }

    /// No log is left.
    fn is_clean(&self) -> bool {
        let left = std::fs::read_dir(&self.folder).expect("it is there").flatten();
        left.map(|entry| entry.file_name()).all(|name| !name.as_encoded_bytes().starts_with(b".talisman"))
    }
}

fn goes_through(name: &str, what: &str, way: &[&str], killed: &[&str]) {
    let place = Place::new(name, what);
    assert_eq!(printed(&mut place.job(way, killed)), "120 rounds\n", "{name}");
    assert!(place.is_clean(), "{name}");
}

fn kept<'a>(ft: &'a str, period: &'a str) -> [&'a str; 6] {
    ["--nodes", "3", "--ft", ft, "--ckpt-every", period]
}

fn what_is_overwritten_is_put_back() {
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("one", &kept("double", "40ms")[..], &["2@60"][..]),
        ("each", &kept("double", "40ms")[..], &["2@40", "0@90"][..]),
        ("late", &kept("double", "80ms")[..], &["2@47"][..]),
        ("rarely", &kept("double", "150ms")[..], &["4@110"][..]),
    ] {
        goes_through(name, "all", way, killed);
    }
}

fn what_a_rank_overwrites_that_goes_back_alone_is_put_back() {
    for (name, way, killed) in [
        ("logging-one", &kept("logging", "40ms")[..], &["2@60"][..]),
        ("logging-each", &kept("logging", "40ms")[..], &["2@40", "0@70", "4@100"][..]),
        ("logging-rarely", &kept("logging", "150ms")[..], &["5@110"][..]),
    ] {
        goes_through(name, "alone", way, killed);
    }
}

/// Also where what was written over cannot be put back: then the job does not go on from anything else.
fn undo_logs_go_however_the_job_ends() {
    for (how, said) in [
        ("aborts", "MPI_Abort was called with 7"),
        ("exits", "rank 2 ended with status 7"),
        ("faults", "segmentation fault at address 0x8"),
        ("spoils", "cannot go on from a checkpoint: cannot put back what"),
    ] {
        let place = Place::new(how, "all");
        let ended = output(&mut place.job(&kept("double", "40ms"), &[how]));
        let error = text(&ended.stderr);
        assert!(!ended.status.success() && error.contains(said), "{how}: {error}");
        assert!(place.is_clean(), "{how}: {error}");
    }
    let place = Place::new("waits", "all");
    let mut job = place.job(&kept("double", "40ms"), &["waits"]);
    let mut job = job.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("`talisman` was built");
    let said = BufReader::new(job.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let waits = said.into_iter().any(|line| line == "it waits");
    let pid = Pid::from_raw(job.id() as i32).expect("no process has number 0");
    let _over = kill_process(pid, Signal::TERM);
    let status = job.wait().expect("it ends");
    assert_eq!((waits, status.code()), (true, Some(143)));
    assert!(place.is_clean());
}
