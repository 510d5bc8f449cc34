extern crate talisman_pup as talisman;
use talisman::pup::{Pup, pup_object};

#[pup_object(now)]
trait Arguments {}

#[pup_object]
trait Generic<T> {
    fn item(&self) -> T;
}

#[pup_object]
trait Shape {}

#[derive(Pup)]
struct Scaled<T>(T);

#[pup_object]
impl<T> Shape for Scaled<T> {}

#[pup_object]
impl Scaled<u8> {}

#[pup_object]
struct Neither;

struct NotPup;

#[pup_object]
impl Shape for NotPup {}

fn main() {
    let _ = Neither;
}
