//! The dashboard's page in a real browser: what it shows, what its buttons do, by mouse and by keyboard, and how it looks.

use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::Value;

use crate::browser::Browser;
use crate::disk::Folder;
use crate::seen::{Link, begin_with};
use crate::subjects::{LONG, Left, NEVER, Run};
use crate::system::signal;

/// Shows a moment, and tells it beside what the page has made of it.
const SEE: &str = r##"(async () => {
  const job = await (await fetch(at("/snapshot"))).json();
  show(job);
  const rows = (id) => [...byId(id).rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  const plot = (figure) => [figure.id, {
    label: figure.querySelector("svg").getAttribute("aria-label"),
    lines: figure.querySelectorAll("polyline").length, boxes: figure.querySelectorAll("rect").length,
  }];
  const of_now = (line) => [line.children[0].textContent, line.children[1].textContent];
  return {
    job, title: document.title, text: document.body.innerText, state: byId("state").textContent,
    warning: byId("warning").hidden ? null : byId("warning").textContent,
    now: Object.fromEntries([...byId("now").children].map(of_now)),
    pes: rows("pes"), objects: rows("objects"), events: rows("events"), losses: rows("losses"),
    plots: Object.fromEntries([...document.querySelectorAll("figure")].map(plot)),
    asks: [...document.querySelectorAll("[data-ask]")].map((button) => button.dataset.ask),
  };
})()"##;
/// The least contrast of a text with what is behind it, of those that a page has (WCAG 2.1, 1.4.3).
const CONTRAST: &str = r##"(() => {
  const part = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  const ratio = (name) => {
    const text = light(getComputedStyle(document.querySelector(name)).color);
    return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  };
  return Math.min(...["h1", "#state", "#warning", "dd", "td", "th", "figcaption", "button"].map(ratio));
})()"##;

/// What the page shows is what the job says of itself at that moment.
#[track_caller]
fn shows_what_the_job_says(browser: &mut Browser) -> Value {
    browser.wait_for("byId('now').children.length > 0");
    let seen = browser.run(SEE);
    let job = &seen["job"];
    let all = |name: &str| job[name].as_array().cloned().unwrap_or_default();
    let (nodes, there) = (all("nodes"), all("nodes").iter().filter(|node| node["stage"] != "gone").count());
    let now =
        |name: &str| seen["now"][name].as_str().unwrap_or_else(|| panic!("no {name}: {seen}")).to_owned();
    assert_eq!(now("Nodes"), format!("{there} of {}", nodes.len()));
    assert_eq!(now("Losses"), job["lost"].to_string());
    assert_eq!(now("Balancing steps"), job["balancing"].to_string());
    assert_eq!(now("Steps").split(' ').next(), Some(job["steps"]["done"].to_string().as_str()));
    assert_eq!(now("Log") == "0 B", job["kept"] == 0, "{seen}");
    assert!(now("Memory").ends_with("iB"), "{seen}");
    assert_eq!(now("Last checkpoint") == "–", job["checkpoints"]["count"] == 0, "{seen}");
    let word = |name: &str| job[name].as_str().expect("it is a text").to_owned();
    let state = seen["state"].as_str().unwrap();
    assert!(state.starts_with(&word("state")), "{seen}");
    assert!(state.ends_with(&format!("; --ft {}, --balancer {}", word("ft"), word("balancer"))), "{seen}");
    let warning = job["degraded"].as_str().map(|why| format!("Degraded: {why}"));
    assert_eq!(seen["warning"].as_str(), warning.as_deref());
    assert_eq!(seen["title"], format!("{} ({})", word("program"), job["job"]));

    let mut pes = Vec::new();
    for node in &nodes {
        let of_node = node["pes"].as_array().cloned().unwrap_or_default();
        let place = format!("node {}", node["node"]);
        if of_node.is_empty() {
            pes.push(["–".to_owned(), place.clone(), node["stage"].as_str().unwrap().into(), "–".into()]);
        }
        for pe in of_node {
            let (number, objects) = (pe["pe"].to_string(), pe["objects"].to_string());
            pes.push([number, place.clone(), node["stage"].as_str().unwrap().into(), objects]);
        }
    }
    let row = |row: &Value| [0, 1, 3, 4].map(|column| row[column].as_str().unwrap().to_owned());
    let shown: Vec<_> = seen["pes"].as_array().unwrap()[1..].iter().map(row).collect();
    assert_eq!(shown, pes, "each PE has a row");
    let objects: Vec<_> =
        all("objects").iter().map(|of| [of[0].as_str().unwrap().to_owned(), of[1].to_string()]).collect();
    let row = |row: &Value| [0, 1].map(|column| row[column].as_str().unwrap().to_owned());
    let shown: Vec<_> = seen["objects"].as_array().unwrap()[1..].iter().map(row).collect();
    assert_eq!(shown, objects);

    let events = seen["events"].to_string();
    if let Some(version) = job["checkpoints"]["last"]["version"].as_u64() {
        assert!(events.contains(&format!("checkpoint {version}")), "{events}");
    }
    if let Some(step) = job["balanced"]["number"].as_u64() {
        assert!(events.contains(&format!("balancing step {step}")), "{events}");
    }
    let losses = seen["losses"].as_array().unwrap();
    for (nth, loss) in all("losses").iter().enumerate() {
        let row = &losses[1 + nth];
        let who = loss["node"].as_u64().map_or_else(|| "launcher".into(), |node| format!("node {node}"));
        assert_eq!(
            (row[0].as_str(), &row[2], &row[3]),
            (Some(who.as_str()), &loss["what"], &loss["detected"])
        );
    }
    for plot in ["load", "rate", "memory"] {
        let plot = &seen["plots"][plot];
        assert!(plot["lines"].as_u64() > Some(0) || all("past").len() < 2, "{seen}");
        assert!(
            plot["label"].as_str().is_some_and(|label| label.contains(": now ") || all("past").is_empty()),
            "{seen}"
        );
    }
    assert!(
        seen["plots"]["map"]["boxes"].as_u64() >= Some(pes.len() as u64),
        "each PE is on the map: {seen}"
    );
    assert_eq!(&seen["asks"], &job["takes"], "each request has its button");
    seen
}

