//! What is written is read, whatever becomes of the file.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use super::file::{RecordError, RecordFile, find, records_in, write_block};
use super::item::{Begins, Item, Origin, Sent};
use super::steps::{Step, Steps};
use super::writer::RecordWriter;
use crate::logging::given::Given;
use talisman_pup::{Packed, Segment};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("talisman-record-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn origin(pe: u32, life: u64) -> Origin {
    Origin {
        program: "p".into(),
        words: vec![b"--x".to_vec()],
        nodes: 3,
        pes_per_node: 2,
        pe,
        life,
        ..Origin::default()
    }
}

/// Two turns of a PE, in three blocks and the one with its beginning.
fn written(folder: &Path) -> PathBuf {
    let writer = RecordWriter::create(folder, &origin(1, 0)).expect("the folder can be written");
    writer.begins(5, 0, Begins::Program);
    let recorder = writer.recorder(None);
    let slices = [Segment::of_vec(vec![7_u64; 5000]), Segment::of_vec(vec![1_u8; 3])];
    recorder.time(5);
    recorder.takes(2, b"head", &slices);
    recorder.runs();
    recorder.value(vec![1, 2]);
    recorder.shared(3, &Packed::of(&4_u32));
    recorder.turn_is_over();
    recorder.time(6);
    recorder.timers();
    recorder.time(6);
    recorder.rests();
    recorder.turn_is_over();
    writer.end();
    assert_eq!(writer.failure(), None);
    find(folder, 1).expect("just written")
}

fn items_of(file: &Path) -> Result<(Vec<Item>, bool), (Vec<Item>, RecordError)> {
    let mut items = Vec::new();
    let mut file = RecordFile::open(file).map_err(|error| (Vec::new(), error))?;
    loop {
        match file.next_items() {
            Ok(Some(more)) => items.extend(more),
            Ok(None) => {
                assert!(matches!(file.next_items(), Ok(None)), "its end stays its end");
                return Ok((items, file.is_torn()));
            }
            Err(error) => return Err((items, error)),
        }
    }
}

fn expected() -> Vec<Item> {
    let slices = vec![Segment::of_vec(vec![7_u64; 5000]), Segment::of_vec(vec![1_u8; 3])];
    let frame = Packed::new(b"head".to_vec().into(), slices, Vec::new());
    vec![
        Item::Begins { made_at: 5, line: 0, with: Begins::Program },
        Item::Taken { from: 2, frame },
        Item::Ran,
        Item::Value(vec![1, 2]),
        Item::Shared { id: 3, value: Packed::of(&4_u32) },
        Item::Given(Given::Time(6)),
        Item::Timers,
        Item::Rested,
        Item::Ends,
    ]
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let folder = Folder::new("read");
    let file = written(&folder.0);
    let record = RecordFile::open(&file).expect("it is one");
    assert_eq!(record.origin, origin(1, 0));
    assert!(!record.is_of_this_build(), "its origin says nothing of a build");
    let (items, is_torn) = items_of(&file).expect("nothing is wrong with it");
    assert_eq!((items, is_torn), (expected(), false));
    let slices = match &expected()[1] {
        Item::Taken { frame, .. } => frame.segments()[0].align(),
        _ => unreachable!(),
    };
    assert_eq!(slices, align_of::<u64>(), "slices are aligned as they were");
    let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "nobody else can read it");
    assert!(RecordWriter::create(&folder.0, &origin(1, 0)).is_err(), "what is there is not written over");
}

#[test]
fn of_a_file_that_ends_anywhere_whole_blocks_are_read() {
    let folder = Folder::new("torn");
    let file = written(&folder.0);
    let (whole, all) = (std::fs::read(&file).expect("just written"), expected());
    let mut lengths = std::collections::BTreeSet::new();
    // Of the frame, which is most of it, not every byte.
    for length in (0..200).chain((200..whole.len()).step_by(997)).chain(whole.len() - 80..=whole.len()) {
        std::fs::write(&file, &whole[..length]).expect("it is ours");
        match items_of(&file) {
            Ok((items, is_torn)) => {
                assert!(all.starts_with(&items), "{length}");
                assert!(is_torn || [0, 1, 3, 5, 8, 9].contains(&items.len()), "{length}: {items:?}");
                lengths.insert(items.len());
            }
            Err((items, error)) => {
                assert!(items.is_empty() && matches!(error, RecordError::Other { .. }), "{length}: {error}");
            }
        }
    }
    assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [0, 1, 3, 5, 8, 9], "a block for each write");
}

