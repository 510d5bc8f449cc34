//! Which end of a run is legal, given what was done to it. Anything else is a mistake of the runtime, or of its simulation.

mod lateness;

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::time::Duration;

use talisman::launch::checkpoints::FaultTolerance;
use talisman::simulation::{DiskRates, Plan, What};

use crate::case::{FOR_EVER_NS, lasts_ns};
use crate::played::Played;
use crate::workloads::{PRINTS, as_printed};

/// Something that should not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether the run without any fault had it.
    pub calm: bool,
    /// Its kind, which stays while a case is shrunk.
    pub kind: Kind,
    /// What it was.
    pub what: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Outside of what the runtime catches.
    Panic,
    /// An oracle saw what must not be.
    Oracle,
    /// The program's own check failed.
    Check,
    /// Something hung, or was left over.
    Flaw,
    /// A status or message that nothing that happened makes legal.
    End,
    /// It went on for too long after it had lost what it needs.
    Late,
    /// Success, but with another result than without faults.
    Result,
    /// The same run again was not the same.
    Unequal,
}

/// Exit status of a job that has lost what it needs.
const UNRECOVERABLE: i32 = 3;
/// Exit status that a shell gives for a launcher that was killed.
const LAUNCHER_KILLED: i32 = 137;
/// Exit status of a job that somebody asked to end (SIGTERM).
const TERMINATED: i32 = 143;
/// A line that damages a frame so often in a row is given up, and the job with it (`DAMAGED_MOST` of the runtime).
const DAMAGED_MOST: u64 = 3;
/// A connection that broke is there again within this time, or the job ends (`PATIENCE` of the runtime).
const PATIENCE: Duration = Duration::from_secs(10);

/// What a reduction over a group says that nobody is left to contribute to: the group of `chimes` is the only one that is asked.
const NOBODY_LEFT: &str = "chimes::Clock` failed: there is no element, so the result has no value";

/// What was wrong with a run, beside the run without faults.
pub fn failures(plan: &Plan, calm: &Played, played: &Played) -> Vec<Failure> {
    let mut failures = flaws(played);
    if has_no_end(plan, played) {
        failures.retain(|(kind, what)| counts_without_end(*kind, what));
        return failures.into_iter().map(|(kind, what)| Failure { calm: false, kind, what }).collect();
    }
    if !(has_grown(played) && nobody_was_left(played)) {
        failures.extend(wrong_ends(plan, played));
    }
    failures.extend(memory(plan, calm, played).map(|what| (Kind::Flaw, what)));
    let plans = std::iter::successors(Some(plan), |plan| plan.again.as_deref());
    for (plan, again) in plans.zip(played.jobs()).skip(1) {
        let ends = wrong_ends(plan, again).into_iter().filter(|_| !nobody_was_left(again));
        let found = flaws(again).into_iter().chain(ends);
        failures.extend(found.map(|(kind, what)| (kind, format!("started again: {what}"))));
    }
    failures.extend(another_result(plan, calm, played).map(|what| (Kind::Result, what)));
    failures.into_iter().map(|(kind, what)| Failure { calm: false, kind, what }).collect()
}

/// What was wrong with the end of one job, and when that was.
fn wrong_ends(plan: &Plan, played: &Played) -> Vec<(Kind, String)> {
    let end = Legal::of(plan, &played.hurt).object_to(played).map(|what| (Kind::End, what));
    end.into_iter().chain(lateness::lateness(plan, played).map(|what| (Kind::Late, what))).collect()
}

/// Whether nodes were added to the job, or were to be.
fn has_grown(played: &Played) -> bool {
    played.injected.contains_key("ask-grow")
}

/// Whether all members of a group that were to answer are gone, in a job that has other PEs than when it asked: nobody else can, so that it ends.
/// Members that came later have no part in that.
fn nobody_was_left(again: &Played) -> bool {
    let says_so = |message: &String| message.contains(NOBODY_LEFT);
    again.status == 1 && again.message.as_ref().is_some_and(says_so)
}

