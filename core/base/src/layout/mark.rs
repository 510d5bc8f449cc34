//! What has to be the same in processes between which stacks move: what is mapped where, and what code chooses its way
//! by.
//!
//! Pure data. A stack holds return addresses into the program and its libraries, addresses of thread-locals, and what
//! the C library has chosen for this processor; all that has to mean the same where the stack arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// Most objects that a process names.
pub const OBJECTS_MAX: usize = 1024;
/// Most features of a processor.
pub const FEATURES_MAX: usize = 256;
/// Most bytes of each text: as many as a file's name may have.
pub const TEXT_MAX: usize = 255;
/// So many differences are told; the others are counted.
const TOLD_MAX: usize = 5;

/// The layout of a process, as far as stacks depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct LayoutMark {
    /// The program and its libraries, by their addresses.
    pub objects: Vec<MappedObject>,
    /// That of the PE's thread: addresses of thread-locals are relative to it.
    pub thread_pointer: u64,
    /// The C library and its version.
    pub c_library: String,
    /// Bytes of a page.
    pub page_size: u64,
    /// What the processor can do, as far as libraries choose code by it.
    pub processor: Vec<String>,
}

/// A file that is mapped: the program or a shared library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedObject {
    /// Of its file, without folders; empty for the program.
    pub name: String,
    /// By which its linker tells it from other builds, in hexadecimal digits; empty if it has none.
    pub build_id: String,
    /// What its addresses are relative to.
    pub base: u64,
    /// So many addresses it takes.
    pub length: u64,
}

/// Something that is not the same in two processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In the singular or plural, as "its address".
    pub of: String,
    /// How it is in each of the two.
    pub values: [String; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.values;
        write!(f, "{}: {one} here, {other} there", self.of)
    }
}

/// All differences between two layouts; none if stacks may move between processes that have these.
pub fn compare(one: &LayoutMark, other: &LayoutMark) -> Vec<Difference> {
    let plain = [
        ("the C library", one.c_library.clone(), other.c_library.clone()),
        ("the size of a page", one.page_size.to_string(), other.page_size.to_string()),
        ("the PE's thread pointer", hexadecimal(one.thread_pointer), hexadecimal(other.thread_pointer)),
    ];
    let plain = plain.into_iter().filter_map(|(of, one, other)| difference(of.into(), one, other));
    let (ours, theirs) = (by_name(&one.objects), by_name(&other.objects));
    let names: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let objects = names.into_iter().flat_map(|name| of_objects(name.0, ours.get(name), theirs.get(name)));
    plain.chain(of_processors(&one.processor, &other.processor)).chain(objects).collect()
}

/// Some differences for people, the first ones, with "here" for the first process and "there" for the second.
pub fn in_words(differences: &[Difference]) -> String {
    let told: Vec<_> = differences.iter().take(TOLD_MAX).map(Difference::to_string).collect();
    match differences.len().saturating_sub(TOLD_MAX) {
        0 => told.join("; "),
        more => format!("{}; and {more} more", told.join("; ")),
    }
}

/// Several of one name are told apart by their order.
type Named<'a> = BTreeMap<(&'a str, usize), &'a MappedObject>;

fn by_name(objects: &[MappedObject]) -> Named<'_> {
    let mut named = Named::new();
    for object in objects {
        let number = (0..).find(|number| !named.contains_key(&(object.name.as_str(), *number)));
        named.insert((&object.name, number.unwrap_or_default()), object);
    }
    named
}

fn of_objects(name: &str, one: Option<&&MappedObject>, other: Option<&&MappedObject>) -> Vec<Difference> {
    let name = if name.is_empty() { "the program" } else { name };
    let (Some(one), Some(other)) = (one, other) else {
        let is_there = |there: bool| if there { "mapped" } else { "not mapped" }.to_owned();
        return difference(name.into(), is_there(one.is_some()), is_there(other.is_some()))
            .into_iter()
            .collect();
    };
    let build =
        |of: &MappedObject| if of.build_id.is_empty() { "none".to_owned() } else { of.build_id.clone() };
    let of = |what: &str| format!("{what} of {name}");
    let all = [
        difference(of("the build id"), build(one), build(other)),
        difference(of("the address"), hexadecimal(one.base), hexadecimal(other.base)),
        difference(of("the length"), hexadecimal(one.length), hexadecimal(other.length)),
    ];
    all.into_iter().flatten().collect()
}

/// The features that only one of the two has.
fn of_processors(one: &[String], other: &[String]) -> Option<Difference> {
    let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) = (one.iter().collect(), other.iter().collect());
    let only = |these: &BTreeSet<&String>, those: &BTreeSet<&String>| {
        let only: Vec<&str> = these.difference(those).map(|feature| feature.as_str()).collect();
        if only.is_empty() { "nothing more".to_owned() } else { only.join(" ") }
    };
    difference("what the processor can do".into(), only(&ours, &theirs), only(&theirs, &ours))
}

