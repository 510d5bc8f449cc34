extern crate talisman_pup as talisman;
use talisman::pup::Pup;

#[derive(Pup)]
#[pup(version = 2)]
struct Fields {
    #[pup(skp)]
    misspelt: u8,
    #[pup(skip, serde)]
    two_ways: u8,
    #[pup(since = 3)]
    too_new: u8,
    #[pup(default = 1)]
    default_alone: u8,
    #[pup(skip, since = 2)]
    skipped_since: u8,
    #[pup(since = 2, since = 2)]
    twice: u8,
    text: &'static str,
    #[pup(with = 3)]
    with_number: u8,
}

#[derive(Pup)]
enum NoVersion {
    A(#[pup(since = 1)] u8),
}

fn main() {}
