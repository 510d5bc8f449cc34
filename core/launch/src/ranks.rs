//! `talisman ranks JOB`: what the ranks of a running MPI program do.
//!
//! Nobody of the job is asked: its processes on this machine have written it where it can be read
//! ([`talisman_core::activity`]), so it is told of a rank that computes, or of a job that hangs, too. Which part of the
//! time each rank runs is seen by looking several times.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use super::listing::{self, Part};
use talisman_core::activity::{self, Awaited, HEAD, NAME, Row, State, Table};

/// How often it is looked who runs, and how long after each other.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(4);
/// More bytes has no process written.
const LONGEST: u64 = 64 << 20;

/// Some ranks of a job, in a process of it.
struct Seen {
    pid: u32,
    file: PathBuf,
    table: Table,
    /// How often each rank was seen to run.
    runs: BTreeMap<u32, u32>,
    /// Bytes of memory of each rank that are its own.
    memory: BTreeMap<u32, u64>,
}

/// What people are told; or programs, as JSON: an array of objects.
///
/// # Errors
/// No rank of such a job is on this machine: a sentence for people.
pub fn ranks(job: u32, is_json: bool) -> Result<String, String> {
    let parts = listing::parts_of(job);
    if parts.is_empty() {
        return Err(format!("no job of yours with the process id {job} has processes on this machine"));
    }
    let mut all: Vec<Seen> = parts.iter().filter_map(Seen::of).collect();
    if all.is_empty() {
        return Err(format!("the job {job} has no MPI ranks on this machine"));
    }
    for _ in 0..LOOKS {
        all.iter_mut().for_each(Seen::look_who_runs);
        sleep(PAUSE);
    }
    all.iter_mut().for_each(Seen::take_memory);
    Ok(if is_json { as_json(&all) } else { as_table(&all) + &elsewhere(&parts, all.len()) })
}

/// Processes that are not here have ranks that are not told of.
fn elsewhere(parts: &[Part], here: usize) -> String {
    match parts.first().map_or(0, |part| part.nodes as usize) {
        nodes if nodes > here => {
            format!("{here} of the {nodes} nodes that the job began with are on this machine\n")
        }
        _ => String::new(),
    }
}

impl Seen {
    /// Of a process that has any.
    fn of(part: &Part) -> Option<Seen> {
        let folder = PathBuf::from(format!("/proc/{}/fd", part.pid));
        let is_it = |file: &PathBuf| {
            fs::read_link(file).is_ok_and(|name| name.to_str().is_some_and(|name| name.contains(NAME)))
        };
        let file = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(is_it)?;
        let table = activity::table(&read(&file, LONGEST)?, &read(&file, LONGEST)?)?;
        Some(Seen { pid: part.pid, file, table, runs: BTreeMap::new(), memory: BTreeMap::new() })
    }

    fn look_who_runs(&mut self) {
        let head = read(&self.file, (HEAD * size_of::<u64>()) as u64);
        if let Some(rank) = head.and_then(|head| activity::running(&head)) {
            *self.runs.entry(rank).or_default() += 1;
        }
    }

    fn take_memory(&mut self) {
        let maps = fs::read_to_string(format!("/proc/{}/smaps", self.pid));
        self.memory = memory_in(&maps.unwrap_or_default(), self.table.memory);
    }

    /// What part of the time a rank was seen to run, in hundredths.
    fn load(&self, rank: u32) -> u32 {
        self.runs.get(&rank).map_or(0, |runs| runs * 100 / LOOKS)
    }
}

fn read(file: &PathBuf, longest: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(longest).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Bytes that each object has of its own, by the system's account of the process (proc(5), `smaps`).
fn memory_in(maps: &str, (first, each): (u64, u64)) -> BTreeMap<u32, u64> {
    let (mut memory, mut object) = (BTreeMap::new(), None);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let Some(word) = words.next() else { continue };
        if let Some((start, _)) = word.split_once('-') {
            let offset = u64::from_str_radix(start, 16).ok().and_then(|start| start.checked_sub(first));
            object = offset.and_then(|offset| u32::try_from(offset.checked_div(each)?).ok());
        } else if word == "Anonymous:"
            && let (Some(object), Some(kilobytes)) = (object, words.next())
        {
            *memory.entry(object).or_default() += kilobytes.parse::<u64>().unwrap_or(0).saturating_mul(1024);
        }
    }
    memory
}

/// By their numbers.
fn rows(all: &[Seen]) -> Vec<(&Seen, &Row)> {
    let mut rows: Vec<(&Seen, &Row)> =
        all.iter().flat_map(|seen| seen.table.rows.iter().map(move |row| (seen, row))).collect();
    rows.sort_by_key(|(_, row)| row.object);
    rows
}

fn as_table(all: &[Seen]) -> String {
    let mut text = format!(
        "{:>5}  {:>4}  {:>8}  {:<6}  {:>10}  {:>9}  {:>9}  {:>5}  {:<20}  WAITS FOR\n",
        "RANK", "NODE", "PROCESS", "STATE", "MEMORY", "SENT", "RECEIVED", "LOAD", "CALL"
    );
    for (seen, row) in rows(all) {
        let memory = seen.memory.get(&row.object).copied().unwrap_or(0);
        let line = format!(
            "{:>5}  {:>4}  {:>8}  {:<6}  {:>10}  {:>9}  {:>9}  {:>3} %  {:<20}  {}",
            row.object,
            seen.table.node,
            seen.pid,
            state(row.state),
            in_words(memory),
            row.sent,
            row.received,
            seen.load(row.object),
            if row.call.is_empty() { "-" } else { &row.call },
            awaited(row)
        );
        writeln!(text, "{}", line.trim_end()).expect("a text takes all");
    }
    text
}

