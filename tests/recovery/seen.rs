//! What is seen of a running job: `--dashboard`, its metrics and requests by HTTP, and `talisman top`.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::Value;

use crate::disk::Folder;
use crate::hosts;
use crate::job::{PATIENCE, Shape, until};
use crate::subjects::{LONG, Run};
use crate::system::{children, signal};

/// A checkpoint now and then.
const OFTEN: &str = "--ft double --ckpt-every 4steps";
/// Connections of strangers that there may be at a time.
const STRANGERS: usize = 16;

/// Where a page is served, and what lets people see it.
pub struct Link {
    pub address: SocketAddr,
    pub token: String,
}

/// What somebody was answered.
struct Answer {
    status: u16,
    text: String,
}

impl Link {
    /// As a line of the job has it.
    pub fn of(line: &str) -> Link {
        let link = line.split("http://").nth(1).unwrap_or_else(|| panic!("no link: {line}"));
        let (address, token) = link.trim().split_once("/?token=").expect("a link has a token");
        Link { address: address.parse().expect("an address"), token: token.to_owned() }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Says this, and reads to the end.
    fn say(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // Whoever is refused at once may not be listened to until the end.
        let _ = stream.write_all(request.as_bytes());
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, text }
    }

    fn get(&self, path: &str) -> Answer {
        self.say(&format!("GET {path}?token={} HTTP/1.1\r\nhost: job\r\n\r\n", self.token))
    }

    fn ask(&self, what: &str) -> Answer {
        let (token, length) = (&self.token, what.len());
        self.say(&format!(
            "POST /ask?token={token} HTTP/1.1\r\nhost: job\r\ncontent-length: {length}\r\n\r\n{what}"
        ))
    }

    /// Waits for metrics that have these lines, whatever program they are of.
    #[track_caller]
    pub fn wait_for(&self, run: &Run, series: &[&str]) -> String {
        let found = until(|| {
            let text = self.get("/metrics").text;
            let has = |wanted: &&str| {
                let (name, rest) = wanted.split_once('{').expect("a series has labels");
                text.lines()
                    .any(|line| line.starts_with(&format!("{name}{{program=")) && line.ends_with(rest))
            };
            series.iter().all(has).then_some(text)
        });
        found.unwrap_or_else(|| panic!("no {series:?}: {}{}", self.get("/metrics").text, run.job.said()))
    }

    pub fn snapshot(&self) -> Value {
        let answer = self.get("/snapshot");
        let body = answer.text.split("\r\n\r\n").nth(1).unwrap_or_default();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {}", answer.text))
    }
}

/// A job of three nodes that does not end before it is let go, with a page at this address.
fn begin(folder: &Folder, address: &str) -> (Run, Link) {
    begin_with(folder, (3, 2, "shm"), OFTEN, address)
}

/// The same of another shape, with other options.
pub fn begin_with(folder: &Folder, shape: Shape, options: &str, address: &str) -> (Run, Link) {
    let run = LONG.start(shape, &format!("{options} --dashboard {address} {}", folder.holding()));
    let link = Link::of(&run.job.wait_for_error("dashboard: "));
    (run, link)
}

pub fn a_job_that_loses_a_node() {
    let expected = LONG.undisturbed((3, 2, "shm"));
    let folder = Folder::new();
    let (run, link) = begin(&folder, "127.0.0.1:0");
    let nodes = run.job.nodes(3);
    run.job.wait_for("at 9");
    let loads: Vec<String> = (0..6).map(|pe| format!("talisman_pe_entries_total{{,pe=\"{pe}\"}}")).collect();
    let text = link.wait_for(&run, &["talisman_nodes{} 3", "talisman_state{,state=\"running\"} 1"]);
    let text = until(|| {
        let text = link.get("/metrics").text;
        let has = |pe: &String| text.contains(&pe[pe.find(',').unwrap()..]);
        (loads.iter().all(has) && text.contains("talisman_objects{")).then_some(text)
    })
    .unwrap_or(text);
    assert!(text.contains(",pe=\"5\"} ") && text.contains("talisman_objects{"), "{text}");
    let page = link.get("/");
    assert!(page.status == 200 && page.text.contains("</html>"), "{}", page.text);
    assert!(page.text.contains("content-security-policy: default-src 'none'"), "{}", page.text);

    signal(nodes[1], Signal::KILL);
    link.wait_for(
        &run,
        &["talisman_losses_total{} 1", "talisman_nodes{} 2", "talisman_node_up{,node=\"1\"} 0"],
    );
    let goes_on = until(|| {
        let seen = link.snapshot();
        (seen["state"] == "running" && !seen["losses"][0]["recover_s"].is_null()).then_some(seen)
    });
    let seen = goes_on.unwrap_or_else(|| panic!("{}", link.snapshot()));
    assert_eq!(
        (&seen["losses"][0]["node"], &seen["nodes"][1]["stage"]),
        (&1.into(), &"gone".into()),
        "{seen}"
    );
    assert!(seen["losses"][0]["what"].as_str().unwrap().contains("node 1"), "{seen}");
    assert!(!seen["degraded"].is_null(), "a node is missing: {seen}");
    assert!(
        seen["memory"].as_u64() > Some(1 << 20) && seen["checkpoints"]["count"].as_u64() > Some(0),
        "{seen}"
    );
    assert!(seen["past"].as_array().is_some_and(|past| !past.is_empty()), "{seen}");

    let taken = link.ask("checkpoint");
    assert!(taken.status == 200 && taken.text.contains(" is taken"), "{}", taken.text);
    let refused = link.ask("shrink 1");
    assert!(refused.status == 409 && refused.text.contains("node 1 is not there"), "{}", refused.text);
    folder.let_go();
    run.survives(&expected);
}

