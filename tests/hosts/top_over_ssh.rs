//! A job is looked at from another host, over ssh and its pseudo-terminal.

use std::fs;
use std::io::{Write, pipe};
use std::path::Path;

use crate::job::{assert_ended_well, assert_nothing_left, example};
use crate::network::{Network, Running, hosts};
use crate::trials::checks;

checks!(a_job_is_shown_on_a_terminal_over_ssh needs hosts,);

const TALISMAN: &str = env!("CARGO_BIN_EXE_talisman");

fn a_job_is_shown_on_a_terminal_over_ssh() {
    let network = Network::new(3);
    let hold = network.folder().join("hold");
    fs::write(&hold, "").expect("the folder is ours");
    let mut command = network.command(0, &example("rounds"));
    command.args(["program", "--rounds", "80"]).arg("--hold").arg(&hold);
    command.arg("--hosts").arg(network.hosts_file(&["h0 slots=2", "h1 slots=2"])).args(["--pes", "1"]);
    let mut job = Running::start(&mut command);
    job.wait_for("at 14\n");

    // The only job there, as whoever looks finds too.
    let of_list = format!("$({TALISMAN} list | awk 'NR == 2 {{ print $1 }}')");
    let line = format!("stty rows 40 cols 100; exec {TALISMAN} top {of_list}");
    let (keys, mut presses) = pipe().expect("the system gives a pipe");
    let mut ssh = network.command(2, Path::new("ssh"));
    ssh.args(network.ssh_options().split(' ')).args(["-tt", "h0", &line]);
    let mut shown = Running::start_reading(&mut ssh, keys);
    // Blanks between words are not written.
    for part in ["ENTRIES/S", "h0", "h1"] {
        shown.wait_for(part);
    }
    presses.write_all(b"q").expect("it reads");
    let ended = shown.end();
    assert!(ended.status.success() && ended.output.contains("\u{1b}[?1049l"), "{ended:?}");

    fs::remove_file(&hold).expect("it is there");
    assert_ended_well(&job.end());
    assert_nothing_left(&network);
}
