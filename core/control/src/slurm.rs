//! The hosts that a Slurm allocation has, from the variables Slurm sets in it.
//!
//! Node lists are written `rack[0-1]node[01-03,7],login`, slots `4(x2),1`: see "Hostlist" in Slurm's `scontrol(1)` and
//! `SLURM_TASKS_PER_NODE` in `sbatch(1)`. Pure: the variables are given as a function.

use crate::hosts::{Host, Hosts, HostsError, LineError};
use talisman_job::options::NODES_MAX;

/// What `--hosts` is given instead of a file to mean the allocation.
pub const SLURM: &str = "slurm";

/// Most hosts of an allocation: each has at least one node.
const HOSTS_MAX: usize = NODES_MAX as usize;

/// The hosts of the allocation this process runs in. Slots are Slurm's tasks per host, one where it does not say.
///
/// # Errors
/// There is no allocation, or its variables cannot be read.
pub fn hosts(variable: impl Fn(&str) -> Option<String>) -> Result<Hosts, SlurmError> {
    let given = |name| variable(name).filter(|value| !value.trim().is_empty());
    let list = given("SLURM_JOB_NODELIST").or_else(|| given("SLURM_NODELIST")).ok_or(SlurmError::None)?;
    let names = expand(&list)?;
    if let Some(count) = given("SLURM_NNODES").or_else(|| given("SLURM_JOB_NUM_NODES"))
        && count.trim().parse() != Ok(names.len())
    {
        return Err(SlurmError::Count { list, names: names.len(), count });
    }
    let tasks = given("SLURM_TASKS_PER_NODE").map(|tasks| slots(&tasks)).transpose()?;
    let slots = tasks.unwrap_or_else(|| vec![1; names.len()]);
    if slots.len() != names.len() {
        return Err(SlurmError::Slots { slots: slots.len(), names: names.len() });
    }
    let host = |(name, slots)| Host::named(name).map(|host| Host { slots, ..host });
    let hosts: Result<Vec<Host>, LineError> = names.iter().map(String::as_str).zip(slots).map(host).collect();
    Ok(Hosts::new(hosts?)?)
}

/// The names of a node list: `a[1-2]b,c` is `a1b`, `a2b`, `c`.
fn expand(list: &str) -> Result<Vec<String>, SlurmError> {
    let mut names = Vec::new();
    for pattern in split_outside_brackets(list.trim()) {
        let pattern = pattern.trim();
        let expanded = expand_pattern(pattern).filter(|found| names.len() + found.len() <= HOSTS_MAX);
        names.extend(expanded.ok_or_else(|| SlurmError::List { list: list.into(), part: pattern.into() })?);
    }
    Ok(names)
}

/// The parts between the commas that are not within brackets.
fn split_outside_brackets(list: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    list.split(move |c| {
        inside = (inside || c == '[') && c != ']';
        c == ',' && !inside
    })
}

/// All names of one pattern, the last bracket changing fastest; none if it is malformed or means too many.
fn expand_pattern(pattern: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = pattern.split_once('[') else {
        let fits = !pattern.is_empty() && !pattern.contains(']');
        return fits.then(|| vec![pattern.to_owned()]);
    };
    let (ranges, after) = rest.split_once(']')?;
    if before.contains(']') || ranges.contains('[') {
        return None;
    }
    let numbers = expand_ranges(ranges)?;
    let endings = if after.is_empty() { vec![String::new()] } else { expand_pattern(after)? };
    if numbers.len().checked_mul(endings.len())? > HOSTS_MAX {
        return None;
    }
    let with =
        |number: &String| endings.iter().map(|end| format!("{before}{number}{end}")).collect::<Vec<_>>();
    Some(numbers.iter().flat_map(with).collect())
}

/// `01-03,7` is `01`, `02`, `03`, `7`: the width of a range's beginning is kept.
fn expand_ranges(ranges: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (number(first)?, number(last)?);
        let count = to.checked_sub(from)?.checked_add(1)?;
        if numbers.len() as u64 + count > HOSTS_MAX as u64 {
            return None;
        }
        numbers.extend((from..=to).map(|number| format!("{number:0width$}", width = first.len())));
    }
    Some(numbers)
}

/// Digits only: `parse` alone would take a sign.
fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Tasks on each host: `4(x2),1` is 4, 4, 1.
fn slots(tasks: &str) -> Result<Vec<u32>, SlurmError> {
    let mut slots = Vec::new();
    for part in tasks.trim().split(',') {
        let repeated = repeated(part).filter(|(_, times)| slots.len() + times <= HOSTS_MAX);
        let (count, times) = repeated.ok_or_else(|| SlurmError::Tasks { tasks: tasks.into() })?;
        slots.extend(std::iter::repeat_n(count, times));
    }
    Ok(slots)
}

fn repeated(part: &str) -> Option<(u32, usize)> {
    let (count, times) = match part.split_once("(x") {
        Some((count, times)) => (count, number(times.strip_suffix(')')?)?),
        None => (part, 1),
    };
    let count = u32::try_from(number(count)?).ok().filter(|count| (1..=NODES_MAX).contains(count))?;
    Some((count, usize::try_from(times).ok()?))
}

