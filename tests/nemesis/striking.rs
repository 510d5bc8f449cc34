//! Strikes on a job under way.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::job::Job;
use crate::judge::{Role, Struck};
use crate::memory::Group;
use crate::plan::{How, Plan, Strike, When, Whom};
use crate::system;

/// What a process is told with that stands by.
const STANDS_BY: &str = "TALISMAN_STANDBY=";
/// What a job says that goes back.
const KNOWN: &str = "; the others go back";

/// How long an undisturbed run takes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Until the program begins.
    pub start: Duration,
    /// The program itself.
    pub program: Duration,
}

/// The strikes of a plan, those that are left to be done and what came of the others.
pub struct Striking<'a> {
    plan: &'a Plan,
    pace: Pace,
    started: Instant,
    /// A process takes a lot of memory if its number is in this folder.
    hunger: PathBuf,
    group: Option<Group>,
    /// How many have been done, or came too late.
    done: usize,
    last: Instant,
    /// When a loss was known after the last strike.
    known: Option<Instant>,
    /// Those that are to go on, and when.
    stopped: Vec<(Instant, OwnedFd)>,
    pids: Vec<i32>,
    pub struck: Vec<Struck>,
}

impl<'a> Striking<'a> {
    /// The job starts now.
    pub fn new(plan: &'a Plan, pace: Pace, hunger: PathBuf, group: Option<Group>) -> Self {
        let now = Instant::now();
        Striking {
            plan,
            pace,
            started: now,
            hunger,
            group,
            done: 0,
            last: now,
            known: None,
            stopped: Vec::new(),
            pids: Vec::new(),
            struck: Vec::new(),
        }
    }

    /// Does what is due.
    pub fn look(&mut self, job: &Job) {
        self.wake(Instant::now());
        while let Some(strike) = self.plan.strikes.get(self.done).copied() {
            if !self.is_due(strike.when, job) || !self.strike(strike, job) {
                return;
            }
            self.done += 1;
            self.last = Instant::now();
            self.known = None;
        }
    }

    /// Whoever is still stopped goes on.
    pub fn wake_all(&mut self) {
        self.wake(Instant::now() + Duration::from_secs(3600));
    }

    /// How many processes the kernel has ended for want of memory, if any was to be.
    pub fn out_of_memory(&self) -> Option<u64> {
        self.group.as_ref().map(Group::ended)
    }

    /// How many strikes came too late.
    pub fn late(&self) -> usize {
        self.plan.strikes.len() - self.done
    }

    fn wake(&mut self, now: Instant) {
        self.stopped.retain(|(when, process)| {
            if *when <= now {
                let _ = pidfd_send_signal(process, Signal::CONT);
            }
            *when > now
        });
    }

    fn is_due(&mut self, when: When, job: &Job) -> bool {
        match when {
            When::Starting(part) => self.started.elapsed() >= self.pace.start.mul_f64(part),
            When::Running(part) => {
                self.started.elapsed() >= self.pace.start + self.pace.program.mul_f64(part)
            }
            When::After(time) => self.last.elapsed() >= time,
            When::Recovering(time) => {
                if self.known.is_none() && job.errors().iter().any(|line| line.contains(KNOWN)) {
                    self.known = Some(Instant::now());
                }
                self.known.is_some_and(|known| known.elapsed() >= time)
            }
        }
    }

    /// Whether there was somebody to strike: at first, nobody has been started yet.
    fn strike(&mut self, strike: Strike, job: &Job) -> bool {
        let launcher = job.launcher_pid();
        let others: Vec<i32> = job.processes().into_iter().filter(|pid| *pid != launcher).collect();
        let unstruck: Vec<i32> = others.into_iter().filter(|pid| !self.pids.contains(pid)).collect();
        if unstruck.is_empty() {
            return false;
        }
        let whole = self.is_whole(job);
        let victims = match strike.whom {
            Whom::Launcher => vec![launcher],
            Whom::Everybody => [launcher].into_iter().chain(unstruck.clone()).collect(),
            Whom::Other(number) => {
                let candidates =
                    if strike.how == How::OutOfMemory { nodes(&unstruck) } else { unstruck.clone() };
                candidates.get(number as usize % candidates.len().max(1)).copied().into_iter().collect()
            }
        };
        let mut was_any = false;
        for pid in victims {
            let role = if pid == launcher { Role::Launcher } else { role(pid) };
            let Some(fatal) = self.hit(pid, strike.how) else { continue };
            was_any = true;
            self.pids.push(pid);
            let launcher_left = usize::from(!self.pids.contains(&launcher));
            let left = unstruck.iter().filter(|other| !self.pids.contains(other)).count() + launcher_left;
            self.struck.push(Struck { role, fatal, left, whole });
        }
        was_any
    }

    /// Whether the job has gone back after each strike so far, and has had everything twice again.
    fn is_whole(&self, job: &Job) -> bool {
        let errors = job.errors();
        let count = |is_it: fn(&str) -> bool| errors.iter().filter(|line| is_it(line)).count();
        let losses = self.struck.iter().filter(|struck| struck.fatal).count();
        let recoveries = count(|line| {
            line.contains(" went back to checkpoint ") || line.contains(" began the program anew")
        });
        let committed = count(|line| line.contains("(failure)") && line.contains("committed after"));
        recoveries == losses && committed >= recoveries
    }

    /// Whether that is to be its end; nothing if it is gone.
    fn hit(&mut self, pid: i32, how: How) -> Option<bool> {
        let process = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        match how {
            How::Kill => pidfd_send_signal(&process, Signal::KILL).ok().map(|()| true),
            How::Stop(time) => {
                pidfd_send_signal(&process, Signal::STOP).ok()?;
                self.stopped.push((Instant::now() + time, process));
                Some(self.plan.silence.is_none_or(|silence| time >= silence))
            }
            How::OutOfMemory => {
                self.group.as_ref()?.take(pid).ok()?;
                fs::write(self.hunger.join(pid.to_string()), "").ok().map(|()| true)
            }
        }
    }
}

impl Drop for Striking<'_> {
    fn drop(&mut self) {
        self.wake_all();
    }
}

fn role(pid: i32) -> Role {
    let stands_by = system::environment(pid).iter().any(|word| word.starts_with(STANDS_BY));
    if stands_by { Role::Standby } else { Role::Node }
}

fn nodes(pids: &[i32]) -> Vec<i32> {
    pids.iter().copied().filter(|pid| role(*pid) == Role::Node).collect()
}