/// What came out otherwise than in the calm run, though the job came to its end.
fn another_result(plan: &Plan, calm: &Played, played: &Played) -> Option<String> {
    if !played.ended_well() {
        return None;
    }
    let is_line = |line: &String| line.starts_with(PRINTS);
    let lines_count = calm.result.iter().any(is_line);
    let [calm, played] = [calm, played].map(|run| match &played.again {
        Some(_) => of_all_jobs(run, lines_count),
        None if Legal::of(plan, &played.hurt).lines_may_repeat() => without_repeats(&run.result),
        None => run.result.clone(),
    });
    (played != calm).then(|| difference(&calm, &played))
}

/// What came of jobs that were started one after the other: the values of the last one, and the lines of all, if they count. A line may come
/// again, since nobody is left who knows that it was printed; so the order of lines says nothing.
fn of_all_jobs(played: &Played, lines_count: bool) -> Vec<String> {
    let values = played.result.iter().filter(|line| !line.starts_with(PRINTS)).cloned();
    let lines = played.jobs().filter(|_| lines_count).flat_map(|job| &job.printed);
    let lines: BTreeSet<String> = lines.map(|line| as_printed(line)).collect();
    values.chain(lines).collect()
}

/// Whether a run was given up for its many events before its world was healed. Whoever waits for what a cut holds back may ask
/// again and again: that says nothing of whether it will end, nor is anything complete then.
pub fn has_no_end(plan: &Plan, played: &Played) -> bool {
    played.events > plan.events_max && played.lasted_ns < plan.healed_ns
}

/// Whether something is wrong in a run that has no end, too: not that it has none, nor what is judged at an end.
fn counts_without_end(kind: Kind, what: &str) -> bool {
    match kind {
        Kind::Panic => true,
        Kind::Flaw => !what.contains("more events than the plan allows"),
        _ => false,
    }
}

/// With faults a run may have more messages under way than without, and keeps what may have been lost: in 4,000 cases, twice as
/// much memory, and once ten times as much, which was 15 MB.
const MEMORY_TIMES: u64 = 4;
const MEMORY_BESIDES: u64 = 32 << 20;
/// The oracle of causality keeps a history of each PE: 32 bytes for whatever it takes in or delivers, in vectors that double.
const MEMORY_OF_EVENT: u64 = 100;
/// Each end of a link has pieces of 32 KiB that it fills, how little it says. A job that is started again may have many more of them than
/// the calm run: once 38 MB, where that had one PE.
const MEMORY_OF_LINK_END: u64 = 128 << 10;
/// Vectors of what is told of a run have room for more, and thread-locals stay.
const MEMORY_LEFT_MOST: u64 = 1 << 20;

/// What is wrong with the memory that a run took.
fn memory(plan: &Plan, calm: &Played, played: &Played) -> Option<String> {
    let events: u64 = played.jobs().map(|job| job.events).sum();
    let again = std::iter::successors(plan.again.as_deref(), |plan| plan.again.as_deref());
    let ends = played.jobs().skip(1).zip(again).map(|(_, plan)| link_ends(plan)).max().unwrap_or_default();
    let most = calm.memory_most * MEMORY_TIMES
        + MEMORY_BESIDES
        + events * MEMORY_OF_EVENT
        + ends * MEMORY_OF_LINK_END;
    match (played.memory_most, played.memory_left) {
        (had, _) if had > most => {
            Some(format!("it had {had} bytes of memory, and {} without faults", calm.memory_most))
        }
        (_, left) if left > MEMORY_LEFT_MOST => Some(format!("it left {left} bytes of memory behind")),
        _ => None,
    }
}

/// Each PE has a link with every other node.
fn link_ends(plan: &Plan) -> u64 {
    u64::from(plan.nodes()) * u64::from(plan.nodes() - 1) * u64::from(plan.pes_per_node)
}

/// What was wrong with a run without faults.
pub fn failures_of_calm(played: &Played) -> Vec<Failure> {
    let mut failures = flaws(played);
    failures.extend(Legal::default().object_to(played).map(|what| (Kind::End, what)));
    failures.into_iter().map(|(kind, what)| Failure { calm: true, kind, what }).collect()
}

