//! Programs that print the same in slots.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::build::{Workshop, compilers};

crate::trials! {
    data_is_relocated,
    data_is_relocated_compactly,
    objects_begin_and_end_in_order,
    a_hundred_libraries_begin_and_end_in_order,
    thread_locals_of_each_kind,
    symbols_and_their_versions,
    exceptions_cross_libraries,
    each_rank_has_its_own_state,
    options_are_read_as_the_c_library_does,
    libraries_are_found_where_the_dynamic_linker_finds_them,
    libraries_come_before_those_of_the_program,
    what_ranks_cannot_do_is_refused,
    each_rank_knows_its_own_stack,
    each_rank_knows_its_own_file,
    backtraces_are_of_the_rank,
    answers_of_the_process_come_first,
    the_dynamic_linker_knows_ranks,
    libraries_are_loaded_later,
    programs_at_their_own_address,
    open_files_move,
    descriptors_move,
    what_cannot_be_opened_again_holds_a_rank,
    ranks_wait_for_files_of_others,
    programs_of_the_system_run,
}

/// Lines of each rank; those that are no rank's have the key "".
pub fn lines(output: &Output) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (who, rest) = line.split_once(": ").unwrap_or(("", line));
        all.entry(who.to_owned()).or_default().push(rest.to_owned());
    }
    all
}

/// Without ranks: the process is rank `number`.
pub fn native(program: &Path, number: usize, rest: &[&str]) -> Output {
    Command::new(program)
        .arg(number.to_string())
        .args(rest)
        .env_clear()
        .env("LOADER_TEST", "given")
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("a program that was compiled can be started")
}

fn ranks(program: &Path, count: usize, mode: &str, rest: &[&str]) -> Output {
    let host = std::env::current_exe().expect("this program");
    let output = Command::new(host)
        .args(["host", &count.to_string(), mode])
        .arg(program)
        .args(rest)
        .output()
        .expect("this program can be started again");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code != 101), "{errors} {:?}", output.status);
    output
}

/// Three ranks print what three processes print, whether they stay or move.
fn same(program: &Path, rest: &[&str]) {
    let alone: Vec<Output> = (0..3).map(|number| native(program, number, rest)).collect();
    let mut expected = BTreeMap::new();
    let mut status = 0;
    for output in &alone {
        assert!(!output.stdout.is_empty(), "{output:?}");
        status += output.status.code().expect("no signal");
        expected.extend(lines(output));
    }
    for mode in ["stay", "move"] {
        let together = ranks(program, 3, mode, rest);
        assert_eq!(lines(&together), expected, "{mode}: {}", String::from_utf8_lossy(&together.stderr));
        assert_eq!(together.status.code(), Some(status), "{mode}");
    }
}

fn data(options: &[&str]) {
    let shop = Workshop::new();
    shop.library("data_lib", "data_lib.c", options);
    same(&shop.build("data", "data.c", &[options, &["-ldata_lib"]].concat()), &[]);
}

fn data_is_relocated() {
    if compilers() {
        data(&[]);
        data(&["-Wl,-z,now", "-Wl,--hash-style=sysv"]);
        data(&["-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=0x200000"]);
    }
}

fn data_is_relocated_compactly() {
    if compilers() {
        data(&["-Wl,-z,pack-relative-relocs"]);
    }
}

/// Not interleaved, so all lines are compared in order.
fn objects_begin_and_end_in_order() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let level = |number, next, with: &[&str]| level(&shop, number, next, with);
    level(4, None, &[]);
    level(3, Some(4), &["-llevel4"]);
    level(2, Some(3), &["-llevel3", "-Wl,--no-as-needed", "-llevel4"]);
    level(5, None, &[]);
    level(1, Some(2), &["-llevel2"]);
    let options =
        ["-DFIRST", "-Dfirst_level=level_1", "-Wl,--no-as-needed", "-llevel5", "-llevel1", "-llevel3"];
    begin_and_end_as_alone(&shop.build("chain", "chain.c", &options));
}