fn difference(of: String, one: String, other: String) -> Option<Difference> {
    let is_there = one != other;
    is_there.then_some(Difference { of, values: [one, other] })
}

fn hexadecimal(number: u64) -> String {
    format!("{number:#x}")
}

/// What comes from another process, or a file, before its size is looked at.
#[derive(Deserialize)]
struct Unchecked {
    objects: Vec<MappedObject>,
    thread_pointer: u64,
    c_library: String,
    page_size: u64,
    processor: Vec<String>,
}

impl TryFrom<Unchecked> for LayoutMark {
    type Error = &'static str;

    fn try_from(mark: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked { objects, thread_pointer, c_library, page_size, processor } = mark;
        let of_objects = objects.iter().flat_map(|object| [&object.name, &object.build_id]);
        let longest = of_objects.chain(&processor).chain([&c_library]).map(String::len).max();
        match objects.len() <= OBJECTS_MAX && processor.len() <= FEATURES_MAX && longest <= Some(TEXT_MAX) {
            true => Ok(LayoutMark { objects, thread_pointer, c_library, page_size, processor }),
            false => Err("a layout with more than any process has"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> LayoutMark {
        let object = |name: &str, base| MappedObject {
            name: name.into(),
            build_id: format!("{base:08x}"),
            base,
            length: 0x1000,
        };
        LayoutMark {
            objects: vec![object("", 0x5000), object("libc.so.6", 0x7000), object("plugin.so", 0x8000)],
            thread_pointer: 0x1800,
            c_library: "glibc 2.36".into(),
            page_size: 4096,
            processor: vec!["avx2".into(), "fma".into()],
        }
    }

    fn told(change: impl FnOnce(&mut LayoutMark)) -> Vec<String> {
        let mut other = mark();
        change(&mut other);
        compare(&mark(), &other).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn equal_layouts_have_no_difference() {
        assert_eq!(told(|_| {}), [""; 0]);
        assert_eq!(told(|other| other.processor.reverse()), [""; 0]);
    }

    #[test]
    fn each_difference_is_named_with_both_values() {
        assert_eq!(
            told(|other| other.objects[1].build_id = "beef".into()),
            ["the build id of libc.so.6: 00007000 here, beef there"]
        );
        assert_eq!(
            told(|other| other.objects[0].base = 0x6000),
            ["the address of the program: 0x5000 here, 0x6000 there"]
        );
        assert_eq!(
            told(|other| other.objects[2].length = 7),
            ["the length of plugin.so: 0x1000 here, 0x7 there"]
        );
        assert_eq!(
            told(|other| other.thread_pointer += 8),
            ["the PE's thread pointer: 0x1800 here, 0x1808 there"]
        );
        assert_eq!(
            told(|other| other.c_library = "glibc 2.41".into()),
            ["the C library: glibc 2.36 here, glibc 2.41 there"]
        );
        assert_eq!(told(|other| other.page_size = 16384), ["the size of a page: 4096 here, 16384 there"]);
        assert_eq!(
            told(|other| other.processor = vec!["fma".into(), "avx512f".into()]),
            ["what the processor can do: avx2 here, avx512f there"]
        );
    }

    #[test]
    fn objects_that_only_one_has_are_named() {
        assert_eq!(told(|other| drop(other.objects.pop())), ["plugin.so: mapped here, not mapped there"]);
        let twice = |other: &mut LayoutMark| other.objects.push(other.objects[2].clone());
        assert_eq!(told(twice), ["plugin.so: not mapped here, mapped there"]);
    }

    #[test]
    fn many_differences_are_counted() {
        let mut other = mark();
        for object in &mut other.objects {
            (object.base, object.length) = (1, 1);
        }
        let differences = compare(&mark(), &other);
        assert_eq!(differences.len(), 6);
        assert!(in_words(&differences).ends_with("; and 1 more"), "{}", in_words(&differences));
        assert!(!in_words(&differences[..5]).contains("more"));
    }

    #[test]
    fn what_no_process_has_is_not_read() {
        let read = |mark: &LayoutMark| rmp_serde::from_slice::<LayoutMark>(&rmp_serde::to_vec(mark).unwrap());
        let most = LayoutMark {
            objects: vec![mark().objects[1].clone(); OBJECTS_MAX],
            processor: vec!["f".repeat(TEXT_MAX); FEATURES_MAX],
            ..mark()
        };
        assert_eq!(read(&most).unwrap(), most);
        let too_many: [fn(&mut LayoutMark); 3] = [
            |mark| mark.objects.push(MappedObject::default()),
            |mark| mark.processor.push("more".into()),
            |mark| mark.c_library = "g".repeat(TEXT_MAX + 1),
        ];
        for change in too_many {
            let mut mark = most.clone();
            change(&mut mark);
            assert!(read(&mark).is_err());
        }
    }
}
