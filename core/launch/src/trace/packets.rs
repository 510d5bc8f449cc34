//! Packets of a PE's sequence, and what they have in common.

use prost::Message as _;

use super::perfetto::{
    Annotation, InternedData, Named, Packet, PacketDefaults, STATE_CLEARED, TrackDescriptor, TrackEvent,
    TrackEventDefaults, before_packet,
};
use super::tracks::Track;
use super::vocabulary::{ANNOTATIONS, CATEGORIES, names};
use talisman_node::trace::part_file::ChareNames;
use talisman_observe::trace::calls;

/// The number of a PE's sequence; 1 is that of the job.
pub fn sequence_id(pe: u32) -> u32 {
    pe.saturating_add(2)
}

/// What begins a PE's sequence: its track, and the names that all have.
pub fn beginning(pe: u32) -> Packet {
    let named = |(iid, name): (u64, &&str)| Named { iid, name: (*name).to_owned() };
    let all = |names: &[&str]| (1..).zip(names).map(named).collect();
    Packet {
        trusted_packet_sequence_id: sequence_id(pe),
        sequence_flags: Some(STATE_CLEARED),
        trace_packet_defaults: Some(PacketDefaults {
            track_event_defaults: Some(TrackEventDefaults { track_uuid: Some(Track::Pe(pe).uuid()) }),
        }),
        interned_data: Some(InternedData {
            event_categories: all(&CATEGORIES),
            event_names: all(&names::ALL),
            debug_annotation_names: all(&ANNOTATIONS),
            ..InternedData::default()
        }),
        ..Packet::default()
    }
}

/// What tells of a track that not every trace has, and below which it is.
pub fn descriptor_of(pe: u32, track: Track, parent: Option<Track>) -> Packet {
    let parent_uuid = parent.map(Track::uuid);
    let track = TrackDescriptor { uuid: track.uuid(), name: track.name(), parent_uuid };
    let trusted_packet_sequence_id = sequence_id(pe);
    Packet { trusted_packet_sequence_id, track_descriptor: Some(track), ..Packet::default() }
}

/// A packet behind others.
pub fn write(packet: &Packet, out: &mut Vec<u8>) {
    before_packet(packet.encoded_len(), out);
    packet.encode_raw(out);
}

pub fn event(r#type: i32) -> TrackEvent {
    TrackEvent { r#type, ..TrackEvent::default() }
}

pub fn named(r#type: i32, category: u64, name: &str, debug_annotations: Vec<Annotation>) -> TrackEvent {
    let place = names::ALL.iter().position(|known| *known == name).expect("it is in the table");
    let (category_iids, name_iid) = (vec![category], Some(place as u64 + 1));
    TrackEvent { category_iids, name_iid, debug_annotations, ..event(r#type) }
}

pub fn on_track(track: Track, event: TrackEvent) -> TrackEvent {
    TrackEvent { track_uuid: Some(track.uuid()), ..event }
}

/// `Block.step`.
pub fn name_of(chare: u32, call: u16, chares: &[ChareNames]) -> String {
    let Some(chare) = chares.get(chare as usize) else { return format!("chare {chare}, entry {call}") };
    let entry = calls::name(call).or_else(|| chare.entries.get(call as usize).map(String::as_str));
    entry.map_or_else(|| format!("{}.{call}", chare.name), |entry| format!("{}.{entry}", chare.name))
}

/// Bits spread over the word (the finalizer of splitmix64).
pub fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