/// Each needs the next one.
fn a_hundred_libraries_begin_and_end_in_order() {
    if !compilers() {
        return;
    }
    const LAST: u32 = 100;
    let shop = Workshop::new();
    level(&shop, LAST, None, &[]);
    for number in (1..LAST).rev() {
        level(&shop, number, Some(number + 1), &[&format!("-llevel{}", number + 1)]);
    }
    begin_and_end_as_alone(&shop.build("long_chain", "chain.c", &["-Dfirst_level=level_1", "-llevel1"]));
}

/// A library of a chain.
fn level(shop: &Workshop, number: u32, next: Option<u32>, with: &[&str]) {
    let (level, own) = (format!("-DLEVEL={number}"), format!("-DOWN=level_{number}"));
    let next = next.map_or("-DLAST".into(), |next| format!("-DNEXT=level_{next}"));
    shop.library(&format!("level{number}"), "chain_lib.c", &[&[&level[..], &own, &next], with].concat());
}

fn begin_and_end_as_alone(program: &Path) {
    let (alone, rank) = (native(program, 0, &[]), ranks(program, 1, "stay", &[]));
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text(&rank), text(&alone));
    assert!(text(&rank).contains("on exit 7 text"), "{}", text(&rank));
    assert_eq!((rank.status.code(), alone.status.code()), (Some(7), Some(7)));
}

fn thread_locals_of_each_kind() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    build_libraries(&shop, "tls");
    let libraries = ["-luser", "-lgeneral", "-lnear", "-llocal", "-ldescribed", "-lfar"];
    same(&shop.build("tls", "tls.c", &libraries), &[]);
}

fn symbols_and_their_versions() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let map = concat!("-Wl,--version-script=", env!("CARGO_MANIFEST_DIR"), "/tests/programs/symbols_lib.map");
    shop.library("symbols_lib", "symbols_lib.c", &[map]);
    same(&shop.build("symbols", "symbols.c", &["-lsymbols_lib"]), &[]);
}

fn exceptions_cross_libraries() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("throw_lib", "throw_lib.cpp", &[]);
    same(&shop.build("throw", "throw.cpp", &["-lthrow_lib"]), &[]);
}

fn each_rank_has_its_own_state() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("state", "state.c", &["-lm"]);
    let arguments = [
        "first",
        "-a",
        "--value=5",
        "-bc",
        "second",
        "--verb",
        "-cx",
        "-c",
        "--maybe",
        "--val",
        "7",
        "-z",
        "--ma=1",
        "--",
        "-a",
    ];
    same(&program, &arguments);
    same(&program, &["--v", "--value", "-ab", "x", "--nothing", "-b"]);
}

/// What is printed about wrong ones, too: not interleaved.
fn options_are_read_as_the_c_library_does() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("options", "options.c", &[]);
    let (alone, rank) = (native(&program, 0, &[]), ranks(&program, 1, "stay", &[]));
    let out = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let (rank_lines, alone_lines) = (out(&rank), out(&alone));
    let different = rank_lines.lines().zip(alone_lines.lines()).find(|(rank, alone)| rank != alone);
    assert_eq!(different, None, "a rank, and alone");
    assert_eq!(rank_lines.len(), alone_lines.len());
    let errors = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors(&rank), errors(&alone));
    assert!(
        errors(&rank).contains("is ambiguous; possibilities: '--verbose' '--version'"),
        "{}",
        errors(&rank)
    );
}

