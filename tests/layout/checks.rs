//! What is tested.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};

use crate::job::{Ended, Job, Scratch, program, run, until};
use crate::refusing::answering_personality;
use crate::system::{arguments, signal};
use crate::trials::checks;

checks!(
    all_nodes_have_the_same_addresses,
    one_process_starts_itself_anew_once,
    nodes_in_place_of_lost_ones_have_them_too,
    added_nodes_have_them_too,
    nodes_that_agents_start_have_them_too,
    there_is_one_pe_per_node,
    a_refusal_ends_the_start,
    a_system_that_takes_no_notice_is_seen,
    too_low_a_limit_is_told,
    simulations_need_none_of_it,
    a_host_with_another_library_is_refused,
    an_added_node_with_another_library_does_not_join,
    a_checkpoint_is_gone_on_from_with_the_same_libraries_only,
);

/// What each node said of its addresses, which has to be the same; also how many did.
#[track_caller]
fn addresses(ended: &Ended, nodes: usize) -> String {
    let said: Vec<_> =
        ended.stdout.iter().filter_map(|line| line.strip_prefix("node ")?.split_once(": ")).collect();
    assert_eq!(said.len(), nodes, "{}", ended.said());
    let all: BTreeSet<_> = said.iter().map(|(_, addresses)| *addresses).collect();
    assert_eq!(all.len(), 1, "{all:#?}");
    let one = all.first().expect("there is one").to_string();
    assert!(one.starts_with("personality 00040000 stack 8388608 place 17ff"), "{one}");
    one
}

/// Numbers of nodes, and the status with which each job ends that cannot start: one process itself, or as a node that
/// the launcher loses.
const REFUSED: [(u32, i32); 2] = [(1, 1), (2, 3)];

fn ask(job: &Job, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    let (what, rest) = words.split_once(' ').unwrap_or((words, ""));
    command.arg(what).arg(job.launcher_pid().to_string()).args(rest.split_whitespace());
    command.output().expect("the command is built with the tests")
}

/// However they are linked, and whatever limit on stacks the user has.
fn all_nodes_have_the_same_addresses() {
    let mut all = BTreeSet::new();
    for (transport, limit) in [("tcp", None), ("shm", Some(1 << 20)), ("mixed", Some(1 << 30))] {
        let mut command = program("", (3, 1, transport));
        limit.into_iter().for_each(|limit| limit_stack(&mut command, Some(limit), None));
        let ended = run(command).expect(0, &[]).quietly();
        all.insert(addresses(&ended, 3));
    }
    assert_eq!(all.len(), 1, "{all:#?}");
}

/// With the same addresses as nodes that a launcher starts, in the same process, and without a trace of that for what
/// it starts.
fn one_process_starts_itself_anew_once() {
    let ended = run(program("", (1, 1, "tcp"))).expect(0, &[]);
    let nodes = run(program("", (2, 1, "tcp"))).expect(0, &[]);
    assert_eq!(addresses(&ended, 1), addresses(&nodes, 2));
    let job = Job::start(program("--members 2", (1, 1, "tcp")));
    job.wait_for("under way");
    assert_eq!(arguments(job.launcher_pid())[1], "program");
    let name = fs::read_to_string(format!("/proc/{}/comm", job.launcher_pid())).unwrap();
    assert!(name.starts_with("layout-"), "{name}");
}

/// By new processes and by such as waited.
fn nodes_in_place_of_lost_ones_have_them_too() {
    for how in ["--respawn", "--spares 1"] {
        let words = format!("--ft double --ckpt-every 1steps --kill 1@step2 {how}");
        let ended = run(program(&words, (3, 1, "shm"))).expect(0, &["with node 1 in a new process"]);
        addresses(&ended, 3);
    }
}

fn added_nodes_have_them_too() {
    let job = Job::start(program("--ft double --ckpt-every 1h --max-nodes 3 --members 3", (2, 1, "tcp")));
    job.wait_for("under way");
    let grown = ask(&job, "grow 1");
    assert!(grown.status.success(), "{grown:?}");
    addresses(&job.end().expect(0, &[]), 3);
}

/// Over what is called as ssh is.
fn nodes_that_agents_start_have_them_too() {
    let folder = Folder::new();
    let command = folder.job("--hosts hosts", "localhost slots=1 address=127.0.0.1\none slots=2");
    addresses(&run(command).expect(0, &[]), 3);
}

fn there_is_one_pe_per_node() {
    let advice = "these tests need nodes of one PE each; take more nodes instead (--nodes 6)";
    let ended = run(program("", (3, 2, "tcp"))).expect(2, &["--pes 2", advice]);
    assert!(ended.stdout.is_empty(), "{}", ended.said());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["program", "--nodes=2"]);
    addresses(&run(command).expect(0, &[]), 2);
}

fn a_refusal_ends_the_start() {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let told =
        format!("which the host {host} refuses (personality with ADDR_NO_RANDOMIZE: Operation not permitted");
    for (nodes, status) in REFUSED {
        let command = answering_personality(program("", (nodes, 1, "tcp")), libc::EPERM as u32);
        run(command).expect(status, &["these tests need", &told, "allow the system call `personality`"]);
    }
}