/// Why a Slurm allocation's hosts are not known; a usage error (status 2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlurmError {
    /// Not inside an allocation.
    #[error("SLURM_JOB_NODELIST is not set: `--hosts slurm` works inside an allocation (sbatch, salloc)")]
    None,
    /// A node list that cannot be read.
    #[error(
        "SLURM_JOB_NODELIST={list}: `{part}` is no list of at most {HOSTS_MAX} hosts, such as node[01-04,7]"
    )]
    List {
        /// The whole list.
        list: String,
        /// The part that cannot be read.
        part: String,
    },
    /// The list and the number of hosts contradict each other.
    #[error("SLURM_JOB_NODELIST={list} has {names} hosts, but SLURM_NNODES={count}")]
    Count {
        /// The whole list.
        list: String,
        /// Hosts in it.
        names: usize,
        /// What the other variable says.
        count: String,
    },
    /// Tasks per host that cannot be read.
    #[error("SLURM_TASKS_PER_NODE={tasks}: not as in 4(x2),1")]
    Tasks {
        /// The variable's value.
        tasks: String,
    },
    /// The list and the tasks contradict each other.
    #[error("SLURM_TASKS_PER_NODE is for {slots} hosts, SLURM_JOB_NODELIST has {names}")]
    Slots {
        /// Hosts in the one.
        slots: usize,
        /// Hosts in the other.
        names: usize,
    },
    /// A name that cannot be a host's.
    #[error("SLURM_JOB_NODELIST: {0}")]
    Name(#[from] LineError),
    /// The hosts as a whole cannot be.
    #[error("SLURM_JOB_NODELIST: {0}")]
    Hosts(#[from] HostsError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(list: &str) -> String {
        expand(list).unwrap().join(" ")
    }

    #[test]
    fn lists_are_expanded_in_order() {
        assert_eq!(expanded("a"), "a");
        assert_eq!(expanded("a,b7,c"), "a b7 c");
        assert_eq!(expanded("node[1-3]"), "node1 node2 node3");
        assert_eq!(expanded("node[08-11,3],login"), "node08 node09 node10 node11 node3 login");
        assert_eq!(expanded("r[0-1]n[1,3]x"), "r0n1x r0n3x r1n1x r1n3x");
        assert_eq!(expanded("n[098-101].site"), "n098.site n099.site n100.site n101.site");
    }

    #[test]
    fn lists_that_cannot_be_are_refused() {
        let all =
            ["", "a,", "a[", "a]", "a[1", "a[]", "a[1-]", "a[3-1]", "a[x]", "a[1[2]]", "a]b[1]", "a[+1]"];
        for list in all {
            assert!(matches!(expand(list), Err(SlurmError::List { .. })), "{list:?}");
        }
    }

    #[test]
    fn lists_that_mean_too_many_hosts_take_no_memory() {
        for list in
            ["a[0-99999999999999999999]", "a[0-18446744073709551615]", "a[1-65537]", "a[1-999]b[1-999]"]
        {
            assert!(matches!(expand(list), Err(SlurmError::List { .. })), "{list:?}");
        }
        assert!(matches!(slots("1(x99999999999)"), Err(SlurmError::Tasks { .. })));
    }

    #[test]
    fn tasks_are_repeated() {
        assert_eq!(slots("4(x2),1"), Ok(vec![4, 4, 1]));
        assert_eq!(slots("12"), Ok(vec![12]));
        for tasks in ["", "0", "4(x", "4(2)", "-1", "4,", "4(x2"] {
            assert!(slots(tasks).is_err(), "{tasks:?}");
        }
    }

    fn with(variables: &[(&str, &str)]) -> Result<Hosts, SlurmError> {
        hosts(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn an_allocation_becomes_hosts_with_slots() {
        let list = ("SLURM_JOB_NODELIST", "n[1-2],m");
        let found = with(&[list, ("SLURM_NNODES", "3"), ("SLURM_TASKS_PER_NODE", "2(x2),1")]);
        assert_eq!(found, Ok(Hosts::parse("n1 slots=2\nn2 slots=2\nm").unwrap()));
        assert_eq!(with(&[list]).unwrap().slots(), 3);
    }

    #[test]
    fn contradictions_are_told() {
        let list = ("SLURM_JOB_NODELIST", "n[1-2]");
        assert_eq!(with(&[]), Err(SlurmError::None));
        assert_eq!(with(&[("SLURM_JOB_NODELIST", " ")]), Err(SlurmError::None));
        assert!(matches!(with(&[list, ("SLURM_NNODES", "3")]), Err(SlurmError::Count { names: 2, .. })));
        let tasks = with(&[list, ("SLURM_TASKS_PER_NODE", "1")]);
        assert_eq!(tasks, Err(SlurmError::Slots { slots: 1, names: 2 }));
        assert!(matches!(with(&[("SLURM_JOB_NODELIST", "-x")]), Err(SlurmError::Name(_))));
        assert!(matches!(with(&[("SLURM_JOB_NODELIST", "a,a")]), Err(SlurmError::Hosts(_))));
    }
}
