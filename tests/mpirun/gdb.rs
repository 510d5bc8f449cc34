//! `--gdb-script`: where functions of ranks are, for gdb.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::job::{
    Interface, Running, begun, c_compiler, folder, missing, mpirun, output, program, said, text,
};
use crate::trials::checks;

checks!(
    a_script_has_each_rank_with_its_addresses needs c_compiler,
    gdb_shows_the_line_that_a_rank_is_at needs gdb,
);

fn gdb() -> Option<String> {
    c_compiler().or_else(|| missing("gdb"))
}

/// A job in which rank 0 computes, its script and its process.
fn job(name: &str) -> (Running, String, String) {
    let file = program("shown.c", Interface::Mpich);
    let script = folder().join(name);
    let (file, written) = (file.to_str().expect("text"), script.to_str().expect("text"));
    let job = begun(&mut mpirun(&["-n", "3", "--gdb-script", written, file]));
    let table = said(&job, &[], |said| said.matches("waits").count() >= 2 && said.contains("runs"));
    let process = table.split_whitespace().skip_while(|word| *word != "FOR").nth(3).expect("a row");
    (job, written.to_owned(), process.to_owned())
}

/// Where the first page of a file is mapped in a process.
fn first_pages(process: &str, file: &str) -> Vec<usize> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).expect("the process is there");
    let is_first = |line: &&str| line.ends_with(file) && line.split_whitespace().nth(2) == Some("00000000");
    let start = |line: &str| usize::from_str_radix(line.split('-').next()?, 16).ok();
    maps.lines().filter(is_first).filter_map(start).collect()
}

fn a_script_has_each_rank_with_its_addresses() {
    let (_job, script, process) = job("all.gdb");
    let script = fs::read_to_string(script).expect("it was written");
    let file = program("shown.c", Interface::Mpich);
    let file = file.to_str().expect("text");
    let added: Vec<usize> = script
        .lines()
        .filter_map(|line| line.strip_prefix(&format!("add-symbol-file \"{file}\" -o 0x")))
        .map(|address| usize::from_str_radix(address, 16).expect("an address"))
        .collect();
    assert_eq!(added.len(), 3, "{script}");
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).expect("text");
    assert_eq!(added, first_pages(&process, name), "{script}");
}

fn gdb_shows_the_line_that_a_rank_is_at() {
    let (_job, script, process) = job("lines.gdb");
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-p", &process, "-x", &script, "-ex", "thread apply all backtrace 3"]);
    let output = output(&mut gdb);
    let (shown, complaints) = (text(&output.stdout), text(&output.stderr));
    if complaints.contains("Operation not permitted") {
        // The system allows no debuggers here.
        return;
    }
    let is_it = |line: &str| line.contains(" main (") && line.contains("shown.c:");
    assert!(shown.lines().any(is_it), "{shown}{complaints}");
}
