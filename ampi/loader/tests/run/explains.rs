//! What is said about a program's imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use talisman_loader::{Explanation, Imports, LoadError, Meaning, Program, Search, explain};

use crate::build::{Workshop, compilers};

crate::trials! {
    each_import_has_a_meaning,
    all_imports_of_the_file_are_explained,
    symbols_mean_what_the_dynamic_linker_means,
    a_missing_library_is_named,
}

/// As a host of ranks.
struct Answers;

impl Imports for Answers {
    fn answers_for(&self, soname: &str) -> bool {
        soname == "libanswered_lib.so"
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        (name == "answer").then_some(1)
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        talisman_loader::libc::symbol(name)
    }
}

fn explained(shop: &Workshop) -> (std::path::PathBuf, Explanation) {
    shop.library("answered_lib", "answered_lib.c", &[]);
    shop.library("explained_lib", "explained_lib.c", &["-DALL"]);
    let program = shop.build("explained", "explained.c", &["-lexplained_lib", "-lanswered_lib"]);
    shop.library("explained_lib", "explained_lib.c", &[]);
    let explanation = explain(&program, &Search::default(), &Answers).expect("all libraries are there");
    (program, explanation)
}

fn each_import_has_a_meaning() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let (program, explanation) = explained(&shop);
    assert_eq!(explanation.objects, [program.clone(), shop.0.join("libexplained_lib.so")]);
    assert_eq!(explanation.answered, ["libanswered_lib.so"]);
    let meaning = |object: usize, name: &str| {
        let is_it = |import: &&talisman_loader::Import| {
            import.wanted_by == object && import.name.split('@').next() == Some(name)
        };
        explanation.imports.iter().find(is_it).map(|import| import.meaning)
    };
    for (object, name, expected) in [
        (0, "fork", Meaning::Refused),
        (0, "answer", Meaning::Answered),
        (0, "getenv", Meaning::Answered),
        (0, "__libc_start_main", Meaning::Answered),
        (0, "printf", Meaning::Shared),
        (0, "explained_function", Meaning::Private(1)),
        (0, "explained_variable", Meaning::Private(1)),
        // The name that the linker chooses for a copy of `environ`.
        (0, "__environ", Meaning::Variable),
        (0, "nobody_defines_this", Meaning::Missing),
        (0, "nor_this", Meaning::Nothing),
        (1, "answer", Meaning::Answered),
    ] {
        let found = meaning(object, name);
        assert_eq!(found, Some(expected), "{object} {name}: {:?}", explanation.imports);
    }
    let text = explanation.to_string();
    for line in [
        format!("program {}\n", program.display()),
        "answered library libanswered_lib.so\n".into(),
        "  missing   nobody_defines_this\n".into(),
        "  refused   fork@GLIBC_2.2.5\n".into(),
        "  private   explained_function  (libexplained_lib.so)\n".into(),
        "  shared    printf@GLIBC_2.2.5\n".into(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    match Program::prepare(&program, &Search::default(), &Answers) {
        Err(LoadError::MissingSymbols { symbols }) => assert_eq!(symbols.len(), 1, "{symbols:?}"),
        other => panic!("what is missing is refused: {other:?}"),
    }
}

/// The same as another reader of the file finds.
fn all_imports_of_the_file_are_explained() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let (program, explanation) = explained(&shop);
    let files = [program.as_path(), Path::new("/usr/bin/sort"), Path::new("/usr/bin/ls")];
    for file in files.into_iter().filter(|file| file.exists()) {
        let explanation = match file == program {
            true => explanation.clone(),
            false => explain(file, &Search::default(), &Answers).expect("a program of the system"),
        };
        for (number, object) in explanation.objects.iter().enumerate() {
            let own = explanation.imports.iter().filter(|import| import.wanted_by == number);
            let own: BTreeSet<String> = own.map(|import| import.name.clone()).collect();
            let Ok(listed) = Command::new("nm").args(["-D", "--undefined-only"]).arg(object).output() else {
                eprintln!("skipped: there is no nm");
                return;
            };
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            let listed: BTreeSet<&str> = listed.lines().filter_map(|l| l.split_whitespace().last()).collect();
            let unknown: Vec<&&str> = listed.iter().filter(|name| !own.contains(**name)).collect();
            assert!(unknown.is_empty() && !listed.is_empty(), "{}: {unknown:?}", object.display());
        }
    }
}

/// Position-independent programs of the system. One at fixed addresses defines functions of libraries whose addresses it
/// takes. The largest has more than a hundred libraries, MPI's among them.
const OF_SYSTEM: [&str; 5] =
    ["/usr/bin/sort", "/usr/bin/perl", "/usr/bin/git", "/usr/bin/ruby", "/usr/bin/lmp"];

/// Who asks, and for what name; and in which file that was found.
type Binding = ((PathBuf, String), PathBuf);

fn symbols_mean_what_the_dynamic_linker_means() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let own = [explained(&shop).0];
    for file in own.iter().map(PathBuf::as_path).chain(OF_SYSTEM.map(Path::new)).filter(|file| file.exists())
    {
        let explanation = explain(file, &Search::default(), &Answers).expect("all libraries are there");
        let bound = bound_by_the_dynamic_linker(file);
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let objects: Vec<PathBuf> = explanation.objects.iter().map(|path| real(path)).collect();
        let mut compared = 0;
        for import in &explanation.imports {
            let (by, name) = (&objects[import.wanted_by], &import.name);
            let Some(found) = bound.get(&(by.clone(), name.clone())) else { continue };
            let is_right = match import.meaning {
                Meaning::Private(object) => objects[object] == *found,
                Meaning::Shared => !objects.contains(found),
                _ => continue,
            };
            assert!(is_right, "{}: {name} of {} is in {}", import.meaning, by.display(), found.display());
            compared += 1;
        }
        assert!(compared > 0 || file == own[0], "{}: {} bindings", file.display(), bound.len());
    }
}

/// What it says of itself, of a program that ends at once.
fn bound_by_the_dynamic_linker(program: &Path) -> BTreeMap<(PathBuf, String), PathBuf> {
    let mut command = Command::new(program);
    command.arg("--version").env("LD_DEBUG", "bindings").env("LD_BIND_NOW", "1").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let process = command.spawn().expect("a program of the system");
    // It may start others, which say the same of themselves.
    let own = format!("{}:\t", process.id());
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.trim_start().starts_with(&own)).filter_map(binding).collect()
}

/// ``1234: binding file /bin/sort [0] to /lib/libc.so.6 [0]: normal symbol `fork' [GLIBC_2.2.5]``
fn binding(line: &str) -> Option<Binding> {
    let (_, rest) = line.split_once("binding file ")?;
    let (by, rest) = rest.split_once(" [0] to ")?;
    let (at, rest) = rest.split_once(" [0]: ")?;
    let (_, rest) = rest.split_once('`')?;
    let (name, version) = rest.split_once('\'')?;
    let version = version.trim().trim_matches(['[', ']']);
    let name = if version.is_empty() { name.to_owned() } else { format!("{name}@{version}") };
    Some(((Path::new(by).canonicalize().ok()?, name), Path::new(at).canonicalize().ok()?))
}

fn a_missing_library_is_named() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let (program, _) = explained(&shop);
    std::fs::remove_file(shop.0.join("libexplained_lib.so")).expect("it was built");
    match explain(&program, &Search::default(), &Answers) {
        Err(LoadError::MissingLibrary { name, .. }) => assert_eq!(name, "libexplained_lib.so"),
        other => panic!("it is not there: {other:?}"),
    }
}
