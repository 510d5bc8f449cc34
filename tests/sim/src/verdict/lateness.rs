//! How long a job may go on once it has lost what it needs.

use std::time::Duration;

use talisman::simulation::{Plan, What};

use super::PATIENCE;
use crate::case::FOR_EVER_NS;
use crate::played::Played;

/// A lost node ends the job within two seconds, to which a full line between hosts adds what it takes to pass what was
/// sent before.
const AT_ONCE: Duration = Duration::from_secs(5);
/// After silence was noticed it takes a few ticks, and those who do not stop are killed.
const TO_END: Duration = Duration::from_secs(5);
/// Nodes that do not come together give up after so long (`START` of the runtime).
const START: Duration = Duration::from_secs(30);

/// What is wrong with the time that a run took to end after the last thing that went wrong.
pub(super) fn lateness(plan: &Plan, played: &Played) -> Option<String> {
    let is_alone = played.hurt.iter().any(|(_, what)| takes_the_launcher(what));
    let from = played.hurt.iter().map(|(at, what)| begins_ns(*at, what, is_alone)).max()?;
    let limit = played.hurt.iter().map(|(_, what)| limit(plan, what, silences(played, is_alone))).max()?;
    let took = Duration::from_nanos(played.lasted_ns.saturating_sub(from));
    // Each host may have to be missed, and then each by those that look for another launcher.
    let limit = if plan.passes_on() { limit * (8 + 3 * plan.hosts.len() as u32) } else { limit };
    let is_late = played.status != 0 && took > limit;
    is_late.then(|| format!("it took {took:?} until nothing was left, and may take {limit:?}"))
}

/// From when on somebody can do something about it. Whoever is stopped and has no launcher to kill it waits for that one's words
/// from when it goes on.
fn begins_ns(at: u64, what: &What, is_alone: bool) -> u64 {
    match what {
        // Who is to go back waits for a disk, as long as that takes.
        What::LauncherStop { for_ns } | What::DiskHang { for_ns, .. } => at + for_ns,
        What::Stop { for_ns, .. } if is_alone && *for_ns < FOR_EVER_NS => at + for_ns,
        _ => at,
    }
}

fn takes_the_launcher(what: &What) -> bool {
    matches!(what, What::LauncherLoss | What::HostLoss { host: 0 })
}

/// How many silences have to be noticed one after the other. The launcher notices all at once; without it, who is to lead may be stopped, and
/// whoever leads then waits for others that are.
fn silences(played: &Played, is_alone: bool) -> u32 {
    let for_ever = |what: &What| matches!(what, What::Stop { for_ns, .. } if *for_ns >= FOR_EVER_NS);
    let stopped = played.hurt.iter().filter(|(_, what)| for_ever(what)).count();
    if is_alone { (stopped as u32).max(1) } else { 1 }
}

fn limit(plan: &Plan, what: &What, silences: u32) -> Duration {
    match what {
        What::Crash { .. } | What::LauncherLoss | What::Impostor { .. } => AT_ONCE,
        What::Cut { .. } | What::Slow { .. } => plan.silence.max(PATIENCE).max(START) + TO_END,
        What::Stop { .. } => plan.silence.max(PATIENCE) * silences + TO_END,
        _ => plan.silence.max(PATIENCE) + TO_END,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn is_late(hurt: &[(u64, What)], status: i32, lasted_s: u64) -> bool {
        let plan = Plan { silence: Duration::from_secs(2), ..Plan::calm(0, 3, 1) };
        let lasted_ns = lasted_s * SECOND;
        lateness(&plan, &Played { hurt: hurt.to_vec(), status, lasted_ns, ..Played::default() }).is_some()
    }

    #[test]
    fn a_killed_node_ends_the_job_at_once() {
        let crash = [(SECOND, What::Crash { node: 1 })];
        assert!(!is_late(&crash, 3, 5));
        assert!(is_late(&crash, 3, 7));
        assert!(is_late(&[(SECOND, What::LauncherLoss)], 137, 7));
        assert!(!is_late(&crash, 0, 7), "it went on to its end");
        assert!(!is_late(&[], 3, 7), "that is another mistake");
    }

    #[test]
    fn silence_has_to_be_noticed_first() {
        let stop = (SECOND, What::Stop { node: 1, for_ns: 60 * SECOND });
        assert!(!is_late(&[(0, What::Crash { node: 2 }), stop.clone()], 3, 15));
        assert!(is_late(&[stop], 3, 17));
    }

    #[test]
    fn who_is_stopped_when_its_launcher_is_lost_waits_for_it_afterwards() {
        let stop = (SECOND, What::Stop { node: 1, for_ns: 7 * SECOND });
        let with = |lost: What| [stop.clone(), (2 * SECOND, lost)];
        assert!(!is_late(&with(What::HostLoss { host: 0 }), 137, 22));
        assert!(is_late(&with(What::HostLoss { host: 0 }), 137, 24));
        assert!(is_late(&with(What::HostLoss { host: 1 }), 3, 18), "the launcher kills it");
    }

    #[test]
    fn without_the_launcher_silences_are_noticed_one_after_the_other() {
        let stop = |node| (SECOND, What::Stop { node, for_ns: FOR_EVER_NS });
        let with = |lost: What| [stop(0), stop(1), (SECOND, lost)];
        assert!(!is_late(&with(What::LauncherLoss), 137, 25));
        assert!(is_late(&with(What::LauncherLoss), 137, 27));
        assert!(is_late(&with(What::Crash { node: 2 }), 3, 17), "the launcher notices both");
        assert!(is_late(&[stop(0), (SECOND, What::LauncherLoss)], 137, 17));
    }

    #[test]
    fn a_launcher_that_is_stopped_does_nothing() {
        let stop = [(SECOND, What::LauncherStop { for_ns: 20 * SECOND })];
        assert!(!is_late(&stop, 3, 35));
        assert!(is_late(&stop, 3, 37));
    }
}
