//! Records of a made-up job, from parts to what is said of it.

mod damaged;
mod paths;
mod windows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::Trace;
use super::html::page;
use super::merge::{Extras, Merged, merge};
use super::path::Part;
use super::picture::picture;
use super::reader::{TraceReader, What};
use super::summary::Summary;
use super::terminal::text;
use super::tracks::Track;
use talisman_job::Failure;
use talisman_job::options::{TraceWindow, Traced};
use talisman_node::trace::part_file::{Block, ChareNames, Moment, Origin, Strip, begin};
use talisman_observe::trace::words::whole;
use talisman_observe::trace::{Kind, Record, seconds};

/// A folder of this test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("talisman-trace-{}-{test}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program began at this moment by the clock of every host.
const START: u64 = 1_000_000;

fn origin(node: u32, host: u32) -> Origin {
    let entries = vec!["step".into(), "ghost".into()];
    Origin {
        program: "heat<1>".into(),
        node,
        nodes_here: 1,
        nodes: 3,
        pes_per_node: 1,
        life: 0,
        host,
        start_ns: START,
        calendar_ns: START + 77,
        moment: Moment { ticks: 0, ns: START },
        chares: vec![ChareNames { name: "Block".into(), entries, moves: true }],
    }
}

/// At two ticks a nanosecond.
fn at(ns: u64, kind: Kind) -> Record {
    Record::at(2 * ns, kind)
}

fn strip(pe: u32, epoch: u32, until: u64, records: Vec<Record>) -> Strip {
    Strip { pe, epoch, dropped: 0, moment: Moment { ticks: 2 * until, ns: START + until }, records }
}

fn entry(from: u64, until: u64, small: u16, index: u128) -> [Record; 2] {
    [Record { small, ..at(from, Kind::Begins) }.of_index(index), at(until, Kind::Ends)]
}

fn write(folder: &Path, origin: &Origin, strips: &[Strip]) {
    let (mut part, mut block) = (Vec::new(), Block::default());
    begin(&mut part, origin).unwrap();
    for strip in strips {
        let words = block.begin(strip.pe, strip.epoch, strip.dropped);
        words.extend(whole(&strip.records).iter().flat_map(|word| word.to_le_bytes()));
        part.extend(block.end(strip.moment));
    }
    fs::write(folder.join(format!("node-{}.{}.part", origin.node, strips.len())), part).unwrap();
}

/// PE 0 calls an entry of PE 1 by its second message, balances and takes a checkpoint; PE 1 goes back once.
fn job(folder: &Path) {
    let sent = |ns, number| Record { wide: 1, low: number, high: 100, ..at(ns, Kind::Sent) };
    let mut of_0 = vec![sent(50, 1)];
    let [begins, ends] = entry(1_000, 5_000, 0, 7);
    of_0.extend([begins, sent(2_000, 2), ends]);
    of_0.push(Record { low: 3_000, high: 1_000, ..at(8_000, Kind::Idle) });
    of_0.extend([
        Record { low: 4, ..at(8_100, Kind::StepBegins) },
        Record { low: 4, wide: 3, high: seconds(2.0, 1.0), ..at(8_200, Kind::StepEnds) },
        Record { low: seconds(1.25, 0.5), ..at(8_200, Kind::StepGain) },
        Record { low: 9, ..at(8_300, Kind::CheckpointBegins) },
        at(8_300, Kind::Frozen),
        Record { low: 9, wide: 5, high: 4096, ..at(8_500, Kind::CheckpointTaken) },
        at(8_600, Kind::Thawed),
        Record { low: 9, ..at(8_900, Kind::CheckpointCommitted) },
        Record { wide: 1, ..at(9_000, Kind::Moves) }.of_index(7),
    ]);
    write(folder, &origin(0, 0), &[strip(0, 0, 10_000, of_0)]);
    let caused = Record { wide: 0, low: 2, ..at(4_000, Kind::Caused) };
    let [begins, ends] = entry(4_000, 12_000, 1, 8);
    let [open, _] = entry(13_000, 0, 1, 8);
    let first = strip(1, 0, 15_000, vec![caused, begins, ends, open]);
    let second = strip(1, 1, 20_000, vec![Record { low: 9, ..at(18_000, Kind::GoesBack) }]);
    write(folder, &origin(1, 0), &[first, Strip { dropped: 6, ..second }]);
}

