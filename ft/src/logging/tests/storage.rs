//! Logs and frames that are kept, and what is forgotten of them.

use proptest::prelude::*;

use super::super::rows::Rows;
use super::super::{Entries, InputLog, Lengths, Output, Retained};
use super::{entry, log};

proptest! {
    /// Frames of up to a third of a segment, forgotten now and then, against a list that has all of them.
    #[test]
    fn frames_are_there_until_they_are_forgotten(
        steps in proptest::collection::vec((0_usize..90_000, 0_u64..40), 1..60),
    ) {
        let (mut kept, mut all) = (Retained::starting_at(5), Vec::new());
        let mut first = 5;
        for (bytes, forgotten) in steps {
            prop_assert_eq!(kept.push(bytes, bytes), 5 + all.len() as u64);
            all.push(bytes);
            if forgotten % 4 == 0 {
                kept.forget(forgotten);
                first = first.max(forgotten.min(5 + all.len() as u64));
            }
            prop_assert_eq!(kept.range(), first..5 + all.len() as u64);
            let naive = (5..).zip(&all).filter(|(number, _)| *number >= first);
            prop_assert!(kept.from(0).eq(naive));
            prop_assert_eq!(kept.get(first.saturating_sub(1)), None);
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    Insert(u64, u64),
    Forget(u64),
    Truncate(u64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0_u64..200, 1_u64..40).prop_map(|(first, count)| Change::Insert(first, count)),
        1 => (0_u64..200).prop_map(Change::Forget),
        1 => (0_u64..240).prop_map(Change::Truncate),
    ]
}

proptest! {
    /// What came on several ways, against a map of single entries.
    #[test]
    fn rows_have_each_entry_once(changes in proptest::collection::vec(change(), 1..40), from in 0_u64..240) {
        let (mut rows, mut all) = (Rows::default(), std::collections::BTreeMap::new());
        for change in changes {
            match change {
                Change::Insert(first, count) => {
                    let entries: Entries = (first..first + count).map(entry).collect();
                    rows.insert(first, entries);
                    all.extend((first..first + count).map(|number| (number, entry(number))));
                }
                Change::Forget(before) => {
                    rows.forget(before);
                    all = all.split_off(&before);
                }
                Change::Truncate(end) => {
                    rows.truncate(end);
                    all.split_off(&end);
                }
            }
            prop_assert_eq!(rows.end(), all.last_key_value().map(|(last, _)| last + 1));
            let found: Vec<_> = rows.from(from);
            let gaps = found.windows(2).all(|pair| pair[0].0 + (pair[0].1.len() as u64) < pair[1].0);
            prop_assert!(gaps, "what follows is in one row");
            let found = found.iter().flat_map(|(first, entries)| (*first..).zip(entries.iter()));
            prop_assert!(found.eq(all.range(from..).map(|(number, entry)| (*number, entry.clone()))));
        }
    }
}

#[test]
fn memory_goes_with_whole_segments() {
    let mut kept = Retained::starting_at(0);
    (0..30).for_each(|frame| {
        kept.push(frame, 100_000);
    });
    let before = kept.bytes();
    let image = kept.clone();
    kept.forget(15);
    assert!(kept.bytes() <= before * 6 / 10, "{} of {before} bytes", kept.bytes());
    assert_eq!(image.get(3), Some(&3), "an image keeps what it has");

    let mut log = InputLog::starting_at(0);
    (0..10_000).for_each(|at| {
        log.append(&entry(at));
    });
    let before = log.bytes();
    log.forget(5_000);
    assert!(log.bytes() <= before * 6 / 10 && log.from(0).1.len() == 5_000);
}

fn lines_leave_when_all_that_they_depend_on_is_stable() {
    let mut output = Output::default();
    output.say("first", Lengths::from_iter([(log(1), 4)]));
    output.say("second", Lengths::default());
    let mut stable = Lengths::default();
    assert_eq!(output.release(&stable), []);
    assert_eq!(output.waits_for(&stable), Lengths::from_iter([(log(1), 4)]));
    stable.raise(log(1), 4);
    assert_eq!(output.release(&stable), [(0, "first"), (1, "second")]);
    assert_eq!(output.release(&stable), []);
    // What has left may be lost on its way, with the node.
    output.send_again();
    output.on_printed(1);
    assert_eq!(output.release(&stable), [(1, "second")]);
    assert_eq!((output.kept(), output.said()), (1, 2));
}

#[test]
fn lines_leave_in_order_and_stay_until_they_are_printed() {
    lines_leave_when_all_that_they_depend_on_is_stable();
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_about_output_are_noticed() {
    for mistake in ["line-before-stable", "line-forgotten-when-sent"] {
        assert!(super::notices(mistake, lines_leave_when_all_that_they_depend_on_is_stable), "{mistake}");
    }
}
