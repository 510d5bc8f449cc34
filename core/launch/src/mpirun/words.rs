//! The words of other systems' `mpirun`, as ours has them.

use std::ffi::{OsStr, OsString};
use std::ops::Not;
use std::path::Path;

use clap::Arg;

use super::hosts::LIST;

/// Names by which `talisman` is called to be `talisman mpirun`.
const NAMES: [&str; 2] = ["mpirun", "mpiexec"];

/// What other systems' words are here: nothing for those that mean nothing on virtual ranks.
const WORDS: &[(&[&str], Option<&str>)] = &[
    (&["-np", "--np", "--n", "-c"], Some("-n")),
    (&["--x"], Some("-x")),
    (&["-wdir", "-wd", "--wd"], Some("--wdir")),
    (&["-hostfile", "--hostfile", "-machinefile", "--machinefile", "-machine", "-f"], Some("--hosts")),
    (&["-l", "-prepend-rank", "-tag-output", "--tag-output"], Some("--label-output")),
    (&["-version", "-V"], Some("--version")),
    (&["-oversubscribe", "--oversubscribe", "-nooversubscribe", "--nooversubscribe"], None),
    (&["-allow-run-as-root", "--allow-run-as-root"], None),
    (&["-use-hwthread-cpus", "--use-hwthread-cpus", "-report-bindings", "--report-bindings"], None),
    (
        &[
            "-bind-to-core",
            "--bind-to-core",
            "-bycore",
            "--bycore",
            "-bynode",
            "--bynode",
            "-byslot",
            "--byslot",
        ],
        None,
    ),
    (&["-display-map", "--display-map", "-display-allocation", "--display-allocation"], None),
    (&["-q", "-quiet", "--quiet", "-v", "-verbose", "--verbose", "-print-all-exitcodes"], None),
    (&["-genvall", "-envall"], None),
];

/// Where processes are placed and how they are connected: words with so many values, which mean nothing on virtual ranks.
const PLACING: [(&[&str], usize); 4] = [
    (&["-bind-to", "--bind-to", "-map-by", "--map-by", "-rank-by", "--rank-by"], 1),
    (&["-ppn", "-perhost", "-npernode", "--npernode", "-N", "-npersocket", "--npersocket"], 1),
    (&["-prefix", "--prefix", "-iface", "-launcher", "-bootstrap", "-rmk", "-genvlist", "-envlist"], 1),
    (&["-mca", "--mca", "-gmca", "--gmca"], 2),
];

/// `-env NAME VALUE`, as MPICH has it.
const VARIABLE: [&str; 2] = ["-env", "-genv"];

/// Hosts themselves, with commas between. `--hosts` is our own option, whose value is a file.
const HOSTS: [&str; 4] = ["-hosts", "-host", "--host", "-H"];

/// Whether a command of this name is `talisman mpirun`.
pub fn is_name(command: &OsStr) -> bool {
    Path::new(command).file_name().is_some_and(|name| NAMES.iter().any(|own| name == *own))
}

/// Words of a command line with others' options as ours, and `--` before the program: what follows is its own.
pub fn as_options<'a>(
    words: impl IntoIterator<Item = OsString>,
    options: impl Iterator<Item = &'a Arg>,
) -> Vec<OsString> {
    let with_values: Vec<String> =
        options.filter(|option| option.get_action().takes_values()).flat_map(names).collect();
    let (mut out, mut words): (Vec<OsString>, _) = (Vec::new(), words.into_iter());
    while let Some(word) = words.next() {
        let is_option = word.as_encoded_bytes().starts_with(b"-");
        if word == "--" || !is_option {
            out.push("--".into());
            out.extend(is_option.not().then_some(word));
            break;
        }
        if VARIABLE.iter().any(|own| word == *own) {
            let (name, value) = (words.next(), words.next());
            out.push("-x".into());
            out.extend(name.map(|name| joined(name, value)));
            continue;
        }
        if HOSTS.iter().any(|own| word == *own) {
            out.push("--hosts".into());
            out.extend(words.next().map(listed));
            continue;
        }
        if let Some((_, values)) = PLACING.iter().find(|(names, _)| names.iter().any(|name| word == *name)) {
            words.by_ref().take(*values).for_each(drop);
            continue;
        }
        let Some(own) = own_word(word) else { continue };
        let takes_value = with_values.iter().any(|name| own == **name);
        out.push(own);
        if takes_value {
            out.extend(words.next());
        }
    }
    out.extend(words);
    out
}

fn joined(mut name: OsString, value: Option<OsString>) -> OsString {
    if let Some(value) = value {
        name.push("=");
        name.push(value);
    }
    name
}

fn listed(hosts: OsString) -> OsString {
    let mut list = OsString::from(LIST);
    list.push(hosts);
    list
}

fn own_word(word: OsString) -> Option<OsString> {
    let row = WORDS.iter().find(|(theirs, _)| theirs.iter().any(|theirs| word == *theirs));
    row.map_or(Some(word), |(_, own)| own.map(OsString::from))
}

/// As an option is written.
fn names(option: &Arg) -> Vec<String> {
    let long = option.get_long().map(|long| format!("--{long}"));
    let short = option.get_short().map(|short| format!("-{short}"));
    long.into_iter().chain(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_ours_before_the_program_only() {
        let options = [
            Arg::new("n").short('n'),
            Arg::new("x").short('x'),
            Arg::new("wdir").long("wdir"),
            Arg::new("nodes").long("nodes"),
            Arg::new("hosts").long("hosts"),
            Arg::new("tls").long("tls").action(clap::ArgAction::SetTrue),
        ];
        let read = |words: &str| {
            let words = words.split(' ').map(OsString::from);
            as_options(words, options.iter()).join(OsStr::new(" ")).into_string().expect("letters")
        };
        for (words, expected) in [
            ("-np 4 prog -np 3 -wdir x", "-n 4 -- prog -np 3 -wdir x"),
            ("--nodes 2 -n 4 --tls prog -l", "--nodes 2 -n 4 --tls -- prog -l"),
            ("-np 4 -- -prog -np 3", "-n 4 -- -prog -np 3"),
            ("-x A=1 -x B -wdir /tmp prog", "-x A=1 -x B --wdir /tmp -- prog"),
            ("-genv A 1 -env B 2 prog -env C 3", "-x A=1 -x B=2 -- prog -env C 3"),
            ("--oversubscribe -hostfile h prog", "--hosts h -- prog"),
            ("-l -f h prog -f x", "--label-output --hosts h -- prog -f x"),
            ("-hosts a:2,b -n 2 prog -host c", "--hosts list:a:2,b -n 2 -- prog -host c"),
            ("-host a -H b prog", "--hosts list:a --hosts list:b -- prog"),
            ("--nodes=2 -np 3 prog", "--nodes=2 -n 3 -- prog"),
            ("-np", "-n"),
            ("--map-by node -mca btl tcp,self --bind-to none -n 2 prog --mca a b", "-n 2 -- prog --mca a b"),
            ("--mca btl", ""),
            ("-npernode 2 --use-hwthread-cpus -q -iface eth0 -c 3 prog -q", "-n 3 -- prog -q"),
            ("-version", "--version"),
        ] {
            assert_eq!(read(words), expected);
        }
    }

    #[test]
    fn the_command_has_three_names() {
        for (command, is_one) in
            [("mpirun", true), ("/usr/bin/mpiexec", true), ("talisman", false), ("./mpirun2", false)]
        {
            assert_eq!(is_name(OsStr::new(command)), is_one, "{command}");
        }
    }
}