/// One library in each place that there is; the program, and a library that is found by another place, use it.
fn libraries_are_found_where_the_dynamic_linker_finds_them() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    for (number, folder) in ["first", "second", "environment"].iter().enumerate() {
        std::fs::create_dir(shop.0.join(folder)).expect("a folder of our own");
        let found = format!("-DFOUND={}", number + 1);
        shop.library_in(folder, "found", "search_lib.c", &[&found]);
    }
    let (old, new) = ("-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags");
    let path = |folder: &str| format!("-Wl,-rpath,$ORIGIN/{folder}");
    let link = format!("-L{}/first", shop.0.display());
    for (program_tags, library_tags) in [(old, old), (old, new), (new, old), (new, new)] {
        let options = ["-DNEEDS", &link, "-lfound", library_tags, &path("second")];
        shop.library_in(".", "needed", "search_lib.c", &options);
        let options = ["-Wl,--no-as-needed", "-lneeded", &link, "-lfound", program_tags, &path("first")];
        let program = shop.build("search", "search.c", &options);
        for environment in ["", "environment", "nowhere"] {
            let environment = shop.0.join(environment);
            let run = |command: &mut Command| {
                let output =
                    command.env("LD_LIBRARY_PATH", &environment).output().expect("it can be started");
                String::from_utf8_lossy(&output.stdout).into_owned()
            };
            let alone = run(Command::new(&program).arg("0"));
            let host = std::env::current_exe().expect("this program");
            let rank = run(Command::new(host).args(["host", "1", "stay"]).arg(&program));
            assert!(alone.starts_with("0: "), "{alone}");
            assert_eq!(rank, alone, "{program_tags} {library_tags} {}", environment.display());
        }
    }
}

/// By name and by path; one that is not there is passed over.
fn libraries_come_before_those_of_the_program() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("found", "search_lib.c", &["-DFOUND=1"]);
    shop.library("second", "preload_lib.c", &["-DFOUND=2"]);
    shop.library("third", "preload_lib.c", &["-DFOUND=3"]);
    let program = shop.build("preload", "preload.c", &["-lfound"]);
    let by_path = format!("libnowhere.so:{}/libthird.so ", shop.0.display());
    let both = format!("{by_path}:libsecond.so");
    for (preload, expected) in
        [("", "1 2"), ("libsecond.so", "12 22"), (&by_path[..], "13 23"), (&both[..], "123 223")]
    {
        let run = |command: &mut Command, variable: &str| {
            let command = command.env("LD_LIBRARY_PATH", &shop.0).env(variable, preload);
            let output = command.output().expect("it can be started");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let host = std::env::current_exe().expect("this program");
        let rank = run(Command::new(host).args(["host", "1", "move"]).arg(&program), "RANKS_PRELOAD");
        let expected = format!("0: {expected}\n");
        let alone = run(Command::new(&program).arg("0"), "LD_PRELOAD");
        assert_eq!((rank, alone), (expected.clone(), expected), "{preload}");
    }
}

fn each_rank_knows_its_own_stack() {
    if compilers() {
        same(&Workshop::new().build("stack", "stack.c", &[]), &[]);
    }
}

fn each_rank_knows_its_own_file() {
    if compilers() {
        same(&Workshop::new().build("own_file", "own_file.c", &[]), &["word"]);
        same(&Workshop::new().build("own_file", "own_file.c", &["-O2", "-D_FORTIFY_SOURCE=2"]), &[]);
    }
}

fn backtraces_are_of_the_rank() {
    if compilers() {
        same(&Workshop::new().build("backtrace", "backtrace.c", &["-rdynamic", "-O0"]), &[]);
    }
}

fn what_ranks_cannot_do_is_refused() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let output = ranks(&shop.build("refused", "refused.c", &[]), 2, "stay", &[]);
    let expected = ["fork -1 1", "exec -1 1", "exec -1 -1", "at fork 0"].map(str::to_owned).to_vec();
    assert_eq!(lines(&output), BTreeMap::from([("0".into(), expected.clone()), ("1".into(), expected)]));
    assert_eq!(output.status.code(), Some(200), "both were aborted");
}

fn answers_of_the_process_come_first() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("answered_lib", "answered_lib.c", &[]);
    shop.library("answered_user", "answered_user.c", &[]);
    let program = shop.build("answered", "answered.c", &["-lanswered_lib", "-lanswered_user"]);
    std::fs::remove_file(shop.0.join("libanswered_lib.so")).expect("it is not needed any more");
    let output = ranks(&program, 2, "move", &[]);
    let expected =
        |number: i32| vec!["100 200 31".to_owned(), "by name 1".to_owned(), format!("{} 1", 31 + number)];
    assert_eq!(lines(&output), BTreeMap::from([("0".into(), expected(0)), ("1".into(), expected(1))]));
}

