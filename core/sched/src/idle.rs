//! What a PE does while it has no message: poll, give the core to others, or sleep.

use std::time::{Duration, Instant};

/// Whether so many PEs are more than the cores that this process may use; not where nobody knows how many these are.
pub fn are_more_than_cores(pes: u64) -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| pes > cores.get() as u64)
}

/// The idle policy of one PE. It works when every PE has a core of its own and when many share one.
///
/// A PE alone on its core polls: a message from another core then arrives without a system call on either
/// side. A PE that shares its core must not poll, since the thread it waits for may be the one it keeps from
/// running. Which of the two it is shows in how long `sched_yield` takes: 0.2 µs if no one wants the core, a
/// whole turn of another thread if someone does. Where such a turn is as long as the system lets it be, the PE
/// sleeps instead: who sleeps and is woken takes the core back at once, who yields waits for the turn's end. The
/// figures are in the `README.md` beside this file.
#[derive(Debug, Default)]
pub struct Idle {
    /// Whether there are more PEs than cores: who keeps the core may be another PE.
    shares: bool,
    /// How many more quick yields it takes to believe that the core is free. Kept from one idle phase to the
    /// next: crowding lasts longer than a phase.
    crowded: u32,
    /// For how many phases the core is not offered, as another thread keeps it.
    kept: u32,
    /// How many these were when that was last found.
    kept_for: u32,
    /// How long others had the core when it was offered to them, in all.
    given: Duration,
}

/// How long to poll between two yields on a free core: a yield costs 0.23 µs during which no message is seen, so
/// polling is most of the time; and a thread that comes to want the core waits no longer than this.
const POLL_SLICE: Duration = Duration::from_micros(1);
/// Polls between two looks at the clock. Reading it takes 25 ns in which no message is seen, a poll 15 to 50 ns,
/// most of it the pause that leaves the core's other hardware thread its share.
const POLLS_PER_LOOK: u32 = 16;
/// A yield that takes longer than this ran another thread: ten times an empty one, less than any time slice.
const SLOW_YIELD: Duration = Duration::from_micros(2);
/// After a slow yield this many quick ones end the suspicion: fewer would poll while others merely wait for a
/// message themselves.
const CROWDED_FOR: u32 = 16;
/// A yield that takes longer than this ran a thread that computes and never waits: the system takes the core from it after
/// some milliseconds only, while threads that talk with each other have turns of microseconds.
const KEPT: Duration = Duration::from_micros(500);
/// After such a yield so many phases do without one; twice as many if it was long again after them, ...
const KEPT_FOR: u32 = 64;
/// ... and so many at most: one yield of milliseconds among so many phases of some ten microseconds.
const KEPT_FOR_MOST: u32 = 4_096;
/// On a core that another thread keeps, sleep after this long without work: the one that is waited for runs elsewhere, or
/// runs as soon as this one sleeps. Where PEs share cores it sleeps at once: another one has work for that time.
const AWAKE_ON_KEPT: Duration = Duration::from_micros(20);
/// Sleep after this long without work. Waking costs the sender 14 µs and the sleeper 30 µs, so a gap of a few
/// times that is still better polled through. On a crowded core this is a few turns of the other threads.
const AWAKE_FOR: Duration = Duration::from_micros(200);

impl Idle {
    /// The policy of a PE that takes its core to be free until it finds otherwise.
    pub fn new() -> Idle {
        Idle::default()
    }

    /// The same, of one of more PEs than cores if that is so.
    pub fn sharing_cores(shares: bool) -> Idle {
        Idle { shares, ..Idle::default() }
    }

    /// Whether other threads were seen to want this core.
    pub fn is_crowded(&self) -> bool {
        self.crowded > 0
    }

    /// How long other threads had the core when it was offered to them, in all.
    pub fn given(&self) -> Duration {
        self.given
    }

    /// Waits until `has_work` returns true or `park`, called once at most, returns.
    ///
    /// `has_work` is called very often: it should look at memory only. Whatever has a time of its own
    /// (timers) it must look at too, or be up to 0.2 ms late; `park` bounds its sleep by the next of them.
    pub fn idle(&mut self, has_work: impl FnMut() -> bool, park: impl FnMut()) {
        self.idle_on(&mut ThisThread { has_work, park, start: None });
    }