fn show(_: u32, index: u128) -> String {
    format!("#{index}")
}

fn merged(folder: &Folder, extras: &Extras<'_>) -> (PathBuf, Merged) {
    let file = folder.0.join("job.pftrace");
    let merged = merge(&folder.0, &file, &show, extras).unwrap();
    (file, merged)
}

/// Each event: track, what, name, when.
fn events(file: &Path) -> Vec<(Track, What, String, u64)> {
    let mut all = Vec::new();
    let see = |event: &super::reader::Event<'_>, names: &super::reader::Names| {
        let name = event.name.map_or("", |name| names.get(name));
        all.push((event.track, event.what, name.to_owned(), event.at));
    };
    TraceReader::open(file).unwrap().read(see).unwrap();
    all
}

#[test]
fn records_become_events_one_by_one() {
    let folder = Folder::new("events");
    job(&folder.0);
    let (file, merged) = merged(&folder, &Extras::default());
    assert_eq!(merged, Merged { nodes: [0, 1].into(), cut: 0, dropped: 6, kept: 19, error_ns: Some(0) });
    let told = events(&file);
    let event = |track, what, name: &str, at| (track, what, name.to_owned(), at);
    let of = |track| told.iter().filter(move |event| event.0 == track).cloned().collect::<Vec<_>>();
    let (pe, begins, ends, happens) = (Track::Pe(0), What::Begins, What::Ends, What::Happens);
    assert_eq!(
        of(pe),
        [
            event(pe, happens, "send", 50),
            event(pe, begins, "Block.step", 1_000),
            event(pe, happens, "send", 2_000),
            event(pe, ends, "", 5_000),
            event(pe, begins, "idle", 5_000),
            event(pe, ends, "", 8_000),
            event(pe, happens, "moves", 9_000),
        ]
    );
    let (steps, checkpoints, frozen) = (Track::Steps, Track::Checkpoints, Track::Frozen(0));
    assert_eq!(
        of(steps).iter().map(|event| (event.1, event.3)).collect::<Vec<_>>(),
        [(begins, 8_100), (ends, 8_200), (happens, 8_200), (happens, 8_200)]
    );
    assert_eq!(
        of(checkpoints).iter().map(|event| (event.1, event.3)).collect::<Vec<_>>(),
        [(begins, 8_300), (happens, 8_500), (ends, 8_900)]
    );
    assert_eq!(
        of(frozen).iter().map(|event| (event.1, event.3)).collect::<Vec<_>>(),
        [(begins, 8_300), (ends, 8_600)]
    );
    let pe = Track::Pe(1);
    assert_eq!(
        of(pe),
        [
            event(pe, begins, "Block.ghost", 4_000),
            event(pe, ends, "", 12_000),
            event(pe, begins, "Block.ghost", 13_000),
            // The entry that was running when the PE was lost ends with what is known of it.
            event(pe, ends, "", 13_000),
            event(pe, happens, "goes back", 18_000),
            event(pe, happens, "records dropped", 18_000),
        ]
    );
}