/// What differs between a run and the same run again.
pub fn unequal(once: &Played, again: &Played) -> Option<Failure> {
    let of_jobs = |played: &Played| -> Vec<_> {
        played.jobs().map(|job| (job.trace, job.events, job.lasted_ns)).collect()
    };
    let traces = [of_jobs(once), of_jobs(again)];
    let ends = [once, again].map(|played| (played.status, &played.message, &played.result));
    let what = match (traces[0] == traces[1], ends[0] == ends[1]) {
        (true, true) => return None,
        (false, _) => format!("trace, events and time are {:?}, then {:?}", traces[0], traces[1]),
        (true, false) => format!("the trace is the same, but it ends with {:?}, then {:?}", ends[0], ends[1]),
    };
    Some(Failure { calm: false, kind: Kind::Unequal, what })
}

/// Outages of all kinds that add up to no more than this have to be borne, at this limit of silence.
///
/// Silence is counted in ticks of a quarter of a second by either side, and a connection takes a few attempts to come back.
pub fn borne_ns(silence: Duration) -> u64 {
    (silence.min(PATIENCE).as_nanos() as u64 / 10 * 7).saturating_sub(500_000_000)
}

fn flaws(played: &Played) -> Vec<(Kind, String)> {
    let all =
        |kind: Kind, whats: &[String]| whats.iter().map(|what| (kind, what.clone())).collect::<Vec<_>>();
    let mut flaws = all(Kind::Panic, played.panic.as_slice());
    flaws.extend(all(Kind::Oracle, &played.violations));
    flaws.extend(all(Kind::Check, &played.wrong));
    flaws.extend(all(Kind::Flaw, &played.flaws));
    flaws
}

/// How a run may end, other than well.
#[derive(Debug, Default, PartialEq, Eq)]
struct Legal {
    /// Lost, said with the name of one of these nodes …
    blamed: BTreeSet<u32>,
    /// … or of one of these hosts, which are called by their number.
    hosts: BTreeSet<u32>,
    /// Early and in order, as somebody asked.
    asked: bool,
    /// In any way, since nobody is there to tell: the launcher died.
    untold: bool,
    /// Without a launcher, whose place nodes take while any are left. Whether they might have, only the world knows, and says it.
    orphaned: bool,
    /// Somebody is dead, and nothing else happened that anybody might complain of.
    dead: bool,
    /// The launcher learns of that before it has ended all over what the others complain of.
    is_learned: bool,
    /// The job survives losses. Whether one that gave up might have gone on, only the world knows, and says it.
    survives: bool,
    /// Disks may not give back what is on them.
    loses_files: bool,
}

/// The launcher may take this longer than the limit of silence to miss somebody, and gives those that are left longer to stop.
const TO_MISS: Duration = Duration::from_millis(500);

impl Legal {
    fn of(plan: &Plan, hurt: &[(u64, What)]) -> Legal {
        let mut legal = Legal::default();
        // A stop and a cut one after the other are as bad as one of both their lengths.
        let outages: u64 = hurt.iter().filter_map(|(_, what)| outage_ns(what)).sum();
        let borne = outages <= borne_ns(plan.silence);
        for (_, what) in hurt.iter().filter(|(_, what)| outage_ns(what).is_none() || !borne) {
            legal.allow(plan, what);
        }
        let kills = |what: &What| match what {
            What::Crash { .. } | What::CrashAmid { .. } | What::CrashReset { .. } => true,
            What::Restart { .. } | What::HostLoss { .. } => true,
            What::Stop { for_ns, .. } => *for_ns == FOR_EVER_NS,
            _ => false,
        };
        legal.dead = hurt.iter().any(|(_, what)| kills(what))
            && hurt.iter().all(|(_, what)| kills(what) || may_end_nothing(what));
        legal.survives = plan.survives();
        legal.loses_files = plan.options.ft == FaultTolerance::Disk && loses_files(plan.disk);
        legal.is_learned = plan.silence <= PATIENCE + TO_MISS;
        legal.hosts = legal.blamed.iter().map(|node| plan.host_of(*node)).collect();
        legal
    }

