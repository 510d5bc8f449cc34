//! Whoever is killed, the job ends soon, says why, and leaves nothing behind.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use super::checks;
use crate::job::{Job, example, program, run};
use crate::system::{rights, signal};

checks!(
    at_a_step,
    in_the_middle_of_traffic,
    of_the_launcher,
    of_everybody,
    of_several_at_once,
    at_any_moment,
    of_the_launcher_at_any_moment,
    leave_no_files needs rights,
);

const TRANSPORTS: [&str; 4] = ["tcp", "shm", "unix", "mixed"];

fn at_a_step() {
    for (victim, transport) in [(0, "tcp"), (1, "mixed"), (2, "unix"), (3, "shm")] {
        let kill = format!("{victim}@step3");
        let words = format!("--grid 16,16,16 --block 8,8,8 --steps 1000000 --kill {kill}");
        let named = [format!("node {victim} (pid"), format!("was killed, as --kill {kill} asked")];
        run(example("jacobi3d", &words, (4, 1, transport))).expect(3, &[&named[0], &named[1]]);
    }
}

fn in_the_middle_of_traffic() {
    for transport in TRANSPORTS {
        for victim in [0, 2, 3] {
            let job = Job::start(program("traffic", (4, 1, transport)));
            job.wait_for("under way");
            let pid = job.nodes(4)[victim];
            signal(pid, Signal::KILL);
            let reason = format!("error: node {victim} (pid {pid}) was killed by signal 9 (SIGKILL)");
            job.end().expect(3, &[&reason]).at_once();
        }
    }
}

fn of_the_launcher() {
    for transport in TRANSPORTS {
        let job = Job::start(program("traffic", (4, 1, transport)));
        job.wait_for("under way");
        signal(job.launcher_pid(), Signal::KILL);
        assert_eq!(job.end().at_once().status.code(), None);
    }
}

fn of_everybody() {
    let job = Job::start(program("traffic", (4, 2, "mixed")));
    job.wait_for("under way");
    let everybody = job.processes();
    assert_eq!(everybody.len(), 5);
    everybody.iter().for_each(|pid| signal(*pid, Signal::KILL));
    assert_eq!(job.end().at_once().status.code(), None);
}

fn of_several_at_once() {
    let job = Job::start(program("traffic", (6, 1, "mixed")));
    job.wait_for("under way");
    job.nodes(6)[2..5].iter().for_each(|pid| signal(*pid, Signal::KILL));
    job.end().expect(3, &["was killed by signal 9 (SIGKILL)"]).at_once();
}

/// Before the nodes are linked, while they are, and after.
fn at_any_moment() {
    let mut rng = Rng::new(3);
    for round in 0..12 {
        let job = Job::start(program("traffic", (4, 2, TRANSPORTS[round % TRANSPORTS.len()])));
        let victim = rng.below(4) as usize;
        let pid = job.nodes(4)[victim];
        sleep(Duration::from_micros(rng.below(60_000)));
        signal(pid, Signal::KILL);
        let reason = format!("error: node {victim} (pid {pid}) was killed by signal 9 (SIGKILL)");
        job.end().expect(3, &[&reason]).at_once();
    }
}

fn of_the_launcher_at_any_moment() {
    let mut rng = Rng::new(4);
    for round in 0..12 {
        let job = Job::start(program("traffic", (4, 2, TRANSPORTS[round % TRANSPORTS.len()])));
        sleep(Duration::from_micros(rng.below(60_000)));
        signal(job.launcher_pid(), Signal::KILL);
        assert_eq!(job.end().at_once().status.code(), None);
    }
}

/// With folders for temporary files of its own, so that what others do there does not matter. This program may stand below one of them:
/// it is opened before they are hidden, and runs as a copy. A job that is killed as a whole cannot take away its socket, which
/// the next job does.
fn leave_no_files() {
    let script = "
        exec 9< \"$1\" && shift && cd / && unset TMPDIR XDG_RUNTIME_DIR
        for folder in /var/tmp /dev/shm /tmp; do
            test -L $folder -o ! -d $folder || mount -t tmpfs none $folder || exit 9
        done
        cat <&9 > /tmp/program && chmod 700 /tmp/program && exec 9<&- || exit 9
        /tmp/program \"$@\"
        echo over $?
        echo left $(find /tmp /dev/shm -mindepth 1 ! -type d ! -path /tmp/program)";
    for (everybody, ends) in [(true, "over 137"), (false, "over 3")] {
        let program = program("traffic", (4, 1, "mixed"));
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", script, "sh"])
            .arg(program.get_program())
            .args(program.get_args());
        let job = Job::start(command);
        job.wait_for("under way");
        let launcher = crate::system::children(job.launcher_pid())[0];
        let nodes = crate::system::children(launcher);
        assert_eq!(nodes.len(), 4);
        let victims = if everybody { [vec![launcher], nodes].concat() } else { vec![nodes[1]] };
        victims.iter().for_each(|pid| signal(*pid, Signal::KILL));
        let ended = job.end();
        let over: Vec<&String> = ended.stdout.iter().filter(|line| line.starts_with("over")).collect();
        let left: Vec<&String> = ended.stdout.iter().filter(|line| line.starts_with("left")).collect();
        let socket = format!("left /tmp/talisman-{}/{launcher}.job", rustix::process::getuid().as_raw());
        let expected = if everybody { socket } else { "left".to_owned() };
        assert_eq!((over, left), (vec![&ends.to_string()], vec![&expected]), "{}", ended.said());
    }
}
