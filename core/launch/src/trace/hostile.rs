//! Bytes of strangers as traces and parts of traces, for fuzz targets.

use std::path::Path;

use super::html::page;
use super::path::{Part, look_at};
use super::picture::picture;
use super::reader::TraceReader;
use super::summary::Summary;
use super::terminal::text;
use talisman_node::trace::part_file::PartReader;

/// Reads bytes as a trace, and as a part of one: whatever can be read can be shown.
pub fn read_trace(bytes: &[u8]) {
    let name = Path::new("trace");
    if let Ok(mut summary) = Summary::read(TraceReader::of(name, bytes), name) {
        let part = Part::last_of(&summary);
        let drawn = picture(TraceReader::of(name, bytes), &part, &summary);
        let looked = look_at(TraceReader::of(name, bytes), &part, &summary.job);
        summary.looked = looked.ok().map(|looked| (part, looked));
        assert!(drawn.is_ok_and(|drawn| drawn.len() < 1 << 20));
        assert!(!text(&summary).is_empty() && !page(&summary).is_empty());
    }
    if let Ok(mut reader) = PartReader::read(name, bytes) {
        while let Ok(Some(_)) = reader.next_strip() {}
    }
}
