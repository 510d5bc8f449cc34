//! The critical path of a part, and what a balancer would have saved of it.

use super::super::path::{Path as CriticalPath, look_at};
use super::*;

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