/// In dark and light, on a telephone and on a wide screen, it can be read, and nothing is cut off.
#[track_caller]
fn looks_well_everywhere(browser: &mut Browser, name: &str) {
    let mut backs = Vec::new();
    for scheme in ["light", "dark"] {
        for width in [360, 1400] {
            browser.looks(width, scheme);
            let (wide, least) = (browser.run("document.scrollingElement.scrollWidth"), browser.run(CONTRAST));
            assert!(
                wide.as_u64() <= Some(width.into()),
                "{wide} of {width} pixels: one would have to scroll"
            );
            assert!(least.as_f64() >= Some(4.5), "{scheme}: the contrast is {least}");
            browser.picture(&format!("{name}-{scheme}-{width}"));
        }
        backs.push(browser.run("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(backs[0], backs[1], "dark is not light");
    browser.looks(1000, "light");
}

/// Goes to a button by nothing but the key for that, and sees where it is.
#[track_caller]
fn go_to(browser: &mut Browser, ask: &str) {
    let is_there = format!("document.activeElement.dataset.ask === {ask:?}");
    for _ in 0..40 {
        if browser.run(&is_there) == true {
            assert_ne!(browser.run("getComputedStyle(document.activeElement).outlineStyle"), "none");
            return;
        }
        browser.press("Tab");
    }
    panic!("no key leads to {ask}: {}", browser.run("document.body.innerText"));
}

/// What the job has answered to a request.
#[track_caller]
fn answer(browser: &mut Browser, request: &str, wanted: &str) {
    let is_there = format!(
        "byId('answer').textContent.startsWith({request:?}) && !byId('answer').textContent.endsWith('asked …')"
    );
    browser.wait_for(&is_there);
    let said = browser.run("byId('answer').textContent").to_string();
    assert!(said.contains(wanted), "{said}");
}

/// Buttons ask after a question, which has to be answered: by keyboard alone, and by mouse.
fn buttons_ask_the_job(browser: &mut Browser) {
    let is_open = "byId('sure').open";
    go_to(browser, "checkpoint");
    browser.press("Enter");
    browser.wait_for(is_open);
    assert_eq!(browser.run("document.activeElement.value"), "no", "who hits a key by chance does nothing");
    browser.press("Enter");
    browser.wait_for(&format!("!{is_open}"));
    assert_eq!(browser.run("byId('answer').textContent"), "", "nothing was asked");
    go_to(browser, "checkpoint");
    browser.press("Enter");
    browser.wait_for(is_open);
    browser.press_with_shift("Tab");
    assert_eq!(browser.run("document.activeElement.value"), "yes");
    browser.press("Enter");
    answer(browser, "checkpoint", "is taken");

    go_to(browser, "shrink");
    browser.press("Enter");
    browser.wait_for(is_open);
    browser.press("Escape");
    browser.wait_for(&format!("!{is_open}"));
    assert!(browser.run("byId('answer').textContent").as_str().unwrap().starts_with("checkpoint"));
    go_to(browser, "shrink");
    browser.press("Enter");
    browser.wait_for(is_open);
    browser.press_with_shift("Tab");
    browser.press_with_shift("Tab");
    browser.write("3");
    browser.press("Enter");
    answer(browser, "shrink 3", "the job goes on without node 3");

    browser.click("[data-ask=balance]");
    browser.wait_for(is_open);
    browser.click("dialog [value=no]");
    browser.wait_for(&format!("!{is_open}"));
    browser.click("[data-ask=balance]");
    browser.click("dialog [value=yes]");
    // The first step took the objects of the node that left.
    answer(browser, "balance", "balancing step 2 (request, rotate)");
    browser.click("[data-ask=grow]");
    browser.click("dialog [value=yes]");
    answer(browser, "grow", "the job goes on with node");
}

/// An address that is free.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn browse(link: &Link) -> Browser {
    Browser::open(&format!("http://{}/?token={}", link.address, link.token))
}

/// The page tells of so many losses, and that the job goes on.
fn lost(count: usize) -> String {
    format!("byId('losses').rows.length > {count} && byId('state').textContent.startsWith('running')")
}

/// The first node is lost: the same page, which nobody loads again, tells of it.
#[track_caller]
fn lose_the_first_node(browser: &mut Browser, first: i32, name: &str) -> Value {
    signal(first, Signal::KILL);
    browser.wait_for(&lost(1));
    let seen = shows_what_the_job_says(browser);
    assert!(seen["losses"][1][0] == "node 0", "{seen}");
    looks_well_everywhere(browser, name);
    seen
}

/// And so is the launcher after it: whoever leads next serves it under the same link.
#[track_caller]
fn lose_the_launcher(run: &Run, link: &Link, browser: &mut Browser, name: &str) {
    signal(run.job.launcher_pid(), Signal::KILL);
    run.job.wait_for_error_after(
        "leads now",
        &format!("dashboard: http://{}/?token={}", link.address, link.token),
    );
    browser.wait_for(&lost(2));
    let seen = shows_what_the_job_says(browser);
    assert!(seen["losses"].to_string().contains("\"launcher\""), "{seen}");
    assert!(!seen["text"].to_string().contains(&link.token), "the page does not tell the token");
    browser.picture(&format!("{name}-without-the-launcher"));
}

/// What the page told last is in the report.
#[track_caller]
fn is_as_reported(seen: &Value, left: &Left) {
    let told = seen["job"]["losses"].as_array().unwrap();
    assert!(told.len() <= left.failures.len());
    for (told, reported) in told.iter().zip(&left.failures) {
        for name in ["node", "what", "detected", "version"] {
            assert_eq!(told[name], reported[name], "{name}");
        }
    }
    if let Some(version) = seen["job"]["checkpoints"]["last"]["version"].as_u64() {
        assert!(left.taken().iter().any(|(taken, _)| *taken == version), "{version}: {:?}", left.taken());
    }
}

pub fn the_page_in_a_browser() {
    let shape = (4, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let options = "--ft double --ckpt-every 4steps --balancer rotate --lb-every 1h --max-nodes 5";
    let (run, link) = begin_with(&folder, shape, options, &free_address());
    let nodes = run.job.nodes(4);
    run.job.wait_for("at 9");
    let mut browser = browse(&link);
    shows_what_the_job_says(&mut browser);
    buttons_ask_the_job(&mut browser);
    lose_the_first_node(&mut browser, nodes[0], "double");
    lose_the_launcher(&run, &link, &mut browser, "double");
    let seen = shows_what_the_job_says(&mut browser);
    drop(browser);
    folder.let_go();
    let left = run.survives_its_launchers(&expected);
    is_as_reported(&seen, &left);
}

/// What nodes keep for others is told, and only whoever was lost goes back. Such a job ends with its launcher.
pub fn the_page_of_a_job_that_logs() {
    let shape = (3, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let (run, link) = begin_with(&folder, shape, &format!("--ft logging {NEVER}"), &free_address());
    let nodes = run.job.nodes(3);
    run.job.wait_for("at 9");
    let mut browser = browse(&link);
    shows_what_the_job_says(&mut browser);
    browser.wait_for("byId('now').innerText.match(/Log\\s+[1-9]/) !== null");
    let seen = lose_the_first_node(&mut browser, nodes[0], "logging");
    assert!(seen["losses"][1][8] == "yes", "the node goes on in a new process: {seen}");
    assert!(seen["job"]["kept"].as_u64() > Some(0) && seen["now"]["Log"] != "0 B", "{seen}");
    assert!(seen["state"].as_str().unwrap().contains("--ft logging"), "{seen}");
    drop(browser);
    folder.let_go();
    is_as_reported(&seen, &run.survives(&expected));
}
