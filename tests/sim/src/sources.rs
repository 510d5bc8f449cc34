//! What the sources of the runtime name, for lists that must not forget any of it.

use std::fs;
use std::path::Path;

/// A call whose first argument is a text.
#[derive(Debug)]
pub struct Call {
    /// The file, below `core/src`; `base/…` if it is below `core/base/src`, and so on ([`SOURCES`]).
    pub file: String,
    /// The argument.
    pub text: String,
}

/// Folders of the runtime's sources, and what they are called.
const SOURCES: [(&str, &str); 16] = [
    ("../../core/src", ""),
    ("../../core/kernel/src", "kernel"),
    ("../../core/node/src", "node"),
    ("../../core/sim/src", "simulator"),
    ("../../core/launch/src", "launch"),
    ("../../core/base/src", "base"),
    ("../../core/sched/src", "sched"),
    ("../../core/reduce/src", "reduce"),
    ("../../core/job/src", "job"),
    ("../../core/control/src", "control"),
    ("../../core/cluster/src", "cluster"),
    ("../../core/transport/src", "transport"),
    ("../../ft/src", "ft"),
    ("../../ft/store/src", "store"),
    ("../../ampi/src", "ampi"),
    ("../../ampi/loader/src", "loader"),
];

/// Every such call of `function` in the runtime's sources.
pub fn calls_with_texts(function: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    for (folder, name) in SOURCES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        look_into(&root, &mut |path, source| {
            let below = path.strip_prefix(&root).expect("it is below");
            let file = Path::new(name).join(below).display().to_string();
            let texts = texts_given_to(function, source).into_iter();
            calls.extend(texts.map(|text| Call { file: file.clone(), text }));
        });
    }
    assert!(!calls.is_empty(), "the runtime's sources call `{function}`");
    calls
}

fn look_into(folder: &Path, read: &mut dyn FnMut(&Path, &str)) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            look_into(&path, read);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read(&path, &fs::read_to_string(&path).expect("sources are text"));
        }
    }
}

fn texts_given_to(function: &str, source: &str) -> Vec<String> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let call = format!("{function}(");
    let after = code.split(&call).skip(1);
    after
        .filter_map(|rest| Some(rest.trim_start().strip_prefix('"')?.split_once('"')?.0.to_owned()))
        .collect()
}

#[test]
fn calls_are_found_across_lines_and_not_in_comments() {
    let source = "// f(\"no\")\nf(\"one\");\nf(\n    \"two\",\n);\nfn f(what: &str) {}";
    assert_eq!(texts_given_to("f", source), ["one", "two"]);
}
