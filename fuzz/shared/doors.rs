//! What strangers say at the doors of a job, and files of checkpoints, records and traces that others have written: what the fuzz targets and
//! `tests/fuzz_corpus.rs` run.

use talisman::hostile;

/// Launchers, agents and nodes read `data` as messages.
pub fn messages(data: &[u8]) {
    hostile::read_messages(data);
}

/// The door of a launcher's successor hears `data`.
pub fn succession(data: &[u8]) {
    hostile::read_knock(data);
}

/// A launcher is asked for `data`.
pub fn requests(data: &[u8]) {
    hostile::read_request(data);
}

/// Somebody says `data` where a page about a job is served.
pub fn page(data: &[u8]) {
    hostile::read_page_request(data);
}

/// A job is to go on from `data`.
pub fn checkpoints(data: &[u8]) {
    hostile::read_checkpoint(data);
}

/// A node of a job that logs hears `data` of another.
pub fn logged(data: &[u8]) {
    hostile::read_logged(data);
}

/// A PE is to be run again from `data`.
pub fn records(data: &[u8]) {
    hostile::read_record(data);
}

/// `talisman trace` is given `data`.
pub fn traces(data: &[u8]) {
    hostile::read_trace(data);
}

pub fn message_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let framed = |body: &[u8]| [&(body.len() as u32).to_le_bytes(), body].concat();
    let text = |text: &str| [&[0xa0 + text.len() as u8], text.as_bytes()].concat();
    vec![
        ("nothing", framed(&[])),
        ("ping", framed(&text("Ping"))),
        ("input-wanted", framed(&text("InputWanted"))),
        ("kill", framed(&[&[0x81][..], &text("Kill"), &[3]].concat())),
        ("ended-garbled", framed(&[&[0x81][..], &text("Garbled"), &[0x92, 1], &text("why")].concat())),
        ("no-such-message", framed(&text("NoSuch"))),
        ("too-long", (17u32 << 20).to_le_bytes().to_vec()),
        (
            "array-of-4-billion",
            framed(&[&[0x81][..], &text("Said"), &[0xdd, 0xff, 0xff, 0xff, 0xff]].concat()),
        ),
        ("nested", framed(&[0x91; 500])),
    ]
}

pub fn succession_seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("http", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("magic", b"TALISMAN".to_vec()),
        ("no-ticket", [&b"TALISMAN"[..], &[1; 32], &[0; 32]].concat()),
        ("all-of-it", [&b"TALISMAN"[..], &[1; 32], &[2; 32], &[3; 32], &[9; 40]].concat()),
    ]
}

pub fn request_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let lines = [
        ("checkpoint", "checkpoint\n"),
        ("shrink", "shrink 3 1 4294967295\n"),
        ("shrink-too-much", "shrink 4294967296"),
        ("grow", "grow"),
        ("grow-by", "grow 2\n"),
        ("grow-by-none", "grow 0"),
        ("many-words", "checkpoint checkpoint"),
    ];
    lines.map(|(name, line)| (name, line.as_bytes().to_vec())).to_vec()
}

pub fn page_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let token = hostile::TOKEN;
    let requests = [
        ("page", format!("GET /?token={token} HTTP/1.1\r\nhost: x\r\n\r\n")),
        ("metrics", format!("GET /metrics HTTP/1.1\r\nauthorization: Bearer {token}\r\n\r\n")),
        ("ask", format!("POST /ask?token={token} HTTP/1.1\r\ncontent-length: 8\r\n\r\nshrink 1")),
        ("ask-too-much", format!("POST /ask?token={token} HTTP/1.1\r\ncontent-length: 999999\r\n\r\nx")),
        (
            "ask-in-pieces",
            format!("POST /ask?token={token} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n"),
        ),
        ("stranger", "GET / HTTP/1.1\r\n\r\n".to_owned()),
        ("stranger-asks", "POST /ask?token= HTTP/1.1\r\ncontent-length: 10\r\n\r\ncheckpoint".to_owned()),
        ("nearly", format!("GET /?token={}b HTTP/1.1\r\n\r\n", &token[1..])),
        ("two-requests", format!("GET / HTTP/1.1\r\n\r\nGET /?token={token} HTTP/1.1\r\n\r\n")),
        ("http-2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("cut", "GET /metr".to_owned()),
    ];
    requests.map(|(name, request)| (name, request.into_bytes())).to_vec()
}

