//! What is read, what is refused, and what is said about it.

use super::*;

const PI: Program = Program { name: "pi", package: "talisman-job", version: "1.2.3" };

#[derive(Parser, Debug, PartialEq)]
/// Computes a circle's number
struct Options {
    /// Slices of the integral
    #[arg(long, default_value_t = 1000)]
    slices: i32,
}

#[derive(Parser)]
struct Flattening {
    #[command(flatten)]
    run: RunArgs,
    #[arg(long)]
    slices: Option<i32>,
}

#[derive(Parser)]
struct Taking {
    /// The program's own seed
    #[arg(long, default_value_t = 5)]
    seed: u64,
}

fn read<A: ProgramArgs>(words: &[&str]) -> Result<(RunArgs, A), clap::Error> {
    parse_from(&PI, [&["pi"], words].concat())
}

fn refused<A: ProgramArgs>(words: &[&str]) -> clap::Error {
    read::<A>(words).err().expect("must be refused")
}

#[test]
fn both_kinds_of_options_are_read_in_any_order() {
    let (run, (options,)) =
        read::<(Options,)>(&["--pes", "3", "--slices", "7", "--seed", "9", "--progress"]).unwrap();
    let expected = RunArgs { pes: Some(3), seed: 9, progress: true, ..RunArgs::default() };
    assert_eq!((run, options), (expected, Options { slices: 7 }));
}

#[test]
fn a_program_without_options_has_the_defaults() {
    assert_eq!(read::<()>(&[]).unwrap().0, RunArgs::default());
}

#[test]
fn with_hosts_the_number_of_nodes_is_theirs_unless_given() {
    let nodes = |words: &[&str]| read::<()>(words).unwrap().0.nodes;
    assert_eq!(nodes(&["--hosts", "file"]), 0);
    assert_eq!(nodes(&["--hosts", "file", "--nodes", "1"]), 1);
}

#[test]
fn a_program_may_flatten_the_runtime_options_itself() {
    let (run, (own,)) = read::<(Flattening,)>(&["--nodes", "4", "--simulate", "--slices", "2"]).unwrap();
    assert_eq!((run.nodes, run.simulate, own.slices), (4, true, Some(2)));
    assert_eq!(own.run, run);
}

#[test]
fn a_name_the_program_uses_is_the_programs() {
    let (run, (own,)) = read::<(Taking,)>(&["--seed", "1", "--talisman-seed", "2"]).unwrap();
    assert_eq!((run.seed, own.seed), (2, 1));
}

#[test]
fn usage_errors_have_status_2_and_say_what_to_do() {
    for (words, said) in [
        (&["--pes", "0"][..], "at least one PE"),
        (&["--pes", "5000"], "at most 1024"),
        (&["--pes", "many"], "invalid value 'many' for '--pes <P>': write how many PEs each node has"),
        (&["--kill", "1@2s"], "--kill and --chaos"),
        (&["--nodes", "2000"], "at most 1024 processes"),
        (&["--kill", "1@noon"], "write for example 1@2s"),
        (&["--nodes", "2", "--kill", "0@2s,2@3s"], "the last one is 1"),
        (&["--silence", "10"], "write for example"),
        (&["--transport", "ofi"], "possible values: tcp, shm, unix, mixed"),
        (&["--listen", "here"], "invalid value 'here'"),
        (&["--slice", "3"], "--slices"),
    ] {
        let error = refused::<(Options,)>(words);
        assert_eq!(error.exit_code(), 2, "{words:?}");
        assert!(error.to_string().contains(said), "{words:?}: {error}");
    }
}

