//! What the processes of a job are called, for whoever looks at them from outside: `ps`, `top`, `talisman list`.
//!
//! All of them are the program's own file, run once more. A node is started with its name in place of the program's, `leanmd: node 2 of 4`,
//! and a variable that says of which job it is; both stay readable in `/proc`. What the system calls a process in short has 15 letters.

use std::ffi::OsString;
use std::fs;
use std::sync::{Mutex, PoisonError};
use talisman_job::variables::JOB_VARIABLE;

use crate::children::Executable;

/// Most letters of a process's short name.
const SHORT_MAX: usize = 15;

/// A job, as processes are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// People call the job by this process id.
    pub pid: u32,
    /// Nodes that it begins with.
    pub nodes: u32,
    /// How many have a number: processes with others wait.
    pub numbers: u32,
    pub program: String,
}

/// The job of this process, if it starts nodes or is one.
static JOB: Mutex<Option<Named>> = Mutex::new(None);

impl Named {
    /// As a variable's value.
    pub fn written(&self) -> String {
        format!("{} {} {} {}", self.pid, self.nodes, self.numbers, self.program)
    }

    /// What such a value says; nothing if it says something else.
    pub fn read(value: &str) -> Option<Named> {
        let mut words = value.splitn(4, ' ');
        let mut number = || words.next()?.parse().ok();
        let (pid, nodes, numbers) = (number()?, number()?, number()?);
        Some(Named { pid, nodes, numbers, program: words.next()?.to_owned() })
    }

    /// What the process of this number is called.
    pub fn title(&self, number: u32) -> String {
        let Named { nodes, numbers, program, .. } = self;
        match number {
            _ if number < *nodes => format!("{program}: node {number} of {nodes}"),
            _ if number < *numbers => format!("{program}: node {number}"),
            _ => format!("{program}: spare"),
        }
    }

    /// The same in short; of a program with a long name, what tells its nodes apart.
    fn short_title(&self, number: u32) -> String {
        let whole = format!("{}: node {number}", self.program);
        if whole.len() <= SHORT_MAX {
            return whole;
        }
        let number = format!(": {number}");
        format!("{}{number}", cut(&self.program, SHORT_MAX - number.len()))
    }
}

/// From now on this process starts the nodes of this job.
pub fn leads(job: Named) {
    *JOB.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
}

/// Takes over what whoever started this process said of its job.
///
/// Has to be called before any other thread is started: it changes the environment, so that no child process of the program counts as one
/// of the job.
pub fn take_up() {
    let Some(value) = std::env::var_os(JOB_VARIABLE) else { return };
    // SAFETY: no other thread reads the environment, by this function's contract.
    unsafe { std::env::remove_var(JOB_VARIABLE) };
    if let Some(job) = value.to_str().and_then(Named::read) {
        call(&job.program);
        leads(job);
    }
}

/// The variable by which processes that this one starts are told of its job.
pub fn variable() -> Option<(&'static str, String)> {
    let job = JOB.lock().unwrap_or_else(PoisonError::into_inner);
    Some((JOB_VARIABLE, job.as_ref()?.written()))
}

/// What the process of this number is started as, by an executable that may have been told of a job by another host.
pub fn title(executable: &Executable, number: u32) -> Option<OsString> {
    let told = executable.variables.iter().find(|(name, _)| name == JOB_VARIABLE);
    let told = told.and_then(|(_, value)| Named::read(value.to_str()?));
    let job = told.or_else(|| JOB.lock().unwrap_or_else(PoisonError::into_inner).clone());
    Some(job?.title(number).into())
}

/// This process is this node from now on.
pub fn is_node(number: u32) {
    let job = JOB.lock().unwrap_or_else(PoisonError::into_inner).clone();
    job.iter().for_each(|job| call(&job.short_title(number)));
}

/// Calls this process so, in short: it is run by a link to its file, by which the system would call it.
pub fn call(name: &str) {
    // Where there is no such file, the name does not matter.
    let _ = fs::write("/proc/self/comm", cut(name, SHORT_MAX));
}

/// The first letters of a text that have so many bytes at most.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(program: &str) -> Named {
        Named { pid: 77, nodes: 4, numbers: 6, program: program.into() }
    }

    #[test]
    fn what_is_said_of_a_job_is_read_back() {
        for program in ["leanmd", "a name with spaces", "é"] {
            assert_eq!(Named::read(&job(program).written()), Some(job(program)));
        }
        for wrong in ["", "77", "77 4 6", "a 4 6 leanmd", "77 4 -1 leanmd"] {
            assert_eq!(Named::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nodes_are_told_apart_however_long_the_programs_name_is() {
        let named = job("leanmd");
        assert_eq!(
            [2, 4, 6].map(|number| named.title(number)),
            ["leanmd: node 2 of 4", "leanmd: node 4", "leanmd: spare"]
        );
        assert_eq!(named.short_title(12), "leanmd: node 12");
        assert_eq!(job("jacobi3d").short_title(12), "jacobi3d: 12");
        assert_eq!(job("a_very_long_name_of_it").short_title(1023), "a_very_lo: 1023");
        assert_eq!(cut("ééé", 3), "é");
    }
}