    fn allow(&mut self, plan: &Plan, what: &What) {
        let of_hosts = |hosts: &[u32]| -> Vec<u32> {
            (0..plan.nodes()).filter(|node| hosts.contains(&plan.host_of(*node))).collect()
        };
        match what {
            What::Crash { node }
            | What::CrashAmid { node, .. }
            | What::CrashReset { node }
            | What::Restart { node, .. }
            | What::Stop { node, .. } => self.blamed.extend([*node]),
            // Before it has joined, that kills it.
            What::Terminate { node } => {
                self.blamed.extend([*node]);
                self.asked = true;
            }
            // The launcher's own host, which it takes with it.
            What::HostLoss { host: 0 } if !plan.passes_on() => self.untold = true,
            What::HostLoss { host } => {
                self.orphaned |= plan.passes_on();
                self.blamed.extend(of_hosts(&[*host]));
            }
            What::Cut { from, to, .. } => {
                self.orphaned |= plan.passes_on();
                self.blamed.extend(of_hosts(from).into_iter().chain(of_hosts(to)));
            }
            // Who takes the time for later than it is believes that it has waited long enough for any other.
            What::ClockJump { .. } => self.blamed.extend(0..plan.nodes()),
            What::LauncherStop { .. } => {
                self.orphaned |= plan.has_heirs() || plan.passes_on();
                self.blamed.extend(0..plan.nodes());
            }
            // Whoever leads, which the second time is a node.
            What::LauncherLoss if plan.has_heirs() || plan.passes_on() => {
                let led = std::mem::replace(&mut self.orphaned, true);
                self.blamed.extend((0..plan.nodes()).filter(|_| led));
            }
            What::LauncherLoss => self.untold = true,
            _ => {}
        }
    }

    fn is_named_in(&self, message: &str) -> bool {
        self.blamed.iter().any(|node| names(message, "node ", *node))
            || self.hosts.iter().any(|host| names(message, "host", *host))
    }

    /// Whether a message tells the fate of somebody who died: what a survivor says begins with the survivor's name, or with its
    /// connection to the dead, and is no more than a symptom.
    fn begins_with_the_dead(&self, message: &str) -> bool {
        let first = message.split([':', '(', ',']).next().unwrap_or_default();
        let is_symptom = message.starts_with("the connection with ");
        self.is_named_in(first) && !(is_symptom && self.is_learned)
    }

    /// Whether lines may be printed again: only the launcher, and the node that had said them, knew that they had been.
    fn lines_may_repeat(&self) -> bool {
        self.orphaned && !self.blamed.is_empty()
    }

    /// What is wrong with the end of a run.
    fn object_to(&self, played: &Played) -> Option<String> {
        let message = played.message.as_deref().unwrap_or("no message");
        let end = format!("status {}, {message}", played.status);
        match played.status {
            // It is said already why there is no end.
            _ if played.panic.is_some() => None,
            _ if self.untold => None,
            TERMINATED if self.asked => None,
            LAUNCHER_KILLED if self.orphaned => None,
            0 if self.survives || played.cut_short.is_empty() => None,
            0 => Some(format!("{end}; but nodes {:?} died before they had said all", played.cut_short)),
            // Who sends nothing but damaged frames, or cannot read what it is to go on with, is lost, and so is what it held.
            UNRECOVERABLE
                if self.blamed.is_empty()
                    && !self.loses_files
                    && !(self.survives && alterations(played) >= DAMAGED_MOST) =>
            {
                Some(format!("{end}; but nothing happened that may end it"))
            }
            UNRECOVERABLE if self.survives && !message.contains("cannot go on without") => None,
            UNRECOVERABLE if self.survives => Some(format!("{end}; but the job survives losses")),
            UNRECOVERABLE if self.dead && !self.begins_with_the_dead(message) => {
                Some(format!("{end}; but the dead are nodes {:?}", self.blamed))
            }
            UNRECOVERABLE if self.is_named_in(message) => None,
            UNRECOVERABLE => Some(format!("{end}; but what happened to it was to nodes {:?}", self.blamed)),
            1 if gave_up_a_line(message) && alterations(played) >= DAMAGED_MOST => None,
            _ => Some(end),
        }
    }
}