#[test]
fn help_shows_the_programs_options_first() {
    let help = refused::<(Options,)>(&["--help"]);
    assert_eq!(help.exit_code(), 0);
    let text = help.to_string();
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
    assert!(text.starts_with("Computes a circle's number"));
    let headings = [
        "Running",
        "Nodes and hosts",
        "Load balancing",
        "Fault tolerance",
        "Simulation",
        "Seeing what happens",
    ];
    let places = headings.map(|heading| place(&format!("\n{heading}:\n")));
    assert!(place("--slices") < places[0] && places.is_sorted(), "{text}");
    assert!(places[0] < place("--pes <P>") && place("--pes <P>") < places[1]);
    assert!(text.contains("[env: TALISMAN_PES]"));
    assert!(text.contains("Strategies: greedy, greedy-refine, "));
    assert!(!text.contains("--repack"), "testing options are hidden");
}

#[test]
fn in_the_short_help_each_option_has_a_line() {
    let text = refused::<(Options,)>(&["-h"]).to_string();
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "Running:").collect();
    let options = RunArgs::command_of_options();
    let shown: Vec<&Arg> = options.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    for option in &shown {
        let long = format!("--{}", option.get_long().expect("each has one"));
        let line = lines.iter().find(|line| line.split_whitespace().next() == Some(&*long));
        let line = line.unwrap_or_else(|| panic!("no line of {long} in {text}"));
        assert!(line.len() <= 100 && line.split_whitespace().count() > 3, "{line}");
    }
    let others = lines.iter().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"));
    assert_eq!(others.copied().collect::<Vec<_>>().len(), 6, "the headings: {text}");
}

/// For each option that takes a value, one that it cannot have, and what is said to be wanted.
const WRONG: [(&str, &str, &str); 30] = [
    ("nodes", "abc", "write how many nodes, from 1 to 65536, in decimal digits"),
    ("pes", "0x4", "write how many PEs each node has, from 1 to 1024, in decimal digits"),
    ("seed", "0x10", "write a number from 0 to 18446744073709551615, in decimal digits"),
    ("transport", "ofi", "possible values: tcp, shm, unix, mixed"),
    ("listen", "here", "write an IP address, for example 192.168.1.5"),
    ("dashboard", "nowhere", "write for example 127.0.0.1:0, or a port alone"),
    ("silence", "10", "write for example 250ms, 2s"),
    ("balancer", "greed", "greedy-refine"),
    ("lb-every", "often", "neither `sync` nor `auto` nor a time such as 250ms"),
    ("node-memory", "4XB", "write for example 4096, 64KiB"),
    ("pe-speeds", "fast", "write one of 0.001 to 1000"),
    ("log-budget", "10x", "64KiB"),
    ("ft", "triple", "possible values: off, double, disk, logging"),
    ("ckpt-every", "10", "a number of steps such as 100steps"),
    ("mtbf", "hour", "write for example 250ms, 2s"),
    ("spares", "some", "write how many processes wait, from 0 to 1023, in decimal digits"),
    ("max-nodes", "1e3", "write the most nodes there may be, from --nodes to 1024, in decimal digits"),
    ("kill", "1@noon", "write for example 1@2s or 1@step40"),
    ("chaos", "5s", "write for example mtbf=5s,seed=3"),
    ("hosts", "", "a value is required"),
    ("ckpt-dir", "", "a value is required"),
    ("ckpt-key", "", "a value is required"),
    ("restart", "", "a value is required"),
    ("report", "", "a value is required"),
    ("record", "", "a value is required"),
    ("trace", "", "a value is required"),
    ("trace-window", "20s..10s", "write for example 10s..20s"),
    ("trace-every", "10s/1s", "write for example 200ms/10s"),
    ("trace-size", "10x", "64KiB"),
    ("log", "talisman::balance=loud", "`loud` is no level; write a level (off, error, "),
];

#[test]
fn what_is_no_fault_tolerance_is_told_what_there_is_and_the_nearest() {
    for (wrong, nearest) in [
        ("logging:x", "logging"),
        ("loging", "logging"),
        ("logging:tickets", "logging:ticket"),
        ("logging:strickt", "logging:strict"),
    ] {
        let text = refused::<()>(&["--ft", wrong]).to_string();
        assert!(text.contains("off, double, disk, logging, logging:strict, logging:ticket"), "{text}");
        assert!(text.contains(&format!("'{nearest}'")), "{wrong}: {text}");
    }
}

