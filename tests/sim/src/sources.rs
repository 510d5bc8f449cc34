//! What the sources of the runtime name, for lists that must not forget any of it.

use std::fs;
use std::path::Path;

/// The first argument of every call of `function` in the runtime's sources with a text for it, in their order.
pub fn texts_given_to(function: &str) -> Vec<String> {
    let mut texts = Vec::new();
    look_into(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/src"), &mut |source| {
        texts.extend(calls(source, function));
    });
    assert!(!texts.is_empty(), "the runtime's sources call `{function}`");
    texts
}

fn look_into(folder: &Path, read: &mut dyn FnMut(&str)) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            look_into(&path, read);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read(&fs::read_to_string(&path).expect("sources are text"));
        }
    }
}

fn calls(source: &str, function: &str) -> Vec<String> {
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
    assert_eq!(calls(source, "f"), ["one", "two"]);
}
