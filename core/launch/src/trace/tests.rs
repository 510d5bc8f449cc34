//! Records of a made-up job, from parts to what is said of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::html::page;
use super::merge::{Extras, MergeError, Merged, merge};
use super::path::{Part, Path as CriticalPath, look_at};
use super::reader::{ReadError, TraceReader, What};
use super::summary::Summary;
use super::terminal::text;
use super::tracks::Track;
use talisman_job::Failure;
use talisman_job::options::{TraceEvery, TraceWindow, Traced};
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
    let page = page(&summary);
    assert!(page.contains("heat&lt;1&gt;") && !page.contains("heat<1>"), "names are no markup");
    assert!(!page.contains("http:") && !page.contains("https:"), "the page needs nothing else");
    for wanted in ["Longest entries", "Checkpoints", "4096", "<svg", "prefers-color-scheme"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

/// PE 0 has PE 1 called by way of PE 2; the object there is called again, and calls PE 0 back. A longer call has nothing to do
/// with it.
fn chain(folder: &Path) {
    let sent = |ns, to, number| Record { wide: to, low: number, ..at(ns, Kind::Sent) };
    let by = |kind, ns, from, number| Record { wide: from, low: number, ..at(ns, kind) };
    let done = |ns, step| Record { low: step, ..at(ns, Kind::Step) };
    let [a, end_of_a] = entry(1_000, 5_000, 0, 7);
    let mut of_0 = vec![done(500, 1), a, sent(2_000, 2, 1), end_of_a];
    of_0.extend(entry(6_000, 13_500, 0, 5));
    of_0.push(by(Kind::Caused, 14_000, 1, 1));
    of_0.extend(entry(14_000, 15_000, 1, 9));
    of_0.push(done(20_500, 2));
    write(folder, &origin(0, 0), &[strip(0, 0, 30_000, of_0)]);
    let of_2 = vec![by(Kind::Relayed, 3_000, 0, 1), sent(3_000, 1, 1)];
    write(folder, &origin(2, 0), &[strip(2, 0, 30_000, of_2)]);
    let [b, end_of_b] = entry(4_000, 12_000, 1, 8);
    let mut of_1 = vec![by(Kind::Caused, 4_000, 2, 1), b, sent(11_400, 0, 1), end_of_b];
    of_1.extend(entry(20_000, 21_000, 0, 8));
    write(folder, &origin(1, 0), &[strip(1, 0, 30_000, of_1)]);
}

/// The path of a part of what is in the folder, with names.
fn path_in(folder: &Folder, part: Option<Part>) -> (Part, CriticalPath, Summary) {
    let (file, _) = merged(folder, &Extras::default());
    let mut summary = Summary::of(&file).unwrap();
    let part = part.unwrap_or_else(|| Part::last_of(&summary));
    let looked = look_at(TraceReader::open(&file).unwrap(), &part, &summary.job).unwrap();
    let path = looked.path.clone().unwrap();
    summary.looked = Some((part.clone(), looked));
    (part, path, summary)
}

#[test]
fn the_critical_path_is_the_longest_chain_of_messages_and_of_calls_of_an_object() {
    let folder = Folder::new("path");
    chain(&folder.0);
    let (part, path, summary) = path_in(&folder, None);
    assert_eq!((part.what.as_str(), part.from, part.until), ("of step 2", 500, 20_500));
    // 1 us until the message left, 8 of the call that it made, and what is in the part of the next one.
    assert_eq!((path.ns, path.calls, path.messages), (9_500, 3, 1));
    let entries = path.entries.iter().map(|(name, ns, calls)| (summary.names.get(*name), *ns, *calls));
    assert_eq!(entries.collect::<Vec<_>>(), [("Block.ghost", 8_000, 1), ("Block.step", 1_500, 2)]);
    assert_eq!(path.pes, [(1, 8_500), (0, 1_000)]);
    let links: Vec<_> = path.links.iter().map(|link| (link.pe, link.index.as_str(), link.ns)).collect();
    assert_eq!(links, [(0, "#7", 1_000), (1, "#8", 8_000), (1, "#8", 500)]);
    let said = text(&summary);
    for wanted in ["of step 2, 500 ns to 20.5 us: 9.5 us in 3 calls with 1 message between them", "47.5 %"] {
        assert!(said.contains(wanted) && page(&summary).contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn a_critical_path_of_another_part_may_be_chosen() {
    let folder = Folder::new("part");
    chain(&folder.0);
    let whole = Part { what: "of --path".into(), from: 0, until: 30_000 };
    let (_, path, _) = path_in(&folder, Some(whole.clone()));
    assert_eq!((path.ns, path.calls, path.messages), (10_000, 3, 1));
    // The call of PE 1 had not ended when it sent what PE 0 was called by.
    let early = Part { until: 15_000, ..whole.clone() };
    let (_, path, _) = path_in(&folder, Some(early));
    assert_eq!((path.ns, path.calls, path.messages), (9_400, 3, 2));
    let nothing = Part { from: 28_000, ..whole };
    let (file, _) = merged(&folder, &Extras::default());
    let looked = look_at(TraceReader::open(&file).unwrap(), &nothing, &Default::default()).unwrap();
    assert_eq!((looked.path, looked.gain), (None, None));
}

#[test]
fn a_balancer_is_named_that_would_have_made_the_last_step_shorter() {
    let folder = Folder::new("balance");
    let done = |ns, step| Record { low: step, ..at(ns, Kind::Step) };
    let mut of_0 = vec![done(1_000, 1)];
    (0..4).for_each(|nth| of_0.extend(entry(1_000 + 1_000 * nth, 2_000 + 1_000 * nth, 0, nth.into())));
    of_0.push(done(5_000, 2));
    write(&folder.0, &origin(0, 0), &[strip(0, 0, 10_000, of_0)]);
    write(&folder.0, &origin(1, 0), &[strip(1, 0, 10_000, entry(1_000, 3_000, 0, 9).to_vec())]);
    let (_, _, summary) = path_in(&folder, None);
    let line = "PE 0 was busy for 100 % of the time, a PE on average for 50 %: --balancer greedy-refine would have \
                saved 50 % of step 2, by 2 moves";
    assert!(text(&summary).contains(line), "{}", text(&summary));
    assert!(page(&summary).contains(line));
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
fn what_is_outside_of_the_window_is_left_out() {
    let folder = Folder::new("window");
    job(&folder.0);
    let window = TraceWindow { from: Duration::from_nanos(4_500), until: Duration::from_nanos(13_000) };
    let traced = Traced { window: Some(window), every: None };
    let (file, _) = merged(&folder, &Extras { traced, failures: &[] });
    let told = events(&file);
    let of_pe = |pe| told.iter().filter(|event| event.0 == Track::Pe(pe)).count();
    assert_eq!((of_pe(0), of_pe(1)), (3, 1), "ends of what began before are not told: {told:?}");
}

#[test]
fn of_each_period_a_part_is_there_and_no_call_reaches_from_one_into_the_next() {
    let folder = Folder::new("every");
    let [open, _] = entry(1_500_000, 0, 0, 7);
    let mut of_0 = vec![open];
    // Between the parts.
    of_0.extend(entry(1_700_000, 1_800_000, 0, 7));
    of_0.extend(entry(2_100_000, 2_200_000, 0, 7));
    write(&folder.0, &origin(0, 0), &[strip(0, 0, 5_000_000, of_0)]);
    let every = TraceEvery { part: Duration::from_micros(1_600), period: Duration::from_millis(2) };
    let traced = Traced { window: None, every: Some(every) };
    let (file, _) = merged(&folder, &Extras { traced, failures: &[] });
    let told = events(&file);
    let of_pe = told.iter().filter(|event| event.0 == Track::Pe(0)).map(|event| (event.1, event.3));
    let (begins, ends) = (What::Begins, What::Ends);
    assert_eq!(
        of_pe.collect::<Vec<_>>(),
        [(begins, 1_500_000), (ends, 1_500_000), (begins, 2_100_000), (ends, 2_200_000)]
    );
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

#[test]
fn parts_of_another_program_and_none_at_all_are_refused() {
    let folder = Folder::new("refused");
    let file = folder.0.join("job.pftrace");
    let none = merge(&folder.0, &file, &show, &Extras::default());
    assert!(matches!(none, Err(MergeError::NoParts(_))), "{none:?}");
    job(&folder.0);
    write(&folder.0, &Origin { chares: Vec::new(), ..origin(2, 0) }, &[]);
    let mixed = merge(&folder.0, &file, &show, &Extras::default());
    assert!(matches!(mixed, Err(MergeError::Mixed(..))), "{mixed:?}");
    assert!(!file.exists(), "it appears whole or not at all");
}

#[test]
fn a_trace_that_is_cut_off_or_changed_is_refused_or_read_and_never_worse() {
    let folder = Folder::new("damaged");
    job(&folder.0);
    let (file, _) = merged(&folder, &Extras::default());
    let whole = fs::read(&file).unwrap();
    let read = |bytes: &[u8]| Summary::read(TraceReader::of(Path::new("x"), bytes), Path::new("x"));
    let events = read(&whole).unwrap_or_else(|error| panic!("{error}")).events;
    let mut refused = 0;
    for length in 0..whole.len() {
        match read(&whole[..length]) {
            Ok(summary) => assert!(summary.events < events, "at the end of a packet: {length}"),
            Err(ReadError::Refused { .. }) => panic!("{length}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > whole.len() / 2, "{refused} of {}", whole.len());
    for at in 0..whole.len() {
        for bit in [0x01, 0x08, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= bit;
            if let Ok(summary) = read(&changed) {
                // Whatever it says, it can be said.
                assert!(!text(&summary).is_empty() && !page(&summary).is_empty());
            }
        }
    }
}

#[test]
fn a_trace_of_somebody_else_is_told_apart() {
    let empty = Summary::read(TraceReader::of(Path::new("x"), &b""[..]), Path::new("x"));
    assert!(matches!(empty, Err(ReadError::OfAnother(_))));
    let text = Summary::read(TraceReader::of(Path::new("x"), &b"{\"traceEvents\":[]}"[..]), Path::new("x"));
    assert!(matches!(text, Err(ReadError::NoTrace { at: 0, .. })));
}