#[test]
fn a_wrong_value_is_said_with_its_option_and_what_is_wanted() {
    for (option, value, wanted) in WRONG {
        let text = refused::<()>(&[&format!("--{option}"), value]).to_string();
        assert!(text.contains(&format!("--{option}")) && text.contains(value), "{option}: {text}");
        assert!(text.contains(wanted), "{option}: {text}");
    }
    let options = RunArgs::command_of_options();
    let takes = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_hide_set();
    for option in options.get_arguments().filter(takes).filter_map(Arg::get_long) {
        assert!(
            option == "lb-dump" || WRONG.iter().any(|(known, ..)| *known == option),
            "{option} is not tried"
        );
    }
}

#[test]
fn a_negative_number_is_a_wrong_value() {
    for option in
        ["nodes", "pes", "seed", "spares", "max-nodes", "silence", "mtbf", "node-memory", "pe-speeds"]
    {
        let text = refused::<()>(&[&format!("--{option}"), "-1"]).to_string();
        assert!(text.contains("invalid value '-1' for '--") && text.contains(option), "{text}");
    }
    assert!(refused::<(Taking,)>(&["--talisman-seed", "-1"]).to_string().contains("'--talisman-seed <S>'"));
}

/// Options that change nothing as they stand there, and what is said of each; whether they are refused.
const IDLE: [(&[&str], &str, bool); 26] = [
    (&["--trace-window", "1s..2s"], "--trace-window has no effect: without --trace", true),
    (&["--trace-every", "1ms/2s"], "--trace-every has no effect: without --trace", true),
    (&["--trace-size", "1MiB"], "--trace-size has no effect: without --trace", true),
    (&["--mtbf", "1h"], "--mtbf has no effect: without --ft", true),
    (
        &["--mtbf", "1h", "--ft", "double", "--nodes", "2", "--ckpt-every", "10s"],
        "only --ckpt-every auto",
        true,
    ),
    (&["--node-memory", "1GiB"], "--node-memory has no effect: without --balancer", true),
    (&["--pe-speeds", "1,2"], "--pe-speeds has no effect: without --balancer", true),
    (&["--lb-every", "auto"], "--lb-every has no effect: without --balancer", true),
    (&["--lb-dump", "."], "--lb-dump has no effect: without --balancer", true),
    (&["--lb-log"], "--lb-log has no effect: without --balancer", false),
    (&["--node-memory", "1GiB", "--balancer", "off"], "--node-memory has no effect", false),
    (&["--ft-log"], "--ft-log has no effect: without --ft", false),
    (&["--tls"], "--tls has no effect: the whole job is one process", true),
    (&["--tls", "--simulate"], "--tls has no effect", true),
    (&["--tls", "--nodes", "2"], "add --transport tcp", true),
    (&["--listen", "127.0.0.2", "--nodes", "2"], "--listen has no effect: the nodes of one host", false),
    (&["--silence", "5s"], "--silence has no effect: the whole job is one process", false),
    (&["--label-output"], "--label-output has no effect", false),
    (&["--transport", "tcp"], "--transport has no effect", false),
    (&["--restart", "f", "--seed", "1"], "--seed has no effect: with --restart", false),
    (&["--ckpt-dir", "f", "--ft", "disk", "--simulate"], "--ckpt-dir has no effect: simulated nodes", false),
    (&["--ckpt-dir", "f", "--ft", "double"], "--ckpt-dir has no effect: a job that is one process", false),
    (&["--ckpt-every", "10s"], "--ckpt-every: checkpoints are for", true),
    (&["--ckpt-dir", "f"], "--ckpt-dir: without --ft", true),
    (&["--respawn", "--nodes", "2"], "--respawn: without --ft", true),
    (&["--max-nodes", "3"], "--max-nodes: nodes are added at a checkpoint", true),
];

