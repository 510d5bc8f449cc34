//! Whom a process waits for when its job is to end, or to halt, and an entry runs on.

use std::sync::Arc;
use std::time::Duration;

use super::in_turn::Turn;
use talisman_base::ids::PeId;
use talisman_job::job::Job;
use talisman_kernel::node::Node;
use talisman_kernel::pe::running::Window;

/// How often it is looked at, and progress.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Who has asked a job to end, or sees that it failed, wants to know soon why it does not.
const FIRST_AFTER_FAILURE: Duration = Duration::from_millis(500);
/// A program that has said that it is done may have entries that take long, and so may one that goes back.
const FIRST_IN_ORDER: Duration = Duration::from_secs(10);
/// PEs that are named; the others are counted.
const NAMED: usize = 4;

/// The PEs of a process, as they are looked at now and then.
pub(super) struct HeldUp {
    pes: Vec<Seen>,
    told: Told,
}

struct Seen {
    at: Place,
    /// Entries that it had run when it was last looked at, and since when.
    run: Option<u64>,
    since: Duration,
}

/// Where a PE is seen.
enum Place {
    /// One of this node.
    Of(Arc<Node>, usize),
    /// Whichever has its turn, in simulation.
    InTurn(Arc<Turn>),
}

/// When it was last told.
#[derive(Default)]
struct Told {
    over_since: Option<Duration>,
    next: Duration,
}

impl HeldUp {
    pub(super) fn new<'a>(nodes: impl Iterator<Item = &'a Arc<Node>>) -> Self {
        let of = |node: &Arc<Node>| {
            let seen = |rank| Seen::new(Place::Of(node.clone(), rank));
            (0..node.windows.len()).map(seen).collect::<Vec<_>>()
        };
        HeldUp { pes: nodes.flat_map(of).collect(), told: Told::default() }
    }

    /// Of a job whose PEs share a thread.
    pub(super) fn in_turn(turn: Arc<Turn>) -> Self {
        HeldUp { pes: vec![Seen::new(Place::InTurn(turn))], told: Told::default() }
    }

    /// Time went by, on the job's clock: what to tell people, if anything.
    pub(super) fn look(&mut self, now: Duration, job: &Job) -> Option<String> {
        for pe in &mut self.pes {
            let run = pe.at.window().run();
            if std::mem::replace(&mut pe.run, run) != run {
                pe.since = now;
            }
        }
        let has_failed = job.how_it_ended().is_some_and(|end| end.status != 0);
        let waited = self.told.look(now, job.is_over(), has_failed)?;
        let waits: Vec<_> = self.pes.iter().filter_map(Seen::in_words).collect();
        (!waits.is_empty()).then(|| in_words(&waits, waited))
    }
}

impl Told {
    /// For how long the job has been about to end, if that is to be told now: each time after twice as long.
    fn look(&mut self, now: Duration, is_over: bool, has_failed: bool) -> Option<Duration> {
        if !is_over {
            *self = Told::default();
            return None;
        }
        let waited = now - *self.over_since.get_or_insert(now);
        let first = if has_failed { FIRST_AFTER_FAILURE } else { FIRST_IN_ORDER };
        if waited < first || now < self.next {
            return None;
        }
        self.next = now + waited;
        Some(waited)
    }
}

impl Place {
    fn window(&self) -> &Window {
        match self {
            Place::Of(node, rank) => &node.windows[*rank],
            Place::InTurn(turn) => &turn.window,
        }
    }

    fn pe(&self) -> PeId {
        match self {
            Place::Of(node, rank) => node.shape.first_pe(node.number) + *rank as PeId,
            Place::InTurn(turn) => turn.pe(),
        }
    }
}

impl Seen {
    fn new(at: Place) -> Self {
        Seen { at, run: None, since: Duration::ZERO }
    }

    /// What it is at, if it works still.
    fn in_words(&self) -> Option<String> {
        self.run?;
        let pe = self.at.pe();
        let since = self.since.as_secs_f64();
        Some(match self.at.window().who() {
            Some(who) => format!("PE {pe}: {who}, since {since:.1} s from the start"),
            None => format!("PE {pe}, which runs no entry"),
        })
    }
}

fn in_words(waits: &[String], waited: Duration) -> String {
    let named = waits.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    let others = match waits.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!("; and {others} other PEs"),
    };
    let waited = waited.as_secs_f64();
    format!("the job was to end {waited:.1} s ago, and waits for entries to return: {named}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tenths of seconds at which it is told, of a job that is to end after the first of them.
    fn told(has_failed: bool) -> Vec<u64> {
        let mut told = Told::default();
        let tells = |tenth: &u64| {
            let now = Duration::from_millis(100 * tenth);
            told.look(now, *tenth > 10, has_failed).is_some()
        };
        (0..1000).filter(tells).collect()
    }

    #[test]
    fn who_waits_is_told_soon_and_ever_less_often() {
        assert_eq!(told(true), [16, 21, 31, 51, 91, 171, 331, 651]);
        assert_eq!(told(false), [111, 211, 411, 811]);
    }

    #[test]
    fn a_job_of_very_many_pes_names_some() {
        let waits: Vec<_> = (0..100).map(|pe| format!("PE {pe}: A[{pe}], entry `go`, since 0.1 s")).collect();
        let line = in_words(&waits, Duration::from_millis(2500));
        assert!(
            line.starts_with("the job was to end 2.5 s ago, and waits for entries to return: PE 0: A[0]"),
            "{line}"
        );
        assert!(line.ends_with("; and 96 other PEs") && !line.contains("PE 4:"), "{line}");
    }
}