#[test]
fn processes_of_a_node_are_one_after_the_other_as_they_began() {
    let folder = Folder::new("again");
    let first = strip(0, 2, 5_000, entry(1_000, 2_000, 0, 7).to_vec());
    let [open, _] = entry(4_000, 0, 0, 7);
    write(&folder.0, &origin(0, 0), &[first, strip(0, 2, 6_000, vec![open])]);
    let [begins, ends] = entry(8_000, 9_000, 0, 7);
    let again = [Record { low: 2, ..at(7_000, Kind::Replays) }, begins, ends, at(9_000, Kind::ReplayEnds)];
    let began = Moment { ticks: 2 * 6_500, ns: START + 6_500 };
    let later = Origin { life: 1, moment: began, ..origin(0, 0) };
    // It is called as if it came first.
    write(&folder.0, &later, &[strip(0, 2, 10_000, again.to_vec())]);
    let (file, _) = merged(&folder, &Extras::default());
    let told = events(&file);
    let of = |track| told.iter().filter(move |event| event.0 == track).map(|event| (event.1, event.3));
    use What::{Begins, Ends};
    let calls =
        [(Begins, 1_000), (Ends, 2_000), (Begins, 4_000), (Ends, 4_000), (Begins, 8_000), (Ends, 9_000)];
    assert_eq!(of(Track::Pe(0)).collect::<Vec<_>>(), calls);
    assert_eq!(of(Track::Replay(0)).collect::<Vec<_>>(), [(Begins, 7_000), (Ends, 9_000)]);
}

#[test]
fn an_arrow_goes_from_a_message_to_what_it_called() {
    let folder = Folder::new("arrows");
    job(&folder.0);
    let (file, _) = merged(&folder, &Extras::default());
    let (mut out, mut into) = (BTreeMap::new(), BTreeMap::new());
    let see = |event: &super::reader::Event<'_>, _: &super::reader::Names| {
        event.arrows_out().iter().for_each(|arrow| assert!(out.insert(*arrow, event.at).is_none()));
        event.arrows_in().iter().for_each(|arrow| assert!(into.insert(*arrow, event.at).is_none()));
    };
    TraceReader::open(&file).unwrap().read(see).unwrap();
    assert_eq!((out.len(), into.len()), (2, 1));
    let (arrow, called) = into.first_key_value().unwrap();
    assert_eq!((out[arrow], *called), (2_000, 4_000));
}

