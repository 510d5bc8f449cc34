//! Files that ranks write over, empty, remove and replace: a rank that goes back to a checkpoint finds what was there then.

use crate::job::{Interface, c_compiler, folder, mpirun, printed, program};
use crate::trials::checks;

checks!(
    what_is_overwritten_is_put_back needs c_compiler,
    what_a_rank_overwrites_that_goes_back_alone_is_put_back needs c_compiler,
);

fn goes_through(name: &str, what: &str, way: &[&str], killed: &[&str]) {
    let file = program("overwritten.c", Interface::Mpich);
    let place = folder().join(format!("overwritten-{name}"));
    std::fs::create_dir_all(&place).expect("a folder of this test");
    let stem = place.join("file");
    let task = [file.to_str().expect("text"), what, stem.to_str().expect("text"), "120"];
    let wdir = ["-n", "6", "--wdir", place.to_str().expect("text")];
    let said = printed(&mut mpirun(&[&wdir, way, &task, killed].concat()));
    assert_eq!(said, "120 rounds\n", "{name}");
    let left = std::fs::read_dir(&place).expect("it is there").flatten();
    let logs: Vec<_> = left
        .map(|entry| entry.file_name())
        .filter(|name| name.as_encoded_bytes().starts_with(b".talisman"))
        .collect();
    assert!(logs.is_empty(), "{name}: {logs:?} are left");
}

fn kept<'a>(ft: &'a str, period: &'a str) -> [&'a str; 6] {
    ["--nodes", "3", "--ft", ft, "--ckpt-every", period]
}

fn what_is_overwritten_is_put_back() {
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("one", &kept("double", "40ms")[..], &["2@60"][..]),
        ("each", &kept("double", "40ms")[..], &["2@40", "0@90"][..]),
        ("late", &kept("double", "80ms")[..], &["2@47"][..]),
        ("rarely", &kept("double", "150ms")[..], &["4@110"][..]),
    ] {
        goes_through(name, "all", way, killed);
    }
}

fn what_a_rank_overwrites_that_goes_back_alone_is_put_back() {
    for (name, way, killed) in [
        ("logging-one", &kept("logging", "40ms")[..], &["2@60"][..]),
        ("logging-each", &kept("logging", "40ms")[..], &["2@40", "0@70", "4@100"][..]),
        ("logging-rarely", &kept("logging", "150ms")[..], &["5@110"][..]),
    ] {
        goes_through(name, "alone", way, killed);
    }
}
