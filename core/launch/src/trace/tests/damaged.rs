//! What is no trace, or no part of one, or was damaged.

use super::super::merge::MergeError;
use super::super::reader::ReadError;
use super::*;

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
