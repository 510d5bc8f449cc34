//! Files that say that they are records: for fuzz targets. Nothing that programs use.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

use super::file::{RecordFile, begin, write_block};
use super::item::{Begins, Item, Origin, Sent};
use super::steps::Steps;
use crate::logging::given::Given;
use talisman_pup::{Packed, to_bytes};

/// Reads bytes as a record, and as a block of one.
pub fn read_record(data: &[u8]) {
    let mut with_block = Vec::new();
    begin(&mut with_block, &origin()).expect("memory takes it");
    write_block(&mut with_block, data).expect("memory takes it");
    [data, &with_block].into_iter().for_each(read);
}

fn read(bytes: &[u8]) {
    let Ok(memory) = memfd_create(c"record", MemfdFlags::CLOEXEC) else { return };
    let mut file = File::from(memory);
    file.write_all(bytes).expect("memory takes it");
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let Ok(record) = RecordFile::open(&path) else { return };
    let mut steps = Steps::of(record);
    while let Ok(Some(_)) = steps.next_step() {}
    let _ = steps.cut_off();
}

fn origin() -> Origin {
    Origin { program: "program".into(), nodes: 2, pes_per_node: 2, pe: 1, ..Origin::default() }
}

/// What it reads when nobody has made it up, by names.
pub fn record_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let items = [
        Item::Begins { made_at: 0, line: 0, with: Begins::Nothing },
        Item::Given(Given::Time(7)),
        Item::Ran,
        Item::Value(vec![1, 2]),
        Item::Sent(Sent::of(1, b"head", &[])),
        Item::Shared { id: 3, value: Packed::of(&4_u32) },
        Item::Ends,
    ];
    let items: Vec<u8> = items.iter().flat_map(to_bytes).collect();
    let mut record = Vec::new();
    begin(&mut record, &origin()).expect("memory takes it");
    write_block(&mut record, &items).expect("memory takes it");
    vec![("record", record), ("items", items), ("magic", b"talisman-record\n\x03\0\0\0".to_vec())]
}