fn the_dynamic_linker_knows_ranks() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("data_lib", "data_lib.c", &[]);
    same(&shop.build("linker", "linker.c", &["-rdynamic", "-ldata_lib"]), &[]);
}

fn libraries_are_loaded_later() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    build_plugins(&shop);
    let program = shop.build("later", "later.cpp", &["-rdynamic"]);
    let folder = shop.0.to_str().expect("a path that is text");
    same(&program, &[folder]);
    assert_eq!(lines(&native(&program, 2, &[folder]))["2"].len(), 20);
    // One whose thread-locals are reached from the thread pointer; natively there is room for them as well.
    shop.library("near", "tls_near.c", &["-ftls-model=initial-exec"]);
    same(&program, &[folder, "near"]);
    assert!(lines(&native(&program, 2, &[folder, "near"]))["2"].contains(&"near 1002".to_owned()));
    // Native programs have room for some more; ranks are told why not.
    shop.library("near", "tls_near.c", &["-ftls-model=initial-exec", "-DMORE=300"]);
    let output = ranks(&program, 1, "move", &[folder, "near"]);
    assert!(lines(&output)["0"].contains(&"near 0".to_owned()), "{output:?}");
}

/// Not position-independent: a process can have one.
fn programs_at_their_own_address() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    for (name, options) in [
        ("data", &["-ldata_lib"][..]),
        ("tls", &["-luser", "-lgeneral", "-lnear", "-llocal", "-ldescribed", "-lfar"]),
        ("linker", &["-rdynamic", "-ldata_lib"]),
        ("state", &["-lm"]),
        ("throw", &["-lthrow_lib"]),
        ("chain", &["-DFIRST", "-Dfirst_level=level_1", "-llevel1"]),
        ("later", &["-rdynamic"]),
    ] {
        let cpp = ["throw", "later"].contains(&name);
        let source = format!("{name}.{}", if cpp { "cpp" } else { "c" });
        build_libraries(&shop, name);
        let program = shop.build(name, &source, &[options, &["-no-pie", "-fno-pie"]].concat());
        let folder = shop.0.to_str().expect("a path that is text");
        let alone = native(&program, 0, &[folder]);
        assert!(!alone.stdout.is_empty(), "{name}");
        for mode in ["stay", "move"] {
            let rank = ranks(&program, 1, mode, &[folder]);
            let errors = String::from_utf8_lossy(&rank.stderr);
            assert_eq!(lines(&rank), lines(&alone), "{name} {mode}: {errors}");
            assert_eq!(rank.status.code(), alone.status.code(), "{name} {mode}");
        }
    }
    let host = std::env::current_exe().expect("this program");
    let two = Command::new(host).args(["host", "2", "stay"]).arg(shop.0.join("data")).output();
    let errors = String::from_utf8_lossy(&two.expect("it can be started").stderr).into_owned();
    assert!(errors.contains("data has to be at 0x400000 to 0x"), "{errors}");
}

/// What the program of this name needs.
pub fn build_libraries(shop: &Workshop, program: &str) {
    match program {
        "data" => shop.library("data_lib", "data_lib.c", &[]),
        "tls" => {
            shop.library("general", "tls_general.c", &["-ftls-model=global-dynamic"]);
            shop.library("user", "tls_user.c", &["-ftls-model=global-dynamic", "-lgeneral"]);
            shop.library("near", "tls_near.c", &["-ftls-model=initial-exec"]);
            shop.library("local", "tls_local.c", &["-ftls-model=local-dynamic"]);
            shop.library("described", "tls_described.c", &["-mtls-dialect=gnu2"]);
            shop.library("far", "tls_far.c", &["-mtls-dialect=gnu2"]);
        }
        "throw" => shop.library("throw_lib", "throw_lib.cpp", &[]),
        "chain" => shop.library("level1", "chain_lib.c", &["-DLEVEL=1", "-DOWN=level_1", "-DLAST"]),
        "later" => {
            // The program has it already, if it is the one with thread-locals: here it is not to be found.
            std::fs::remove_file(shop.0.join("libnear.so")).expect("it was built");
            build_plugins(shop);
        }
        _ => {}
    }
}

