//! The hosts that a Slurm allocation has, from the variables Slurm sets in it.
//!
//! Node lists are written `rack[0-1]node[01-03,7],login`, slots `4(x2),1`: see "Hostlist" in Slurm's `scontrol(1)` and
//! `SLURM_TASKS_PER_NODE` in `sbatch(1)`. Pure: the variables are given as a function.
//!
//! Within a step (`srun`) variables without `JOB` in their names are the step's, but for `SLURM_NODELIST`.

use crate::hosts::{Host, Hosts, HostsError, LineError, Login};
use talisman_job::options::NODES_MAX;
use talisman_job::variables::SSH_VARIABLE;

/// What `--hosts` is given instead of a file to mean the allocation.
pub const SLURM: &str = "slurm";

/// Most hosts of an allocation: each has at least one node.
const HOSTS_MAX: usize = NODES_MAX as usize;

/// The hosts of the allocation this process runs in. Slots are Slurm's tasks per host, one where it does not say. Programs
/// are started there by `srun`, or by ssh if there are options for that, or what is said to them has to be encrypted: `srun`
/// does not do that.
///
/// # Errors
/// There is no allocation, its variables cannot be read, or this is one of several tasks.
pub fn hosts(encrypted: bool, variable: impl Fn(&str) -> Option<String>) -> Result<Hosts, SlurmError> {
    let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let list = given("SLURM_JOB_NODELIST").or_else(|| given("SLURM_NODELIST")).ok_or(SlurmError::None)?;
    check_is_alone(given)?;
    let names = expand(&list)?;
    let count = |name| given(name).map(|count| (name, count));
    if let Some((variable, count)) = count("SLURM_JOB_NUM_NODES").or_else(|| count("SLURM_NNODES"))
        && count.trim().parse() != Ok(names.len())
    {
        return Err(SlurmError::Count { list, names: names.len(), variable, count });
    }
    let slots = slots_of(names.len(), given)?;
    let login = if encrypted || given(SSH_VARIABLE).is_some() { Login::Ssh } else { Login::Srun };
    let host = |(name, slots)| Host::named(name).map(|host| Host { slots, login, ..host });
    let hosts: Result<Vec<Host>, LineError> = names.iter().map(String::as_str).zip(slots).map(host).collect();
    Ok(Hosts::new(hosts?)?)
}

/// `srun` starts a program once for each task: each would be a job of its own, on all hosts.
fn check_is_alone(given: impl Fn(&str) -> Option<String>) -> Result<(), SlurmError> {
    match given("SLURM_STEP_NUM_TASKS") {
        // A script may have the variables of the step that it was handed in from, but not this one.
        Some(tasks) if tasks.trim() != "1" && given("SLURM_NTASKS").as_ref() == Some(&tasks) => {
            Err(SlurmError::Several { tasks })
        }
        _ => Ok(()),
    }
}