/// It is pushed, and nothing of it says what the job keeps to itself.
pub fn a_page_is_told_as_long_as_it_is_open() {
    let folder = Folder::new();
    let (run, link) = begin(&folder, ":0");
    let mut stream = link.connect();
    write!(stream, "GET /events?token={} HTTP/1.1\r\nhost: job\r\n\r\n", link.token).unwrap();
    let (mut said, mut bytes) = (String::new(), [0; 4096]);
    while said.matches("data: {").count() < 3 {
        let count = stream.read(&mut bytes).expect("it goes on");
        assert!(count > 0, "the stream has ended: {said}");
        said.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    assert!(said.contains("text/event-stream") && !said.contains(&link.token), "{said}");
    drop(stream);
    folder.let_go();
    run.end();
}

/// Without the token, in crowds, with too much, or with what is no request.
pub fn strangers_at_the_page() {
    let folder = Folder::new();
    let (run, link) = begin(&folder, "127.0.0.1:0");
    for path in ["/", "/metrics", "/snapshot", "/events", "/nothing"] {
        let answer = link.say(&format!("GET {path} HTTP/1.1\r\nhost: job\r\n\r\n"));
        assert!(answer.status == 403 && !answer.text.contains("talisman_"), "{}", answer.text);
        let other = link.say(&format!("GET {path}?token={}0 HTTP/1.1\r\nhost: job\r\n\r\n", link.token));
        assert_eq!(other.status, 403, "{}", other.text);
    }
    let asked = link.say("POST /ask HTTP/1.1\r\nhost: job\r\ncontent-length: 10\r\n\r\ncheckpoint");
    assert_eq!(asked.status, 403, "{}", asked.text);
    assert_eq!(link.get("/ask").status, 405, "a link alone asks for nothing");
    assert_eq!(link.get("/../secret").status, 404);
    assert_eq!(link.ask("melt").status, 400);
    assert_eq!(link.ask(&"x".repeat(300)).status, 413);
    assert_eq!(link.say("\0\u{1}\u{2}\r\n\r\n").status, 400);
    let long = link.say(&format!("GET /?{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20)));
    assert!([0, 414, 431].contains(&long.status), "{}", long.text);

    let crowd: Vec<TcpStream> = (0..2 * STRANGERS).map(|_| link.connect()).collect();
    let is_refused = |mut stream: &TcpStream| {
        let mut first = [0; 12];
        matches!(stream.read(&mut first), Ok(12)) && first.ends_with(b"503")
    };
    assert!(is_refused(&crowd[2 * STRANGERS - 1]), "there is no place for so many");
    // Those who say nothing are not waited for.
    until(|| (link.get("/metrics").status == 200).then_some(())).expect("others have a place again");
    drop(crowd);
    folder.let_go();
    run.end();
}

/// Where the address was said, the link stays as it was.
pub fn whoever_leads_next_serves_the_page_again() {
    let expected = LONG.undisturbed((3, 2, "shm"));
    let folder = Folder::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (run, link) = begin(&folder, &free.to_string());
    run.job.nodes(3);
    run.job.wait_for("at 9");
    link.wait_for(&run, &["talisman_nodes{} 3"]);
    signal(run.job.launcher_pid(), Signal::KILL);
    let again = format!("dashboard: http://{free}/?token={}", link.token);
    run.job.wait_for_error_after("leads now", &again);
    link.wait_for(
        &run,
        &["talisman_losses_total{} 1", "talisman_nodes{} 3", "talisman_state{,state=\"running\"} 1"],
    );
    folder.let_go();
    run.survives_its_launchers(&expected);
}

/// It says on which host each node is, and whoever leads next serves it, and says where.
pub fn the_page_of_several_hosts_without_the_launcher() {
    let expected = LONG.undisturbed(hosts::SHAPE);
    let spread = hosts::begin(hosts::TWO, &format!("{} --dashboard 127.0.0.1:0", hosts::OFTEN));
    let link = Link::of(&spread.run.job.wait_for_error("dashboard: "));
    spread.run.job.wait_for("at 14");
    let of_nodes = |link: &Link| {
        let nodes = link.snapshot()["nodes"].as_array().cloned().unwrap_or_default();
        let of = |node: &Value, name: &str| node[name].as_str().unwrap_or("").to_owned();
        nodes.iter().map(|node| [of(node, "host"), of(node, "stage")]).collect::<Vec<_>>()
    };
    let on = |host: &str, stage: &str| [host.to_owned(), stage.to_owned()];
    let all = [on("one", "running"), on("one", "running"), on("two", "running"), on("two", "running")];
    assert_eq!(of_nodes(&link), all);
    signal(children(spread.agent("one"))[0], Signal::KILL);
    let (running, nodes) = ("talisman_state{,state=\"running\"} 1", "talisman_nodes{} 3");
    link.wait_for(&spread.run, &["talisman_losses_total{} 1", nodes, running]);
    spread.kill_launcher();
    spread.run.job.wait_for_error_after("leads now", "dashboard: http://");
    let lines = spread.run.job.errors();
    let again =
        Link::of(lines.iter().rfind(|line| line.contains("dashboard: http://")).expect("it was waited for"));
    assert_ne!(again.address, link.address, "a free port, which is another one");
    again.wait_for(&spread.run, &["talisman_losses_total{} 2", nodes, running]);
    assert_eq!(
        of_nodes(&again).iter().map(|node| node[0].clone()).collect::<Vec<_>>(),
        ["one", "one", "two", "two"]
    );
    let told = again.snapshot()["losses"].clone();
    let left = spread.survives(&expected);
    for (told, reported) in told.as_array().unwrap().iter().zip(&left.failures) {
        assert_eq!((&told["node"], &told["what"]), (&reported["node"], &reported["what"]));
    }
}

fn top(run: &Run) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.arg("top").arg(run.job.launcher_pid().to_string());
    command
}

/// A job that nobody has asked to be seen is, too.
pub fn a_job_on_a_terminal() {
    let folder = Folder::new();
    let run = LONG.start((2, 1, "shm"), &folder.holding());
    run.job.nodes(2);
    run.job.wait_for("at 9");
    let once = top(&run).arg("--once").output().unwrap();
    let text = String::from_utf8_lossy(&once.stdout).into_owned();
    assert!(once.status.success(), "{text}{}", String::from_utf8_lossy(&once.stderr));
    for wanted in ["running", "2 of 2 nodes", "node 1", "PE", "objects"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }

    let (mut ours, theirs) = terminal();
    let theirs = || Stdio::from(theirs.try_clone().unwrap());
    let mut shown = top(&run).stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
    let seen = Arc::<Mutex<Vec<u8>>>::default();
    let (mut reads, sees) = (ours.try_clone().unwrap(), seen.clone());
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reads.read(&mut bytes) {
            sees.lock().unwrap().extend_from_slice(&bytes[..count]);
        }
    });
    let has = |text: &str| String::from_utf8_lossy(&seen.lock().unwrap()).contains(text);
    // Blanks between words are not written.
    until(|| has("ENTRIES/S").then_some(())).unwrap_or_else(|| panic!("{seen:?}"));
    ours.write_all(b"q").unwrap();
    let status = until(|| shown.try_wait().unwrap()).expect("it ends when it is told to");
    assert!(status.success(), "{status}");
    // The screen is as it was before.
    until(|| has("\u{1b}[?1049l").then_some(())).expect("it leaves the screen");
    folder.let_go();
    run.end();
}

/// Both sides of a pseudo-terminal of 100 columns.
fn terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let (name, modes) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: the numbers and the size are there; nobody wants a name or other modes.
    let made = unsafe { libc::openpty(&mut ours, &mut theirs, name, modes, &size) };
    assert_eq!(made, 0, "the system gives a pseudo-terminal");
    // SAFETY: both were just made, and nobody else has them.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

pub fn jobs_that_are_not_there() {
    let none =
        Command::new(env!("CARGO_BIN_EXE_talisman")).args(["top", "4294967295", "--once"]).output().unwrap();
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(1) && said.contains("process id 4294967295"), "{said}");
}