/// Whether a fault does not keep anybody from answering.
fn may_end_nothing(what: &What) -> bool {
    outage_ns(what).is_none() && *what != What::LauncherLoss
}

/// Whether a node says that a line damages everything, however often it is sent.
fn gave_up_a_line(message: &str) -> bool {
    message.contains("sent the same frame damaged")
}

/// How often a bit was altered.
fn alterations(played: &Played) -> u64 {
    ["altered", "alter"].iter().filter_map(|kind| played.injected.get(kind)).sum()
}

/// Whether what is on a disk may not be had from it while its host has power.
fn loses_files(DiskRates { unreadable_ppm, altered_ppm, misdirected_ppm, .. }: DiskRates) -> bool {
    unreadable_ppm + altered_ppm + misdirected_ppm > 0
}

/// For how long a fault keeps somebody from answering, if it does no more than that.
fn outage_ns(what: &What) -> Option<u64> {
    match what {
        // Whoever waits for a disk says that it is there.
        What::Slow { .. } | What::DiskHang { .. } => None,
        what => lasts_ns(what),
    }
}

/// Whether a message says `node 2`, or `host2`, and does not mean `node 21`.
fn names(message: &str, what: &str, number: u32) -> bool {
    let name = format!("{what}{number}");
    message
        .match_indices(&name)
        .any(|(at, _)| !message[at + name.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

/// A result in which each line of the program is only where it was printed first.
fn without_repeats(result: &[String]) -> Vec<String> {
    let mut printed = BTreeSet::new();
    result.iter().filter(|line| !line.starts_with(PRINTS) || printed.insert(*line)).cloned().collect()
}

/// The first line in which results differ.
fn difference(calm: &[String], played: &[String]) -> String {
    let none = "nothing";
    let lines = calm.len().max(played.len());
    let pair = |i: usize| [calm, played].map(|lines| lines.get(i).map_or(none, String::as_str));
    let [calm, played] = (0..lines).map(pair).find(|[one, other]| one != other).unwrap_or([none, none]);
    format!("`{played}` instead of `{calm}`")
}

impl Failure {
    /// Whether another one may be the same mistake.
    pub fn is_like(&self, other: &Failure) -> bool {
        (self.calm, self.kind, self.sign()) == (other.calm, other.kind, other.sign())
    }

    /// Who noticed it, for tables.
    pub fn by(&self) -> String {
        match self.kind {
            // An oracle is called by its name, which stands in front.
            Kind::Oracle => self.sign().into(),
            Kind::Check => "the program".into(),
            Kind::Flaw => "the world, in which something hung or was left over".into(),
            Kind::End | Kind::Late | Kind::Result => "the verdict".into(),
            Kind::Panic => "a panic".into(),
            Kind::Unequal => "the same run again".into(),
        }
    }

    /// What of its words stays while a case is shrunk: the status, the oracle, the place of a panic.
    fn sign(&self) -> &str {
        let until = |end: &str| self.what.split_once(end).map_or(&*self.what, |(sign, _)| sign);
        match self.kind {
            Kind::End | Kind::Oracle => until(","),
            Kind::Panic => until(": "),
            _ => "",
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = if self.calm { " without any fault" } else { "" };
        write!(f, "{}{run}: {}", self.kind, self.what)
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Panic => "panic",
            Kind::Oracle => "oracle",
            Kind::Check => "the program's check",
            Kind::Flaw => "left over or hanging",
            Kind::End => "illegal end",
            Kind::Late => "late end",
            Kind::Result => "another result",
            Kind::Unequal => "not the same again",
        })
    }
}

#[cfg(test)]
mod tests;