pub fn checkpoint_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let manifest = |format: u32, nodes: u64, pes: u64| {
        let job = r#"{"id":1,"program":"p","build":0,"seed":0,"chares":[]}"#;
        let view = r#"{"epoch":0,"acting":[0]}"#;
        let rest = format!(r#""nodes":{nodes},"pes_per_node":{pes},"view":{view},"taken":0"#);
        format!(r#"{{"format":{format},"job":{job},"version":7,{rest}}}"#).into_bytes()
    };
    let part = |head: u64, rest: &[u8]| [&head.to_le_bytes()[..], rest].concat();
    vec![
        ("empty", Vec::new()),
        ("magic", b"TALISDSK\x01\0\0\0".to_vec()),
        ("manifest", manifest(5, 1, 1)),
        ("manifest-of-many", manifest(5, 4_294_967_295, 4_294_967_295)),
        ("manifest-of-none", manifest(5, 0, 0)),
        ("manifest-of-another-format", manifest(9, 1, 1)),
        ("part-head-too-long", part(u64::MAX, &[0; 16])),
        ("part-many-buffers", part(40, &[0xff; 64])),
        ("part-empty", part(0, &[])),
    ]
}

pub fn logged_seeds() -> Vec<(&'static str, Vec<u8>)> {
    hostile::logged_seeds()
}

pub fn record_seeds() -> Vec<(&'static str, Vec<u8>)> {
    hostile::record_seeds()
}

pub fn trace_seeds() -> Vec<(&'static str, Vec<u8>)> {
    // A field of bytes, and one that is a number, of numbers and lengths below 128 but the number of a track.
    let bytes = |field: u32, content: &[u8]| {
        [&varint(field << 3 | 2), &varint(content.len() as u32), content].concat()
    };
    let number = |field: u32, value: u32| [varint(field << 3), varint(value)].concat();
    // Track 1 << 32: the job. Track 6 << 32: PE 0.
    let track = |kind: u8| [&varint(11 << 3)[..], &[0x80, 0x80, 0x80, 0x80, kind << 4]].concat();
    let said = |name: &str, value: u32| bytes(4, &[bytes(10, name.as_bytes()), number(3, value)].concat());
    let packet = |at: u32, event: &[Vec<u8>]| {
        bytes(1, &[number(8, at), number(10, 1), bytes(11, &event.concat())].concat())
    };
    let named = |name: &str| bytes(23, name.as_bytes());
    let job = packet(
        0,
        &[number(9, 3), track(1), named("talisman job"), said("pes_per_node", 1), said("nodes", 1)],
    );
    let begins = packet(3, &[number(9, 1), number(3, 1), track(6), named("Block.step")]);
    let ends = packet(90, &[number(9, 2), track(6)]);
    let sent = packet(7, &[number(9, 3), track(6), named("send"), said("to", 9), said("bytes", 4)]);
    vec![
        ("empty", Vec::new()),
        ("job", job.clone()),
        ("call", [job.clone(), begins.clone(), sent, ends.clone()].concat()),
        ("end-first", [ends, begins, job].concat()),
        ("packet-too-long", [&[0x0a][..], &[0xff; 9]].concat()),
        ("no-packet", b"{\"traceEvents\":[]}".to_vec()),
        ("part", [&b"talisman-trace-p"[..], &1_u32.to_le_bytes(), &[0xff; 8]].concat()),
    ]
}

fn varint(value: u32) -> Vec<u8> {
    let mut left = value;
    let mut all = Vec::new();
    while left >= 0x80 {
        all.push(left as u8 | 0x80);
        left >>= 7;
    }
    all.push(left as u8);
    all
}