fn in_words(bytes: u64) -> String {
    if bytes < 10 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}

fn state(state: State) -> &'static str {
    match state {
        State::Runs => "runs",
        State::Ready => "ready",
        State::Waits => "waits",
        State::Ended => "ended",
    }
}

fn awaited(row: &Row) -> String {
    let peer = row.peer.map_or("anybody".to_owned(), |peer| peer.to_string());
    let tag = row.tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
    let first = match row.awaited {
        Awaited::Nothing => return String::new(),
        Awaited::Message => format!("{tag} from {peer}"),
        Awaited::Receiver => format!("{peer} to receive {tag}"),
        Awaited::Bytes => format!("the bytes of a message from {peer}"),
        Awaited::Members if row.peer.is_some() => format!("{peer} to come"),
        Awaited::Members => "the others".to_owned(),
    };
    match row.others {
        0 => first,
        others => format!("{first}, and {others} more"),
    }
}

fn as_json(all: &[Seen]) -> String {
    let objects: Vec<String> = rows(all).into_iter().map(|(seen, row)| object(seen, row)).collect();
    format!("[{}]\n", objects.join(",\n "))
}

/// A call is letters, and what stands for others: nothing that JSON writes otherwise.
fn object(seen: &Seen, row: &Row) -> String {
    let or_null = |value: Option<String>| value.unwrap_or("null".to_owned());
    let waits_for = match row.awaited {
        Awaited::Nothing => None,
        Awaited::Message => Some("message"),
        Awaited::Receiver => Some("receiver"),
        Awaited::Bytes => Some("bytes"),
        Awaited::Members => Some("members"),
    };
    let call = Some(&row.call).filter(|call| !call.is_empty());
    let call = call.map(|call| format!("\"{}\"", call.replace(['"', '\\'], "?")));
    format!(
        "{{\"rank\": {}, \"node\": {}, \"process\": {}, \"state\": \"{}\", \"call\": {}, \"waits_for\": {}, \"peer\": {}, \
         \"tag\": {}, \"others\": {}, \"memory\": {}, \"sent\": {}, \"received\": {}, \"load\": {:.2}}}",
        row.object,
        seen.table.node,
        seen.pid,
        state(row.state),
        or_null(call),
        or_null(waits_for.map(|kind| format!("\"{kind}\""))),
        or_null(row.peer.map(|peer| peer.to_string())),
        or_null(row.tag.map(|tag| tag.to_string())),
        row.others,
        seen.memory.get(&row.object).copied().unwrap_or(0),
        row.sent,
        row.received,
        f64::from(seen.load(row.object)) / 100.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(object: u32, state: State) -> Row {
        let (awaited, call) = (Awaited::Message, "MPI_Recv".to_owned());
        Row { object, state, call, awaited, peer: None, tag: Some(-7), others: 2, sent: 5, received: 6 }
    }

    fn seen(rows: Vec<Row>) -> Seen {
        let table = Table { node: 1, memory: (0x2000_0000_0000, 1 << 30), rows };
        Seen { pid: 9, file: PathBuf::new(), table, runs: [(3, LOOKS / 2)].into(), memory: BTreeMap::new() }
    }

    #[test]
    fn memory_is_of_the_object_whose_addresses_it_has() {
        let maps = "\
1fffc0000000-1fffc0001000 rw-p 00000000 00:00 0\nAnonymous:            64 kB\n\
200000001000-200000002000 rw-p 00000000 00:00 0 \nRss:    900 kB\nAnonymous:             4 kB\n\
200040000000-200040001000 rw-p 00000000 00:00 0 \nAnonymous:            16 kB\n\
20007fff0000-200080000000 rw-p 00000000 00:00 0 /a b-c\nAnonymous:            8 kB\nx\n\nAnonymous:\n";
        assert_eq!(memory_in(maps, (0x2000_0000_0000, 1 << 30)), [(0, 4096), (1, 24 << 10)].into());
        assert_eq!(memory_in(maps, (0, 0)), BTreeMap::new());
    }

    #[test]
    fn ranks_are_told_in_their_order() {
        let all = [seen(vec![row(3, State::Waits)]), seen(vec![row(2, State::Ended)])];
        let table = as_table(&all);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].starts_with("    2") && lines[1].contains("ended"), "{table}");
        assert!(lines[2].contains(" 50 %  MPI_Recv "), "{table}");
        assert!(lines[2].ends_with("tag -7 from anybody, and 2 more"), "{table}");
        let json = as_json(&all);
        assert!(json.contains("\"rank\": 3, \"node\": 1, \"process\": 9, \"state\": \"waits\""), "{json}");
        assert!(
            json.contains("\"peer\": null, \"tag\": -7, \"others\": 2") && json.contains("\"load\": 0.50}")
        );
        assert_eq!([in_words(69_632), in_words(11 << 20)], ["68 KiB", "11 MiB"]);
    }
}