#[test]
fn a_bit_that_is_another_is_told() {
    let folder = Folder::new("bits");
    let file = written(&folder.0);
    let (whole, all) = (std::fs::read(&file).expect("just written"), expected());
    for at in (0..300).chain((300..whole.len()).step_by(1499)).chain(whole.len() - 60..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&file, bytes).expect("it is ours");
        let (items, error) = items_of(&file).expect_err("a bit is another");
        assert!(all.starts_with(&items), "{error}");
        assert!(error.to_string().contains("pe-1.0.record"), "{error}");
    }
}

#[test]
fn a_step_is_an_input_and_what_came_of_it() {
    let folder = Folder::new("steps");
    let writer = RecordWriter::create(&folder.0, &origin(0, 0)).expect("the folder can be written");
    let sent = Sent::of(2, b"abc", &[]);
    writer.begins(0, 0, Begins::Nothing);
    let recorder = writer.recorder(None);
    recorder.runs();
    recorder.value(vec![1]);
    recorder.value(vec![2]);
    recorder.turn_is_over();
    recorder.runs();
    recorder.turn_is_over();
    let file = RecordFile::open(&find(&folder.0, 0).expect("just written")).expect("it is one");
    let mut steps = Steps::of(file);
    let mut next = || steps.next_step().expect("it is whole");
    let short = |step: Option<Step>| step.map(|step| (step.values.len(), step.sent.len(), step.is_last));
    assert_eq!(short(next()), Some((0, 0, false)));
    assert_eq!(short(next()), Some((2, 0, false)), "over the end of a block");
    assert_eq!(short(next()), Some((0, 0, true)));
    assert_eq!(short(next()), None);
    assert!(steps.cut_off().is_some_and(|why| why.contains("nothing more")), "it did not come to its end");
    assert_ne!(sent, Sent::of(2, b"abd", &[]));
    assert_ne!(sent, Sent::of(1, b"abc", &[]));
}

/// Whatever a file says, of its process or of what that was given, is looked at.
#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new("cannot");
    for (pe, nodes, pes_per_node) in [(6, 3, 2), (0, 0, 2), (0, 1 << 20, 2), (0, 3, 0), (0, 3, 1 << 20)] {
        let origin = Origin { pe, nodes, pes_per_node, ..origin(pe, 0) };
        RecordWriter::create(&folder.0, &origin).expect("the folder can be written").end();
        let error =
            RecordFile::open(&find(&folder.0, pe).expect("just written")).err().expect("there is no such PE");
        assert!(error.to_string().contains(&format!("it is of PE {pe} of {nodes}")), "{error}");
        std::fs::remove_dir_all(&folder.0).expect("it is ours");
    }
    let file = written(&folder.0);
    let mut bytes = std::fs::read(&file).expect("just written");
    write_block(&mut bytes, &[0xff; 40]).expect("memory can be written");
    std::fs::write(&file, bytes).expect("it is ours");
    let (items, error) = items_of(&file).expect_err("its sum is right, and it has no items");
    assert_eq!(items, expected());
    assert!(matches!(error, RecordError::Damaged { .. }), "{error}");
}

#[test]
fn of_several_processes_of_a_pe_the_last_one_is_found() {
    let folder = Folder::new("lives");
    for (pe, life) in [(0, 0), (10, 0), (2, 0), (2, 12), (2, 9)] {
        RecordWriter::create(&folder.0, &origin(pe, life)).expect("the folder can be written").end();
    }
    std::fs::write(folder.0.join("pe-x.record"), "").expect("it is ours");
    assert_eq!(records_in(&folder.0).expect("it is there"), [(0, 0), (2, 0), (2, 9), (2, 12), (10, 0)]);
    assert!(find(&folder.0, 2).expect("it is there").ends_with("pe-2.12.record"));
    let missing = find(&folder.0, 3).expect_err("there is none").to_string();
    assert!(missing.contains("3 of them, of PEs 0 to 10"), "{missing}");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new("pipe");
    std::fs::create_dir_all(&folder.0).expect("the folder can be made");
    let pipe = folder.0.join(super::file::name_of(0, 0));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .expect("it can be made");
    let refused = RecordFile::open(&pipe).err().expect("it is not read").to_string();
    assert!(refused.contains("no ordinary file"), "{refused}");
}

/// Only root can give files away.
#[test]
fn records_of_other_users_are_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = Folder::new("of-another");
    let file = written(&folder.0);
    chown(&file, Some(65534), None).expect("root may");
    let refused = RecordFile::open(&file).err().expect("it is not read").to_string();
    assert!(refused.contains("belongs to the user 65534"), "{refused}");
}
