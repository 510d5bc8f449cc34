//! Hosts that cannot take part are named with the reason.

use std::path::PathBuf;
use std::process::Command;

use crate::job::{assert_ended_well, assert_failed, assert_nothing_left, example, job, probe, run};
use crate::network::{Network, Running, hosts, signal};
use crate::trials::checks;

checks!(
    a_host_that_cannot_take_part_is_named_with_the_reason needs hosts,
    a_host_with_another_program_is_named_with_the_reason needs hosts,
    a_host_with_another_c_library_gets_no_ranks needs hosts,
    a_host_that_does_not_answer_is_given_up needs hosts,
    an_agent_that_is_told_nonsense_ends needs hosts,
);

fn a_host_that_cannot_take_part_is_named_with_the_reason() {
    let network = Network::new(3);
    let refused = |hosts: &[&str], said: &str| {
        let ended = run(&network, hosts, &[]);
        assert_failed(&ended, &[said]);
        assert_nothing_left(&network);
    };
    refused(&["h1", "nobody-has-this-name"], "host nobody-has-this-name (node 1): ssh failed (");
    refused(&["h1", "10.77.0.99"], "host 10.77.0.99 (node 1): ssh failed (");
    refused(&["h1 user=nobody", "h2"], "Permission denied");
    refused(&["h1", "h2 address=10.77.0.99"], "cannot listen at 10.77.0.99");
}

fn a_host_with_another_program_is_named_with_the_reason() {
    let network = Network::new(2);
    let probe = probe();
    // Any other program of the same runtime is an agent, too.
    let (program, other) = (probe.display(), example("ring"));
    let other = other.display();
    let host = &network.host(1).namespace;
    let with = |mount: &str, said: &str| {
        host.sh(mount);
        assert_failed(&run(&network, &["h1 slots=2"], &[]), &["error: host h1 (nodes 0 to 1): ", said]);
        assert_nothing_left(&network);
        host.sh("umount -l \"$(tail -n 1 /proc/mounts | cut -d ' ' -f 2)\"");
    };
    with(&format!("mount --bind {other} {program}"), "another build of the program");
    with(
        &format!("mount --bind /bin/false {program}"),
        "is another program than here: it ended with status 1",
    );
    with(&format!("mount --bind /dev/null {program}"), "cannot be run there");
    let programs = probe.parent().expect("it is in a folder").display();
    with(&format!("mount -t tmpfs none {programs}"), "there is no program /");
    let here = std::env::current_dir().expect("tests have a folder");
    // The program stays where it is when its package's folder is hidden under it.
    let again = format!(
        "mkdir -p /run/t && mount --bind {programs} /run/t && mount -t tmpfs none {here} && mkdir -p {programs} \
         && mount --bind /run/t {programs}",
        here = here.display()
    );
    host.sh(&again);
    assert_ended_well(&run(&network, &["h1"], &[]));
}

/// The other host's library is the same but for one byte of its build id, so that everything else works there.
fn a_host_with_another_c_library_gets_no_ranks() {
    let network = Network::new(3);
    let (library, mut content) = c_library();
    let mark = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let found =
        content.windows(mark.len()).position(|bytes| bytes == mark).expect("libraries have a build id");
    content[found + mark.len()] ^= 0xff;
    let other = network.folder().join("libc.so.6");
    std::fs::write(&other, content).expect("the folder is ours");
    let here = std::fs::metadata(&library).expect("it is mapped").permissions();
    std::fs::set_permissions(&other, here).expect("just written");
    let ranks = |hosts: &[&str]| {
        let mut command = network.command(0, &example("mpi_ring"));
        command.arg("--hosts").arg(network.hosts_file(hosts)).args(["--transport", "tcp", "--ranks", "4"]);
        Running::start(&mut command).end()
    };
    assert_ended_well(&ranks(&["h1", "h2"]));
    let host = &network.host(2).namespace;
    host.sh(&format!("mount --bind {} {}", other.display(), library.display()));
    let ended = ranks(&["h1", "h2"]);
    assert_failed(&ended, &["h2", "the build id of libc.so.6: ", " here, ", " there"]);
    assert_nothing_left(&network);
    // Programs without ranks have objects whose bytes say nothing about the library.
    assert_ended_well(&run(&network, &["h1", "h2"], &[]));
}

/// The file of this process's C library, and its content.
fn c_library() -> (PathBuf, Vec<u8>) {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the system tells");
    let path = maps.lines().find(|line| line.ends_with("/libc.so.6")).expect("tests are linked to it");
    let path = PathBuf::from(&path[path.find('/').expect("it ends with a path")..]);
    let content = std::fs::read(&path).expect("it is mapped");
    (path, content)
}

fn a_host_that_does_not_answer_is_given_up() {
    let network = Network::new(2);
    let server = network
        .host(1)
        .namespace
        .processes()
        .into_iter()
        .find(|process| process.executable.ends_with("sshd"));
    signal(server.expect("it has been started").id, "STOP");
    let mut command = job(&network, &["h1"], &[]);
    command.env("TALISMAN_SSH", format!("{} -o ConnectTimeout=1", network.ssh_options()));
    assert_failed(&Running::start(&mut command).end(), &["host h1 (node 0): ssh failed ("]);
    assert_nothing_left(&network);
    // Nobody waits for it once the job has failed elsewhere.
    let mut command = job(&network, &["h1", "nobody-has-this-name"], &[]);
    command.env("TALISMAN_SSH", format!("{} -o ConnectTimeout=60", network.ssh_options()));
    assert_failed(&Running::start(&mut command).end(), &["host nobody-has-this-name (node 1): ssh failed ("]);
    assert_nothing_left(&network);
}

fn an_agent_that_is_told_nonsense_ends() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("nonsense-{}", std::process::id()));
    // Nothing; a frame that is no message; a length that nobody can have; half a frame.
    for nonsense in [&b""[..], b"\x01\0\0\0\xc1", b"\xff\xff\xff\xffmore", b"\x09\0\0\0half"] {
        std::fs::write(&file, nonsense).expect("the folder is ours");
        let input = std::fs::File::open(&file).expect("just written");
        let ended = Running::start_reading(Command::new(probe()).arg("--talisman-agent"), input).end();
        assert!(ended.output.starts_with("talisman-agent 8 ") && ended.errors.is_empty(), "{ended:?}");
        assert!(ended.status.success(), "{ended:?}");
    }
    std::fs::remove_file(&file).expect("just written");
}
