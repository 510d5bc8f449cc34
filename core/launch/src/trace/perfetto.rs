//! The few messages of Perfetto's trace format that ours have, with the numbers of their fields
//! (`protos/perfetto/trace/`, of the Perfetto project; <https://perfetto.dev/docs/reference/trace-packet-proto>).

use prost::Message;

/// `TracePacket`.
#[derive(Clone, PartialEq, Message)]
pub struct Packet {
    /// In nanoseconds since the program's start.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Whose names it uses.
    #[prost(uint32, tag = "10")]
    pub trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "59")]
    pub trace_packet_defaults: Option<PacketDefaults>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// The sequence begins: no name of it is known.
pub const STATE_CLEARED: u32 = 1;
/// It uses names that were told before.
pub const NEEDS_STATE: u32 = 2;

/// `TracePacketDefaults`.
#[derive(Clone, PartialEq, Message)]
pub struct PacketDefaults {
    #[prost(message, optional, tag = "11")]
    pub track_event_defaults: Option<TrackEventDefaults>,
}

/// `TrackEventDefaults`.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEventDefaults {
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
}

/// `TrackEvent`.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<Annotation>,
    #[prost(int32, tag = "9")]
    pub r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// None is that of the sequence.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// Arrows that come in or go out.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// `TrackEvent.Type`.
pub const SLICE_BEGIN: i32 = 1;
pub const SLICE_END: i32 = 2;
pub const INSTANT: i32 = 3;

/// `DebugAnnotation`.
#[derive(Clone, PartialEq, Message)]
pub struct Annotation {
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    #[prost(double, optional, tag = "5")]
    pub double_value: Option<f64>,
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "17")]
    pub string_value_iid: Option<u64>,
}

/// `InternedData`.
#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<Named>,
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Named>,
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<Named>,
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<Named>,
}

/// `EventName`, `EventCategory`, `DebugAnnotationName`, and `InternedString`, whose bytes are UTF-8 in ours.
#[derive(Clone, PartialEq, Message)]
pub struct Named {
    #[prost(uint64, tag = "1")]
    pub iid: u64,
    #[prost(string, tag = "2")]
    pub name: String,
}

/// `TrackDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    pub uuid: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
}

/// `Trace`: packets are its field 1. What stands before a packet of so many bytes.
pub fn before_packet(bytes: usize, out: &mut Vec<u8>) {
    out.push(PACKET_TAG);
    prost::encoding::encode_varint(bytes as u64, out);
}

/// The field's number, and that its length follows.
pub const PACKET_TAG: u8 = 1 << 3 | 2;

/// An annotation under a name of the sequence.
pub fn with_number(name_iid: u64, value: u64) -> Annotation {
    Annotation { name_iid: Some(name_iid), uint_value: Some(value), ..Annotation::default() }
}

/// The same with a floating-point value.
pub fn with_float(name_iid: u64, value: f64) -> Annotation {
    Annotation { name_iid: Some(name_iid), double_value: Some(value), ..Annotation::default() }
}

/// The same with a text.
pub fn with_text(name_iid: u64, value: impl Into<String>) -> Annotation {
    Annotation { name_iid: Some(name_iid), string_value: Some(value.into()), ..Annotation::default() }
}