#[test]
fn an_option_without_effect_is_said() {
    let can_encrypt = cfg!(feature = "tls");
    for (words, said, is_refused) in
        IDLE.into_iter().filter(|(words, ..)| can_encrypt || !words.contains(&"--tls"))
    {
        match read_from::<()>(&PI, [&["pi"], words].concat()) {
            Ok(Read { notes, .. }) => {
                let notes: Vec<String> =
                    notes.into_iter().filter(|note| note.contains(" has no effect")).collect();
                assert!(!is_refused && notes.len() == 1 && notes[0].contains(said), "{words:?}: {notes:?}");
            }
            Err(error) => assert!(is_refused && error.to_string().contains(said), "{words:?}: {error}"),
        }
    }
}

#[test]
fn nothing_is_said_of_options_that_have_one() {
    for words in [
        &["--nodes", "2", "--transport", "tcp", "--tls", "--listen", "127.0.0.2", "--silence", "5s"][..],
        &["--nodes", "2", "--ft", "double", "--respawn", "--tls", "--mtbf", "1h", "--ft-log"],
        &[
            "--balancer",
            "greedy",
            "--lb-every",
            "auto",
            "--lb-log",
            "--node-memory",
            "1GiB",
            "--pe-speeds",
            "1,2",
        ],
        &["--nodes", "2", "--record", "folder", "--trace", "job.pftrace", "--trace-window", "1s..2s"],
        &["--hosts", "file", "--tls"],
        &["--nodes", "2", "--transport", "mixed", "--tls", "--label-output"],
        &["--nodes", "1", "--pes", "2", "--seed", "3", "--transport", "shm"],
    ] {
        if words.contains(&"--tls") && cfg!(not(feature = "tls")) {
            continue;
        }
        let read = read_from::<()>(&PI, [&["pi"], words].concat()).unwrap_or_else(|error| panic!("{error}"));
        let idle = read.notes.iter().find(|note| note.contains(" has no effect"));
        assert_eq!(idle, None, "{words:?}");
    }
}

#[test]
fn options_that_a_restart_does_not_read_are_said() {
    let notes = |words: &[&str]| {
        let read = read_from::<(Options,)>(&PI, [&["pi"], words].concat());
        read.unwrap_or_else(|error| panic!("{error}")).notes.join("\n")
    };
    assert!(notes(&["--restart", "f", "--slices", "7"]).contains("not read: --slices"));
    assert!(!notes(&["--restart", "f"]).contains("not read"));
    assert!(!notes(&["--slices", "7"]).contains("not read"));
}

#[test]
fn errors_call_options_as_the_program_has_them() {
    #[derive(Parser)]
    struct Nodes {
        #[arg(long)]
        nodes: Option<u32>,
    }
    let error = refused::<(Nodes,)>(&["--talisman-nodes", "0"]).to_string();
    assert!(error.contains("--talisman-nodes 0: a job has at least one node"), "{error}");
    assert_eq!(read::<(Nodes,)>(&["--nodes", "0"]).unwrap().1.0.nodes, Some(0));
}

#[test]
fn the_version_names_the_binary_not_its_package() {
    let version = refused::<(Options,)>(&["--version"]);
    assert_eq!((version.exit_code(), version.to_string().as_str()), (0, "pi 1.2.3\n"));
}

#[test]
fn the_command_line_is_consistent() {
    command::<()>(&PI).debug_assert();
    command::<(Options,)>(&PI).debug_assert();
    command::<(Flattening,)>(&PI).debug_assert();
    command::<(Taking,)>(&PI).debug_assert();
}

#[test]
fn every_option_has_a_variable_and_is_in_the_list() {
    let command = RunArgs::augment_args(Command::new("any"));
    let found: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
    assert_eq!(found, IDS);
    for arg in command.get_arguments() {
        let variable = arg.get_id().as_str().to_uppercase().replace('-', "_");
        assert_eq!(arg.get_env().and_then(|name| name.to_str()), Some(variable.as_str()));
    }
}