fn build_plugins(shop: &Workshop) {
    shop.library("plugin_base", "plugin_base.c", &[]);
    for (name, number, function) in
        [("plugin1", "1", "first"), ("plugin2", "20", "second"), ("plugin3", "300", "third")]
    {
        let options = [&format!("-DNUMBER={number}")[..], &format!("-DFUNCTION={function}")];
        shop.library(name, "plugin.cpp", &[&options[..], &["-lplugin_base", "-lm"]].concat());
    }
}

/// One rank, since streams of all ranks are on one heap here.
fn open_files_move() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("files", "files.c", &[]);
    let folder = shop.0.to_str().expect("a path that is text");
    let alone = native(&program, 0, &[folder, "b"]);
    assert_eq!(lines(&alone)["0"].len(), 14);
    for mode in ["move", "restore"] {
        let output = ranks(&program, 1, mode, &[folder, "a"]);
        assert_eq!(lines(&output), lines(&alone), "{mode}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn descriptors_move() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("descriptors", "descriptors.c", &[]);
    let folder = |name: &str| {
        let folder = shop.0.join(name);
        std::fs::create_dir(&folder).expect("a folder of our own");
        folder.to_str().expect("a path that is text").to_owned()
    };
    let alone = folder("alone");
    let mut expected = BTreeMap::new();
    (0..3).for_each(|number| expected.extend(lines(&native(&program, number, &[&alone]))));
    assert_eq!(expected["2"].len(), 23, "{expected:?}");
    for mode in ["stay", "move", "restore"] {
        let output = ranks(&program, 3, mode, &[&folder(mode)]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(lines(&output), expected, "{mode}: {errors}");
        assert!(!errors.contains("held: "), "{mode}: {errors}");
    }
}

fn what_cannot_be_opened_again_holds_a_rank() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("held", "held.c", &[]);
    let folder = shop.0.to_str().expect("a path that is text");
    let output = ranks(&program, 1, "move", &[folder]);
    assert_eq!(lines(&output), lines(&native(&program, 0, &[folder])));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let held: Vec<&str> = errors.lines().collect();
    let expected = ["pipe:[", "socket:[", "held_0 (deleted)", "mapped 4096 bytes"];
    assert_eq!(held.len(), expected.len(), "{errors}");
    for (line, name) in held.iter().zip(expected) {
        assert!(line.starts_with("held: it has ") && line.contains(name), "{line}");
    }
}

fn ranks_wait_for_files_of_others() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let program = shop.build("waits", "waits.c", &[]);
    let output = ranks(&program, 5, "stay", &[shop.0.to_str().expect("a path that is text")]);
    let expected = ["seen by stat", "seen by open", "seen after select", "seen after poll", "made"];
    let expected = expected.map(|line| vec![line.to_owned()]).into_iter().enumerate();
    let expected: BTreeMap<String, Vec<String>> = expected.map(|(k, line)| (k.to_string(), line)).collect();
    assert_eq!(lines(&output), expected);
}

/// Programs that nobody here has compiled, with libraries of their own.
fn programs_of_the_system_run() {
    for (program, arguments) in [
        ("/usr/bin/echo", &["a", "b"][..]),
        ("/usr/bin/sort", &["--version"]),
        ("/usr/bin/ls", &["-d", "/usr"]),
    ] {
        let path = Path::new(program);
        if !path.exists() {
            eprintln!("skipped: there is no {program}");
            continue;
        }
        let alone = Command::new(path).args(["0"]).args(arguments).output().expect("it can be started");
        let rank = ranks(path, 1, "stay", arguments);
        assert_eq!(rank.stdout, alone.stdout, "{program}");
    }
}
