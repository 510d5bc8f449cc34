//! Hosts as other systems' `mpirun` is given them, as the runtime reads them.
//!
//! Files of MPICH have lines as `host:2 user=eve`, those of Open MPI as `host slots=2 max_slots=4`; lists are
//! `host:2,other`. A host that is there several times has the sum of its slots. Lines of the runtime's own kind are
//! among these.

use std::fs;
use std::path::Path;

use talisman_control::hosts::Hosts;
pub use talisman_control::hosts::LIST;
use talisman_control::slurm::{self, SLURM};

/// Hosts in the runtime's own words, and how many slots they have in all.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    /// For `--hosts`.
    pub value: String,
    /// Of all hosts.
    pub slots: u32,
}

/// A host as one or more lines have it.
struct Line<'a> {
    name: &'a str,
    slots: u32,
    /// What the runtime reads itself.
    others: Vec<&'a str>,
}

/// Reads what `--hosts` was given: a file, a [list](LIST), or that they are those of the Slurm allocation.
///
/// # Errors
/// If the file cannot be read, or a line has what means nothing here; there is no allocation.
pub fn of(value: &Path) -> Result<Given, String> {
    let list = value.to_str().and_then(|value| value.strip_prefix(LIST));
    let named = list.map_or_else(|| value.display().to_string(), String::from);
    let of = |error: &dyn std::fmt::Display| format!("the hosts {named}: {error}");
    if value.as_os_str() == SLURM {
        // How programs are started there is found out again by the runtime.
        let hosts = slurm::hosts(false, |name| std::env::var(name).ok()).map_err(|error| of(&error))?;
        return Ok(Given { value: SLURM.into(), slots: hosts.slots() });
    }
    let text = match list {
        Some(list) => list.replace(',', "\n"),
        None => fs::read_to_string(value).map_err(|error| of(&error))?,
    };
    read(&text).map_err(|why| of(&why))
}

fn read(text: &str) -> Result<Given, String> {
    let mut hosts: Vec<Line<'_>> = Vec::new();
    for text in text.trim_start_matches('\u{feff}').lines() {
        let mut words = text.split('#').next().unwrap_or_default().split_whitespace();
        let Some(name) = words.next() else { continue };
        let line = line(name, words)?;
        match hosts.iter_mut().find(|host| host.name == line.name && host.others == line.others) {
            Some(host) => host.slots = host.slots.saturating_add(line.slots),
            None => hosts.push(line),
        }
    }
    let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.slots));
    let lines: Vec<String> = hosts.iter().map(Line::text).collect();
    // Looked at here already, where it is known how they were given.
    Hosts::parse(&lines.join("\n")).map_err(|error| error.to_string())?;
    Ok(Given { value: format!("{LIST}{}", lines.join(",")), slots })
}

fn line<'a>(name: &'a str, words: impl Iterator<Item = &'a str>) -> Result<Line<'a>, String> {
    let (name, count) = match name.split_once(':') {
        // More of them are in an address.
        Some((name, count)) if !count.contains(':') => (name, Some(number(name, count)?)),
        _ => (name, None),
    };
    let mut line = Line { name, slots: count.unwrap_or(1), others: Vec::new() };
    for word in words {
        let key = word.split_once('=').map_or(word, |(key, _)| key);
        let value = word.strip_prefix(key).and_then(|word| word.strip_prefix('='));
        match (key, value) {
            ("slots" | "cpus" | "cpu" | "count", Some(value)) => line.slots = number(word, value)?,
            // More processes than slots there are never.
            ("max_slots" | "max-slots" | "slots_max" | "slots-max", Some(_)) => {}
            _ if word.contains(',') => return Err(format!("`{word}` has a comma in it")),
            _ => line.others.push(word),
        }
    }
    Ok(line)
}

fn number(word: &str, value: &str) -> Result<u32, String> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{word}`: give a number of slots, not `{value}`"))
}

impl Line<'_> {
    fn text(&self) -> String {
        let slots = format!("slots={}", self.slots);
        [&[self.name, &slots][..], &self.others].concat().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_read() {
        for (text, value, slots) in [
            ("alpha:2\nbeta # big\n\n# none\n", "list:alpha slots=2,beta slots=1", 3),
            ("alpha slots=2 max_slots=8\nbeta count=3", "list:alpha slots=2,beta slots=3", 5),
            ("alpha\nbeta\nalpha\nalpha:2", "list:alpha slots=4,beta slots=1", 5),
            ("a slots=2 address=10.0.0.1 user=u", "list:a slots=2 address=10.0.0.1 user=u", 2),
            (
                "localhost address=127.0.0.1\nlocalhost address=127.0.0.2",
                "list:localhost slots=1 address=127.0.0.1,localhost slots=1 address=127.0.0.2",
                2,
            ),
            ("fe80::1%eth0", "list:fe80::1%eth0 slots=1", 1),
        ] {
            assert_eq!(read(text), Ok(Given { value: value.into(), slots }), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for (text, said) in [
            ("a:0", "`0`"),
            ("a:many", "`many`"),
            ("a slots=-1", "`slots=-1`"),
            ("a user=x,y", "comma"),
            ("", "no host"),
            ("a b", "`b`"),
        ] {
            assert!(read(text).unwrap_err().contains(said), "{text}");
        }
        assert!(of(Path::new("no/such/hosts")).unwrap_err().contains("no/such/hosts"));
    }

    #[test]
    fn lists_are_hosts() {
        let given = of(Path::new("list:a:2,b,a")).unwrap();
        assert_eq!((&*given.value, given.slots), ("list:a slots=3,b slots=1", 4));
    }
}
