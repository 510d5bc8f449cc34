extern crate talisman_pup as talisman;
use talisman::pup::Pup;

#[derive(Pup)]
#[pup(vesion = 2, name = "a", name = "b")]
struct Keys;

#[derive(Pup)]
#[pup(version = 0)]
struct Zero;

#[derive(Pup)]
#[pup(version = "two")]
struct NoNumber;

#[derive(Pup)]
#[pup(plain, version = 1, restore = Plain::fix)]
struct Plain<T> {
    #[pup(skip)]
    a: T,
}

#[derive(Pup)]
#[pup(plain)]
enum PlainEnum {
    A,
}

#[derive(Pup)]
struct Borrows<'a> {
    name: &'a str,
}

#[derive(Pup)]
union Either {
    a: u32,
    b: f32,
}

#[derive(Pup)]
enum Variants {
    #[pup(skip)]
    A,
}

fn main() {
    // The types are there all the same: no error says that one of them is not `Pup`.
    fn pup<T: Pup>() {}
    pup::<Keys>();
    pup::<Zero>();
    pup::<PlainEnum>();
    pup::<Variants>();
}
