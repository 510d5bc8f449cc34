//! Hostile frames and handshakes: what the fuzz targets and `tests/fuzz_corpus.rs` run.

/// The receiving half of a link reads what `data` makes.
pub fn frames(data: &[u8]) {
    talisman::probe::read_frames(data);
}

/// Both sides of a handshake read `data`.
pub fn handshake(data: &[u8]) {
    talisman::probe::read_handshake(data);
}

/// Inputs that go through the parts of the format: see `talisman::probe::read_frames`.
pub fn frame_seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("small", frame(0b1_01, 1, 16, 0, 0, &[7; 16])),
        ("two", [frame(0b1_01, 1, 16, 0, 0, &[7; 16]), frame(1, 1, 0, 0, 0, &[])].concat()),
        ("small-cut", frame(0b1_00, 1, 8192, 0, 0, &[7; 16])),
        ("small-too-long", frame(1, 1, 12_289, 0, 0, &[])),
        ("acknowledges-too-much", frame(1, 3, 0, 0, 99, &[])),
        ("goodbye-then-message", [frame(1, 4, 0, 0, 0, &[]), frame(1, 1, 0, 0, 0, &[])].concat()),
        ("begins-twice", frame(1, 5, 0, 0, 0, &[])),
        ("no-kind", frame(1, 0, 0, 0, 0, &[])),
        ("raw", frame(0b10, 1, 0, 0, 0, &[])),
        ("large-empty", [frame(1, 2, 0, 0, 0, &[]), vec![0; 4]].concat()),
        ("large-head", frame(0b1_00, 2, 1 << 30, 0, 0, &[1; 16])),
        ("large-head-too-long", frame(1, 2, (1 << 30) + 1, 0, 0, &[])),
        ("segment", frame(0b1_01, 2, 0, 1, 0, &entry(40, 8))),
        ("segment-huge", frame(0b1_01, 2, 0, 1, 0, &entry(1 << 36, 8))),
        ("segments-too-large", frame(0b10_01, 2, 0, 2, 0, &[entry(1 << 36, 8), entry(1, 8)].concat())),
        ("segment-badly-aligned", frame(0b1_01, 2, 0, 1, 0, &entry(8, 3))),
        ("segments-too-many", frame(1, 2, 0, (1 << 16) + 1, 0, &[])),
    ]
}

fn frame(how: u8, kind: u8, head: u32, segments: u32, offset: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![how, 0, 0, 0, kind, 0, 0, 0, 0];
    bytes.extend_from_slice(&head.to_le_bytes());
    bytes.extend_from_slice(&segments.to_le_bytes());
    bytes.extend_from_slice(&offset.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(body);
    bytes
}

fn entry(len: u64, align: u64) -> Vec<u8> {
    [len.to_le_bytes(), align.to_le_bytes()].concat()
}

/// Records of a handshake, as they should be and otherwise.
pub fn handshake_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let version = talisman::probe::WIRE_VERSION;
    let record = |version: u16, kind, body: &[u8]| {
        let len = (body.len() as u32).to_le_bytes();
        [b"TALISMAN", &version.to_le_bytes()[..], &[kind, 0], &len, body].concat()
    };
    let numbers = [2u32, 1, 1, 0, 0].map(u32::to_le_bytes).concat();
    let hello = [&[0; 32][..], &numbers, &[0; 8], &[9; 32]].concat();
    vec![
        ("hello", record(version, 1, &hello)),
        ("hello-then-proof", [record(version, 1, &hello), record(version, 3, &[0; 32])].concat()),
        ("challenge", record(version, 2, &[0; 76])),
        ("challenge-reflected", record(version, 2, &[&[0; 12][..], &[2; 32], &[0; 32]].concat())),
        ("welcome-at-once", record(version, 4, &[])),
        ("refusal", record(version, 5, &[10])),
        ("refusal-unknown", record(version, 5, &[200])),
        ("other-version", record(version - 1, 1, &hello)),
        ("too-long", record(version, 1, &[0; 5000])),
        ("http", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("cut", b"TALIS".to_vec()),
    ]
}