#[test]
fn a_summary_says_what_was_in_the_trace() {
    let folder = Folder::new("summary");
    job(&folder.0);
    let failure = Failure {
        node: Some(1),
        what: "killed".into(),
        at_s: 16e-6,
        halt_s: Some(1e-6),
        recover_s: Some(1e-6),
        ..Failure::default()
    };
    let (file, _) = merged(&folder, &Extras { failures: &[failure], traced: Traced::default() });
    let summary = Summary::of(&file).unwrap();
    let pe = |pe| &summary.pes[&pe];
    assert_eq!((pe(0).busy_ns, pe(0).idle_ns, pe(0).asleep_ns), (4_000, 3_000, 1_000));
    assert_eq!((pe(0).entries, pe(0).sent, pe(0).frozen_ns, pe(0).moves), (1, 2, 300, 1));
    assert_eq!((pe(1).busy_ns, pe(1).entries, summary.dropped), (8_000, 2, 6));
    assert_eq!(summary.pairs[&(0, 1)], (2, 200));
    assert_eq!(summary.grains.classes().last(), Some(&(4096, 8192, 1)));
    let said = text(&summary);
    for wanted in [
        "heat<1>: 3 nodes on 1 host, 1 PE each; 18.0 us, 3 calls, 2 messages",
        "6 records were dropped",
        "Block.ghost of [#8]",
        "2.00 to 1.25",
        "node 1 was lost at 16.0 us (killed); the others went on after 2.0 us",
        "1 PE had begun from a checkpoint at 18.0 us",
        "200 bytes went between nodes",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let whole = Part { what: "in all".into(), from: 0, until: summary.end };
    let drawn = picture(TraceReader::open(&file).unwrap(), &whole, &summary).unwrap();
    for wanted in
        ["PE 1</text>", "node 1 is lost", "checkpoints", "3 moves", "frozen", "heat&lt;1&gt;", "18.0 us"]
    {
        assert!(drawn.contains(wanted), "{wanted}: {drawn}");
    }
    assert!(drawn.len() < 10_000 && drawn.matches("class=\"busy\"").count() == 2, "{drawn}");
    let path = |from_us, until_us| {
        let [from, until] = [from_us, until_us].map(Duration::from_micros);
        let svg = Some(folder.0.join("path.svg"));
        Trace { file: file.clone(), html: None, svg, path: Some(TraceWindow { from, until }) }.run()
    };
    let behind = path(18, 20).map(drop).unwrap_err().to_string();
    assert_eq!(behind, "--path begins 18µs after the start, and nothing is in the trace from 18µs on");
    assert!(!folder.0.join("path.svg").exists() && path(17, 20).is_ok());
    let page = page(&summary);
    assert!(page.contains("heat&lt;1&gt;") && !page.contains("heat<1>"), "names are no markup");
    assert!(!page.contains("http:") && !page.contains("https:"), "the page needs nothing else");
    for wanted in ["Longest entries", "Checkpoints", "4096", "<svg", "prefers-color-scheme"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn calls_of_ranks_are_slices_of_their_own_tracks() {
    let folder = Folder::new("ranks");
    let call = |ns: u64, name: &str| Record::of_rank_call(2 * ns, 5, name);
    let ends = |ns| Record { wide: 5, ..at(ns, Kind::RankGoesOn) };
    let [first, first_end] = entry(1_000, 2_000, 0, 7);
    let [second, second_end] = entry(4_000, 6_000, 0, 7);
    let (recv, _) = call(1_500, "MPI_Recv");
    let (long, on) = call(5_000, "MPI_Neighbor_allgatherv");
    let on = on.unwrap();
    let of_0 = vec![first, recv, first_end, second, ends(4_500), long, on, ends(5_500), second_end];
    write(&folder.0, &origin(0, 0), &[strip(0, 0, 10_000, of_0)]);
    let (file, _) = merged(&folder, &Extras::default());
    let told = events(&file);
    let of_rank = told.iter().filter(|event| event.0 == Track::Rank(5)).cloned().collect::<Vec<_>>();
    let event = |what, name: &str, at| (Track::Rank(5), what, name.to_owned(), at);
    assert_eq!(
        of_rank,
        [
            event(What::Begins, "MPI_Recv", 1_500),
            event(What::Ends, "", 4_500),
            event(What::Begins, "MPI_Neighbor_allgatherv", 5_000),
            event(What::Ends, "", 5_500),
        ]
    );
    let summary = Summary::of(&file).unwrap();
    assert_eq!(summary.pes[&0].busy_ns, 3_000, "they are within the entries of the PE");
    let said = text(&summary);
    assert!(said.contains("Calls of ranks") && said.contains("MPI_Neighbor_allgatherv"), "{said}");
}

#[test]
fn clocks_of_hosts_are_aligned() {
    let folder = Folder::new("hosts");
    // The clock of host 1 is 1 ms ahead. A message takes 100 ns each way.
    const AHEAD: u64 = 1_000_000;
    let there = vec![
        Record { wide: 1, low: 1, ..at(1_000, Kind::Sent) },
        Record { wide: 1, low: 1, ..at(2_100, Kind::Caused) },
        entry(2_100, 2_200, 0, 0)[0],
        at(2_200, Kind::Ends),
    ];
    write(&folder.0, &origin(0, 0), &[strip(0, 0, 10_000, there)]);
    let back = vec![
        Record { wide: 0, low: 1, ..at(1_100, Kind::Caused) },
        entry(1_100, 1_200, 1, 0)[0],
        at(1_200, Kind::Ends),
        Record { wide: 0, low: 1, ..at(2_000, Kind::Sent) },
    ];
    let (first, mut strip) = (origin(1, 1), strip(1, 0, 10_000, back));
    strip.moment.ns += AHEAD;
    let moment = Moment { ticks: 0, ns: START + AHEAD };
    write(&folder.0, &Origin { start_ns: START + AHEAD, moment, ..first }, &[strip]);
    let (file, merged) = merged(&folder, &Extras::default());
    assert_eq!(merged.error_ns, Some(100));
    let begins = |event: &&(Track, What, String, u64)| event.0 == Track::Pe(1) && event.1 == What::Begins;
    assert_eq!(events(&file).iter().find(begins).unwrap().3, 1_100);
}