/// The slots of so many hosts. A step of one task only says how many there were to be on each, if that was asked for.
fn slots_of(hosts: usize, given: impl Fn(&str) -> Option<String>) -> Result<Vec<u32>, SlurmError> {
    let of_step = given("SLURM_STEP_TASKS_PER_NODE");
    let tasks = given("SLURM_TASKS_PER_NODE").filter(|tasks| of_step.as_ref() != Some(tasks));
    let Some(tasks) = tasks else {
        let each = given("SLURM_NTASKS_PER_NODE").and_then(|tasks| Some(repeated(tasks.trim())?.0));
        return Ok(vec![each.unwrap_or(1); hosts]);
    };
    let slots = slots(&tasks)?;
    if slots.len() != hosts { Err(SlurmError::Slots { slots: slots.len(), names: hosts }) } else { Ok(slots) }
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
    #[error("SLURM_JOB_NODELIST={list} has {names} hosts, but {variable}={count}")]
    Count {
        /// The whole list.
        list: String,
        /// Hosts in it.
        names: usize,
        /// The other variable.
        variable: &'static str,
        /// What it says.
        count: String,
    },
    /// One task of several, each of which would start a job.
    #[error(
        "srun starts this program {tasks} times, and each would take all hosts: start it once, by `srun --ntasks=1` or without srun"
    )]
    Several {
        /// How many there are.
        tasks: String,
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
        // As `scontrol show hostnames` of Slurm 22.05 has them.
        assert_eq!(expanded("h[1-2,5]"), "h1 h2 h5");
        assert_eq!(expanded("n[09-11,012],n[1,01]"), "n09 n10 n11 n012 n1 n01");
        assert_eq!(expanded("r[0-1]n[01-02,7]"), "r0n01 r0n02 r0n7 r1n01 r1n02 r1n7");
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
        hosts(false, of(variables))
    }

    fn of(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    }

    #[test]
    fn an_allocation_becomes_hosts_with_slots() {
        let list = ("SLURM_JOB_NODELIST", "n[1-2],m");
        let all = [list, ("SLURM_NNODES", "3"), ("SLURM_TASKS_PER_NODE", "2(x2),1"), ("TALISMAN_SSH", "-4")];
        assert_eq!(with(&all), Ok(Hosts::parse("n1 slots=2\nn2 slots=2\nm").unwrap()));
        assert_eq!(with(&[list]).unwrap().slots(), 3);
    }

    fn slots_and_logins(variables: &[(&str, &str)]) -> Vec<(u32, Login)> {
        shown(with(variables).unwrap())
    }

    fn shown(hosts: Hosts) -> Vec<(u32, Login)> {
        let shares = hosts.distribute(hosts.slots(), hosts.slots()).unwrap();
        shares.iter().map(|share| (share.host.slots, share.host.login)).collect()
    }

    #[test]
    fn programs_are_started_by_srun_unless_that_is_to_be_ssh() {
        let list = ("SLURM_JOB_NODELIST", "n[1-2]");
        assert_eq!(slots_and_logins(&[list]), [(1, Login::Srun); 2]);
        assert_eq!(slots_and_logins(&[list, ("TALISMAN_SSH", "-4")]), [(1, Login::Ssh); 2]);
        assert_eq!(shown(hosts(true, of(&[list])).unwrap()), [(1, Login::Ssh); 2]);
    }

    /// As Slurm 22.05 has them in `salloc -N 3 -n 5`, and in `srun -N 1 -n 1` within: some are the job's, some the step's.
    const OF_JOB: [(&str, &str); 3] =
        [("SLURM_JOB_NODELIST", "h[0-2]"), ("SLURM_NODELIST", "h[0-2]"), ("SLURM_JOB_NUM_NODES", "3")];
    const OF_STEP: [(&str, &str); 6] = [
        ("SLURM_NNODES", "1"),
        ("SLURM_NTASKS", "1"),
        ("SLURM_TASKS_PER_NODE", "1"),
        ("SLURM_STEP_NODELIST", "h2"),
        ("SLURM_STEP_NUM_TASKS", "1"),
        ("SLURM_STEP_TASKS_PER_NODE", "1"),
    ];

    #[test]
    fn a_step_of_one_task_has_all_hosts_of_its_allocation() {
        let step = [&OF_JOB[..], &OF_STEP].concat();
        assert_eq!(slots_and_logins(&step), [(1, Login::Srun); 3]);
        // Given to salloc, this one stays.
        let each = [&step[..], &[("SLURM_NTASKS_PER_NODE", "2")]].concat();
        assert_eq!(slots_and_logins(&each), [(2, Login::Srun); 3]);
        // A shell that salloc starts in a step has the job's.
        let shell =
            [&OF_JOB[..], &OF_STEP[3..], &[("SLURM_NNODES", "3"), ("SLURM_TASKS_PER_NODE", "3,1(x2)")]];
        assert_eq!(slots_and_logins(&shell.concat()), [3, 1, 1].map(|slots| (slots, Login::Srun)));
    }

    #[test]
    fn a_step_of_several_tasks_is_refused() {
        let tasks = [("SLURM_NTASKS", "3"), ("SLURM_STEP_NUM_TASKS", "3"), ("SLURM_TASKS_PER_NODE", "1(x3)")];
        let step = [&OF_JOB[..], &tasks].concat();
        assert_eq!(with(&step), Err(SlurmError::Several { tasks: "3".into() }));
        // What a script has that was handed in from such a step.
        let script =
            [("SLURM_NTASKS", "5"), ("SLURM_STEP_NUM_TASKS", "3"), ("SLURM_TASKS_PER_NODE", "3,1(x2)")];
        assert_eq!(with(&[&OF_JOB[..], &script].concat()).map(|hosts| hosts.slots()), Ok(5));
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