/// It is not started anew again and again.
fn a_system_that_takes_no_notice_is_seen() {
    for (nodes, status) in REFUSED {
        let command = answering_personality(program("", (nodes, 1, "tcp")), 0);
        run(command).expect(status, &["these tests need", "takes no notice"]);
    }
}

fn too_low_a_limit_is_told() {
    for (nodes, status) in REFUSED {
        let mut command = program("", (nodes, 1, "tcp"));
        limit_stack(&mut command, Some(4 << 20), Some(4 << 20));
        run(command)
            .expect(status, &["a limit of 8192 KiB on the stack", "allows 4096 KiB at most", "ulimit -Hs"]);
    }
}

fn simulations_need_none_of_it() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["program", "--simulate", "--nodes=2", "--pes=2", "--members=4"]);
    let ended = run(answering_personality(command, libc::EPERM as u32)).expect(0, &[]);
    assert!(ended.stdout.iter().any(|line| line.contains("personality 00000000")), "{}", ended.said());
}

fn a_host_with_another_library_is_refused() {
    let folder = Folder::new();
    let mut command = folder.job("--hosts hosts", "localhost slots=1 address=127.0.0.1\none slots=2");
    command.env(PRELOADED_THERE, library());
    run(command).expect(3, &["its addresses differ from those of node", "the host one", &differs()]);
}

/// The others go on without it.
fn an_added_node_with_another_library_does_not_join() {
    let folder = Folder::new();
    let words = "--hosts hosts --nodes 2 --ft double --ckpt-every 1h --max-nodes 3 --members 3";
    let mut command = folder.job(words, "localhost slots=2 address=127.0.0.1\none slots=1");
    command.env(PRELOADED_THERE, library());
    let job = Job::start(command);
    job.wait_for("under way");
    let grown = ask(&job, "grow 1");
    let why = String::from_utf8_lossy(&grown.stderr);
    assert!(!grown.status.success() && why.contains("did not join"), "{grown:?}");
    assert!(why.contains("its addresses differ from those of node") && why.contains(&differs()), "{why}");
    let checkpoint = ask(&job, "checkpoint");
    assert!(checkpoint.status.success(), "{checkpoint:?}");
}

fn a_checkpoint_is_gone_on_from_with_the_same_libraries_only() {
    let folder = Folder::new();
    let kept = folder.0.join("kept");
    let words = format!("--ft disk --ckpt-dir {} --ckpt-every 1h --members 3", kept.display());
    let job = Job::start(program(&words, (2, 1, "tcp")));
    job.wait_for("under way");
    let checkpoint = ask(&job, "checkpoint");
    assert!(checkpoint.status.success(), "{checkpoint:?}");
    let ended = until(|| {
        job.processes().into_iter().for_each(|pid| signal(pid, Signal::KILL));
        job.processes().is_empty().then_some(())
    });
    ended.expect("all are killed");
    let again = || program(&format!("--restart {}", kept.display()), (3, 1, "tcp"));
    let mut otherwise = again();
    otherwise.env("LD_PRELOAD", library());
    let of = "its addresses differ from those of the processes that the checkpoint is of";
    run(otherwise).expect(3, &[of, &differs()]);
    addresses(&run(again()).expect(0, &[]), 3);
}

/// A library that all systems have, and this program does not use.
fn library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
    let used = maps.lines().find(|line| line.ends_with("/libc.so.6")).expect("the tests use it");
    let folder = Path::new(&used[used.find('/').expect("a path")..]).parent().expect("a file is in a folder");
    let all = ["libanl.so.1", "librt.so.1", "libutil.so.1"].map(|name| folder.join(name));
    all.into_iter().find(|library| library.exists()).expect("the C library has one of these")
}

/// What is said of that.
fn differs() -> String {
    format!("{}: ", library().file_name().expect("it is a file").to_string_lossy())
}

/// What this command's process may have as its stack, and as a limit on that.
fn limit_stack(command: &mut Command, current: Option<u64>, maximum: Option<u64>) {
    let limit = move || Ok(setrlimit(Resource::Stack, Rlimit { current, maximum })?);
    // SAFETY: between fork and exec it makes a system call only.
    unsafe { command.pre_exec(limit) };
}

/// A folder with a program that is called as ssh is, and starts on this host what it is told.
struct Folder(PathBuf);

/// What its value names is loaded there into all processes.
const PRELOADED_THERE: &str = "PRELOADED_THERE";

const SSH: &str = "#!/bin/sh
while [ \"$1\" != -- ]; do shift; done
export SSH_CONNECTION='127.0.0.1 1 127.0.0.1 2' LD_PRELOAD=\"$PRELOADED_THERE\"
exec sh -c \"$3\"
";

impl Folder {
    fn new() -> Folder {
        let folder = Folder(Scratch::new("layout").0.clone());
        fs::create_dir_all(&folder.0).expect("the scratch folder can be written");
        let ssh = folder.0.join("ssh");
        fs::write(&ssh, SSH).expect("the folder is ours");
        fs::set_permissions(&ssh, PermissionsExt::from_mode(0o755)).expect("it is ours");
        folder
    }

    /// A job on these hosts.
    fn job(&self, words: &str, hosts: &str) -> Command {
        fs::write(self.0.join("hosts"), hosts).expect("the folder is ours");
        let path = format!("{}:{}", self.0.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
        command.arg("program").args(words.split_whitespace()).env("PATH", path).current_dir(&self.0);
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
