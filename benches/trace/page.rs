//! Examples whose page somebody has open, and that have none: how long a step takes, which differs from run to run by more than a page
//! costs, and what the threads take that serve it.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::thread::{JoinHandle, spawn};

use crate::beside_pes;
use crate::common::{Budget, example, row, sample, sample_both, table, wanted};

/// Two nodes, one PE each.
const EXAMPLES: [(&str, &str); 2] =
    [("jacobi3d", "--grid 96,96,96 --block 32,32,32 --steps 4000"), ("leanmd", "--steps 150")];
const ROUNDS: u32 = 11;

pub fn measure() {
    let examples = EXAMPLES.into_iter().filter(|(program, options)| wanted(&name_of(program, options)));
    let (mut steps, mut threads) = (Vec::new(), Vec::new());
    for (program, options) in examples {
        (0..ROUNDS).for_each(|round| run_both(program, options, round));
        steps.push(row(name_of(program, options), Budget::Times(1.005)));
        threads.push(row(of_threads(program), Budget::AtMost(0.5)));
    }
    table("A page that is open: examples, per step", "µs", &steps);
    table("What a page adds to all threads but PEs", "% of the cores", &threads);
}

fn of_threads(program: &str) -> String {
    format!("{program}: added by the page | what they take without")
}

fn name_of(program: &str, options: &str) -> String {
    format!("{program} {options}, page open | no page")
}

fn run_both(program: &str, options: &str, round: u32) {
    let of_two = format!("{options} --nodes 2 --pes 1");
    let with_page = format!("{of_two} --dashboard 127.0.0.1:0");
    let (open, closed) = (Cell::new(0.0), Cell::new(0.0));
    let step_us = |options: &str, has_page: bool| {
        let (us, percents) = run(program, options, has_page);
        if has_page { &open } else { &closed }.set(percents);
        us
    };
    let name = name_of(program, options);
    sample_both(name, round, || step_us(&with_page, true), || step_us(&of_two, false));
    sample(of_threads(program), open.get() - closed.get(), closed.get());
}

/// What a step takes, and what all threads but PEs take of the cores; perhaps while somebody is told how the job stands, as a browser is:
/// whenever there is news.
fn run(program: &str, options: &str, has_page: bool) -> (f64, f64) {
    let (mut page, mut threads) = (None, None);
    let report = example::report_while(program, options.split(' '), |job| {
        threads = Some(beside_pes::watch(job.id()));
        page = has_page.then(|| open_page(job));
    });
    let told = page.map(|page| page.join().expect("it ends with the job"));
    assert!(told != Some(0), "the page is told of the job");
    let percents = threads.expect("it was begun").join().expect("it ends with the job");
    (example::per_step_s(&report) * 1e6, percents)
}

/// Has the page of this job open until the job ends; how many bytes it was told.
fn open_page(job: &mut Child) -> JoinHandle<usize> {
    let mut said = BufReader::new(job.stderr.take().expect("it is a pipe"));
    let mut line = String::new();
    while !line.contains("dashboard: http://") {
        line.clear();
        assert!(said.read_line(&mut line).expect("it is a pipe") > 0, "the job says where its page is");
    }
    spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    let (_, link) = line.trim_end().split_once("http://").expect("it was looked for");
    let (address, token) = link.split_once("/?token=").expect("a link has a token");
    let mut page = TcpStream::connect(address).expect("the job listens");
    write!(page, "GET /events?token={token} HTTP/1.1\r\nhost: job\r\n\r\n").expect("the job listens");
    spawn(move || {
        let mut told = Vec::new();
        // Cut off where the job has ended.
        let _ = page.read_to_end(&mut told);
        told.len()
    })
}
