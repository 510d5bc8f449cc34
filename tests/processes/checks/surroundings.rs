//! Odd surroundings, in which batch systems, containers and services start programs: a job runs there as it does anywhere.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;

use super::checks;
use crate::job::{Ended, Scratch, Shape, example, run};
use crate::system::rights;

checks!(
    without_standard_streams,
    without_variables,
    without_a_place_for_files,
    with_signals_ignored_and_blocked,
    in_a_folder_that_is_gone,
    on_one_core,
    under_a_name_that_is_no_text,
    without_a_terminal,
    as_the_first_process needs rights,
);

const SHAPE: Shape = (3, 2, "shm");

fn without_standard_streams() {
    is_well(run(hello("exec \"$@\" <&-", "")));
    let closed = run(hello("exec \"$@\" <&- >&- 2>&-", ""));
    assert!(closed.status.success(), "{}", closed.said());
}

fn without_variables() {
    is_well(run(hello("exec env -i \"$@\"", "")));
}

fn without_a_place_for_files() {
    let script = "TMPDIR=/no/such XDG_RUNTIME_DIR=/no/such HOME= exec \"$@\"";
    let ended = run(hello(script, "--ft double"));
    // It cannot be asked for anything, which is said.
    is_well(ended).expect(0, &["cannot be asked for anything"]);
}

/// As some services leave them to what they start.
fn with_signals_ignored_and_blocked() {
    is_well(run(hello("exec env --ignore-signal=CHLD \"$@\"", "")));
    is_well(run(hello("exec env --block-signal \"$@\"", "--ft double")));
}

fn in_a_folder_that_is_gone() {
    let folder = Scratch::new("gone");
    fs::create_dir(&folder.0).expect("the scratch folder can be written");
    is_well(run(hello(&format!("cd {0} && rmdir {0} && exec \"$@\"", folder.name()), "")));
}

fn on_one_core() {
    is_well(run(hello("exec taskset -c 0 \"$@\"", "")));
}

fn under_a_name_that_is_no_text() {
    let folder = Scratch::new("odd");
    let name = [folder.name().as_bytes(), b" b\xff\nc"].concat();
    let odd = PathBuf::from(std::ffi::OsString::from_vec(name));
    fs::create_dir(&odd).expect("the scratch folder can be written");
    let hello = example("hello", "", SHAPE);
    let program = odd.join("he llo");
    // By another process: a file that this one had open for writing, others that it starts meanwhile might have too.
    let copied = Command::new("cp").arg(hello.get_program()).arg(&program).status();
    assert!(copied.is_ok_and(|copied| copied.success()), "the scratch folder can be written");
    let mut command = Command::new(&program);
    command.args(hello.get_args());
    let ended = run(command);
    fs::remove_dir_all(&odd).expect("it is ours");
    is_well(ended);
}

fn without_a_terminal() {
    is_well(run(hello("exec setsid -w \"$@\"", "")));
}

/// Nobody else waits for the ends of its children's children there.
fn as_the_first_process() {
    is_well(run(hello("exec unshare --pid --fork --mount-proc \"$@\"", "")));
}

/// The example in a shell that makes its surroundings.
fn hello(script: &str, words: &str) -> Command {
    let hello = example("hello", words, SHAPE);
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(hello.get_program()).args(hello.get_args());
    shell
}

#[track_caller]
fn is_well(ended: Ended) -> Ended {
    let ended = ended.expect(0, &[]);
    assert_eq!(ended.stdout.len(), 6, "{}", ended.said());
    ended
}
