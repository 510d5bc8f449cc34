//! Examples whose page somebody has open, and that have none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::thread::{JoinHandle, spawn};

use crate::common::{Budget, example, row, sample_both, table, wanted};

/// Two nodes, one PE each.
const EXAMPLES: [(&str, &str); 2] =
    [("jacobi3d", "--grid 96,96,96 --block 32,32,32 --steps 4000"), ("leanmd", "--steps 150")];
const ROUNDS: u32 = 11;

pub fn measure() {
    let examples = EXAMPLES.into_iter().filter(|(program, options)| wanted(&name_of(program, options)));
    let rows: Vec<_> = examples
        .map(|(program, options)| {
            (0..ROUNDS).for_each(|round| run_both(program, options, round));
            row(name_of(program, options), Budget::Times(1.005))
        })
        .collect();
    table("A page that is open: examples, per step", "µs", &rows);
}

fn name_of(program: &str, options: &str) -> String {
    format!("{program} {options}, page open | no page")
}

fn run_both(program: &str, options: &str, round: u32) {
    let of_two = format!("{options} --nodes 2 --pes 1");
    let closed = || example::reported_us(program, of_two.split(' '));
    sample_both(name_of(program, options), round, || open_us(program, &of_two), closed);
}

/// What a step takes while somebody is told how the job stands, as a browser is: whenever there is news.
fn open_us(program: &str, options: &str) -> f64 {
    let options = format!("{options} --dashboard 127.0.0.1:0");
    let mut watching = None;
    let report =
        example::report_while(program, options.split(' '), |child| watching = Some(open_page(child)));
    let told = watching.expect("it was begun").join().expect("it ends with the job");
    assert!(told > 0, "the page is told of the job");
    example::per_step_s(&report) * 1e6
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