    /// As [`idle`](Idle::idle), on any [`Waiter`].
    pub fn idle_on(&mut self, waiter: &mut impl Waiter) {
        let mut phase = Phase { offers: self.offers(), ..Phase::default() };
        loop {
            match self.next(&phase) {
                Step::Poll => {
                    if poll(waiter, &mut phase) {
                        return;
                    }
                }
                Step::Yield => {
                    let took = timed_yield(waiter, &mut phase);
                    self.on_yield(took, &mut phase);
                    if waiter.has_work() {
                        return;
                    }
                }
                // Who waits for room sends when it looks: it has to look once.
                Step::Park if phase.now.is_zero() && waiter.has_work() => return,
                Step::Park => return waiter.park(),
            }
        }
    }

    /// What to do next: an idle phase alternates between polling, if it may, and yielding, and ends in sleep.
    fn next(&self, phase: &Phase) -> Step {
        let awake_for = match (phase.offers, self.shares) {
            (true, _) => AWAKE_FOR,
            (false, false) => AWAKE_ON_KEPT,
            (false, true) => Duration::ZERO,
        };
        if phase.now >= awake_for {
            Step::Park
        } else if !phase.offers {
            Step::Poll
        } else if phase.polled || self.crowded > 0 {
            Step::Yield
        } else {
            Step::Poll
        }
    }

    fn on_yield(&mut self, took: Duration, phase: &mut Phase) {
        phase.polled = false;
        if took > SLOW_YIELD {
            self.crowded = CROWDED_FOR;
            self.given += took;
        } else {
            self.crowded = self.crowded.saturating_sub(1);
        }
        self.kept_for = match took > KEPT {
            true => (self.kept_for * 2).clamp(KEPT_FOR, KEPT_FOR_MOST),
            false => 0,
        };
        self.kept = self.kept_for;
    }

    /// Whether the phase that begins offers the core to others.
    fn offers(&mut self) -> bool {
        let offers = self.kept == 0;
        self.kept = self.kept.saturating_sub(1);
        offers
    }
}

/// What the policy needs of the thread that waits. A test's thread has no clock and never sleeps.
pub trait Waiter {
    /// Whether a message, or something else to do, is there.
    fn has_work(&mut self) -> bool;
    /// The time since the idle phase began, or since this was first asked in it.
    fn now(&mut self) -> Duration;
    /// Lets another thread have the core, if one wants it.
    fn yield_now(&mut self);
    /// Sleeps until there is work, by a protocol that loses no wake-up.
    fn park(&mut self);
}

/// One stretch without work.
#[derive(Debug, Default)]
struct Phase {
    /// When the clock was last read, from the beginning of the phase.
    now: Duration,
    /// Whether the poll between the last yield and the next is done.
    polled: bool,
    /// Whether it offers the core to others.
    offers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Poll,
    Yield,
    Park,
}

/// Polls for one slice; returns whether there is work. The first look at the clock comes after the first polls.
fn poll(waiter: &mut impl Waiter, phase: &mut Phase) -> bool {
    let end = phase.now + POLL_SLICE;
    while phase.now < end {
        for _ in 0..POLLS_PER_LOOK {
            if waiter.has_work() {
                return true;
            }
            std::hint::spin_loop();
        }
        phase.now = waiter.now();
    }
    phase.polled = true;
    false
}

fn timed_yield(waiter: &mut impl Waiter, phase: &mut Phase) -> Duration {
    let before = waiter.now();
    waiter.yield_now();
    phase.now = waiter.now();
    phase.now.saturating_sub(before)
}

/// The calling thread and the machine's clock. `Instant` costs 25 ns, which only idle time pays.
struct ThisThread<W, P> {
    has_work: W,
    park: P,
    /// When the clock was first read: not on entry, since most phases end before the first look.
    start: Option<Instant>,
}

impl<W: FnMut() -> bool, P: FnMut()> Waiter for ThisThread<W, P> {
    #[inline(always)]
    fn has_work(&mut self) -> bool {
        (self.has_work)()
    }

    fn now(&mut self) -> Duration {
        self.start.get_or_insert_with(Instant::now).elapsed()
    }

    fn yield_now(&mut self) {
        std::thread::yield_now();
    }

    fn park(&mut self) {
        (self.park)();
    }
}
