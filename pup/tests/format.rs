//! The examples of `docs/src/reference/pup-format.md`, each checked against the file.
extern crate talisman_pup as talisman;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::ops::Bound;
use std::time::Duration;

use talisman::pup::{Pup, pup_object, to_bytes};

#[derive(Pup)]
#[pup(version = 2)]
struct Leaf {
    value: u16,
    #[pup(skip)]
    #[allow(dead_code, reason = "it is not packed")]
    cache: u64,
    #[pup(since = 2)]
    weight: u8,
}

#[derive(Pup)]
enum Edge {
    Open,
    Fixed(u16),
    Flow { speed: u8 },
}

#[derive(Pup, Clone, Copy)]
#[repr(C)]
#[pup(plain)]
struct Atom {
    at: [u16; 2],
    kind: u32,
}

#[derive(Pup)]
#[pup(name = "disc")]
struct Disc(u8);

#[derive(Pup)]
struct Bridge(#[pup(serde)] Option<u8>);

#[pup_object]
trait Shape {}

#[pup_object]
impl Shape for Disc {}

/// Each expression as it stands in the document, and its bytes.
macro_rules! examples {
    ($($expression:expr;)+) => {
        vec![$((squeezed(stringify!($expression)), to_bytes(&$expression))),+]
    };
}

fn examples() -> Vec<(String, Vec<u8>)> {
    examples! {
        0x1234_u16;
        -2_i32;
        1.5_f64;
        7_usize;
        true;
        'ß';
        Ordering::Less;
        Duration::from_millis(1500);
        vec![1_u16, 2, 3];
        vec![(); 2];
        BTreeMap::from([(2_u8, true), (1, false)]);
        HashSet::from([2_u8, 1]);
        (1_u8, 2_u16);
        [1_u16, 2];
        Box::new(5_u8);
        ();
        None::<u8>;
        Some(9_u8);
        Err::<u8, bool>(true);
        Bound::Excluded(3_u8);
        1_u8..4;
        1_u8..=4;
        SocketAddr::from(([127, 0, 0, 1], 80));
        Leaf { value: 5, cache: 0, weight: 7 };
        Edge::Open;
        Edge::Fixed(3);
        Edge::Flow { speed: 9 };
        vec![Atom { at: [1, 2], kind: 3 }];
        Bridge(Some(5));
        Box::new(Disc(5)) as Box<dyn Shape>;
        "aß".to_string();
    }
}

/// Without spaces and trailing commas, which `stringify!` and rustfmt set as they like.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<String>().replace(",}", "}")
}

/// The lines of the fenced blocks without a language, as (expression, bytes).
fn documented() -> Vec<(String, Vec<u8>)> {
    let text = include_str!("../format.md");
    let mut inside = None;
    let mut found = vec![];
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(_), Some(_)) => inside = None,
            (Some(language), None) => inside = Some(language.is_empty()),
            (None, Some(true)) => found.push(example(line)),
            (None, _) => {}
        }
    }
    found
}

/// An expression ends where two spaces do, or with the line.
fn example(line: &str) -> (String, Vec<u8>) {
    let (expression, bytes) = line.split_once("  ").unwrap_or((line, ""));
    let bytes =
        bytes.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap_or_else(|e| panic!("{line}: {e}")));
    (squeezed(expression), bytes.collect())
}

#[test]
fn the_document_tells_the_truth() {
    let documented = documented();
    let examples = examples();
    assert!(documented.len() >= 30, "the examples of the document were not found");
    for (expression, bytes) in &documented {
        let found = examples.iter().find(|(e, _)| e == expression);
        let (_, ours) = found.unwrap_or_else(|| panic!("no example `{expression}` in this test"));
        assert_eq!(ours, bytes, "{expression}: {ours:02x?}");
    }
    assert_eq!(documented.len(), examples.len(), "an example of this test is not in the document");
}