/// Not a test by itself: run as a child process, whose environment is its own.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    // No other thread reads the environment now: this process runs this test alone.
    crate::variables::unset_empty_ones();
    let words = ["pi", "--seed", "2"];
    let Read { run, notes, .. } = read_from::<()>(&PI, words).unwrap_or_else(|error| error.exit());
    println!("{:?} {} {} {}", run.pes, run.seed, run.progress, run.simulate);
    notes.iter().for_each(|note| println!("{note}"));
}

const CHILD: &str = "TALISMAN_TEST_COMMAND_LINE";

/// The status of such a process, and what it prints.
fn child_with(variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["command_line::tests::child", "--exact", "--nocapture"]).env(CHILD, "1");
    let done = child.envs(variables.iter().copied()).output().unwrap();
    (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
}

#[test]
fn variables_are_read_and_the_command_line_wins() {
    let variables = [
        ("TALISMAN_PES", "3"),
        ("TALISMAN_SEED", "1"),
        ("TALISMAN_PROGRESS", "1"),
        ("TALISMAN_SIMULATE", "0"),
    ];
    let (status, text) = child_with(&variables);
    assert!(status == Some(0) && text.contains("Some(3) 2 true false"), "{status:?} {text}");
}

#[test]
fn a_wrong_variable_is_a_usage_error_that_names_it() {
    for (option, value, wanted) in WRONG.iter().filter(|(_, value, _)| !value.is_empty()) {
        let variable = format!("TALISMAN_{}", option.to_uppercase().replace('-', "_"));
        let (status, said) = child_with(&[(&variable, value)]);
        if *option == "seed" {
            // The command line wins: nobody reads it.
            assert_eq!(status, Some(0), "{said}");
            continue;
        }
        assert_eq!(status, Some(2), "{variable}: {said}");
        assert!(said.contains(&variable) && said.contains(wanted), "{variable}: {said}");
    }
    let (status, said) = child_with(&[("TALISMAN_PES", "0")]);
    assert!(status == Some(2) && said.contains("--pes is from TALISMAN_PES"), "{said}");
    let options = RunArgs::command_of_options();
    let switches = options.get_arguments().filter(|option| !option.get_action().takes_values());
    for variable in switches.filter_map(|option| option.get_env()?.to_str()) {
        let (status, said) = child_with(&[(variable, "perhaps")]);
        assert!(
            status == Some(2) && said.contains(variable) && said.contains("write 1 or 0"),
            "{variable}: {said}"
        );
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let options = RunArgs::command_of_options();
    let names = options.get_arguments().filter_map(|option| option.get_env()?.to_str());
    let empty: Vec<(&str, &str)> = names.map(|name| (name, "")).collect();
    let (status, said) = child_with(&empty);
    assert!(status == Some(0) && said.contains("None 2 false false"), "{said}");
}

#[test]
fn variables_that_nothing_reads_are_said() {
    let (status, said) = child_with(&[("TALISMAN_PE", "3"), ("TALISMAN_SSH", "-4"), ("TALISMAN_COLOUR", "")]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("TALISMAN_PE is set, and nothing reads it; is it to be TALISMAN_PES?"), "{said}");
    assert!(!said.contains("TALISMAN_SSH is set") && !said.contains("TALISMAN_COLOUR"), "{said}");
}

#[test]
fn a_variable_without_effect_refuses_nothing() {
    let variables = [("TALISMAN_MTBF", "1h"), ("TALISMAN_NODE_MEMORY", "1GiB"), ("TALISMAN_LB_LOG", "0")];
    let (status, said) = child_with(&variables);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("--mtbf has no effect") && said.contains("--mtbf is from TALISMAN_MTBF"), "{said}");
    assert!(said.contains("--node-memory has no effect") && !said.contains("--lb-log"), "{said}");
}
