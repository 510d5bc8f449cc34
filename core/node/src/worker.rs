//! The loop of a PE on a thread of its own.

use std::time::Duration;

use talisman_base::view::FIRST;
use talisman_core::checkpoint::CheckpointsOnPe;
use talisman_core::checkpoint::image_fetch::ImageFetchOnPe;
use talisman_core::checkpoint::replication::ReplicationOnPe;
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::quiescence::QuiescenceOnPe;
use talisman_kernel::net::Net;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::{Command, Feed};
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Port, Threads};
use talisman_pup::PutOff;
use talisman_sched::idle::Idle;
use talisman_sched::park::Woken;
use talisman_transport::link::Link;

/// Messages run before the other PEs are looked at again, if they are short.
pub(super) const BATCH: usize = 64;
/// After so many of them it is looked at the clock: less than a nanosecond for each.
const BETWEEN_CLOCKS: usize = 16;
/// Entries run for so long before the others are looked at, in ticks of the processor's clock, about 100 µs: some hundred times what a look
/// takes. What others say may be that the job ends, or that a checkpoint or a balancing step begins, for which all wait.
const TICKS_OF_BATCH: u64 = 250_000;
/// The same while copies of a checkpoint travel: a link holds a quarter of a megabyte, and goes on only when it is looked at.
const BATCH_WHILE_COPYING: usize = 4;
/// What is staged goes out every few microseconds, if entries do not take longer; after so often, the other PEs are looked at again too.
const FLUSHES: u32 = 4;
/// So long does a PE run messages at least before it looks whether it is told something, in ticks of the processor's clock, about 20 µs:
/// much beside what it takes to look.
const TICKS_BETWEEN_LOOKS: u64 = 50_000;
/// So long does a PE keep its core meanwhile if others want it, in ticks of the processor's clock, about 100 µs: some hundred times what
/// it takes to ask.
const TICKS_WHILE_COPYING: u64 = 250_000;
/// Looks for messages before the clock is read, about half a microsecond: a message on its way to another PE and
/// back comes within that, and gaps so short are not worth counting as idle.
const QUICK_LOOKS: usize = 1024;
/// The same where sockets are looked at, which takes a system call: with few of them about as long as a message of 8 KiB
/// takes to another process and back; with more, the others are likely to want this core.
const QUICK_LOOKS_AT_FEW: usize = 24;
const QUICK_LOOKS_AT_MANY: usize = 4;
/// Nobody tells a PE that there is room in memory again: it looks so often.
const UNTIL_ROOM: Duration = Duration::from_micros(200);
/// PE 0 asks after so long without work whether anybody will ever have any; each time in vain it waits twice as long.
const FIRST_SUSPICION: Duration = Duration::from_millis(10);
const LAST_SUSPICION: Duration = Duration::from_millis(500);

/// Runs a PE until the job is over.
pub(super) fn work(pe: &Pe) {
    let _here = Here::enter(pe);
    let _seen = pe.node.windows[(pe.id - pe.first_pe) as usize].open(pe);
    let Port::Threads(port) = &pe.port else { unreachable!("a PE on a thread has rings") };
    let put_off = PutOff::new();
    let _putting_off = put_off.begin();
    pe.begin_measuring();
    let mut rest = Rest {
        idle: Idle::sharing_cores(pe.node.shares_cores()),
        suspicion: Suspicion::default(),
        stream: Stream::default(),
    };
    let (mut give_way, mut pace) = (GiveWay::default(), Pace::default());
    let going = || {
        let mut received = false;
        while !pe.node.job.is_over() {
            pe.tell_figures(|| 0);
            if !pe.frozen.get() {
                // What is dropped may send something, which nobody does who has been counted for a checkpoint.
                put_off.drop_all();
            }
            let is_copying = pe.is_copying();
            let batch = if is_copying { give_way.sometimes(pe) } else { BATCH };
            received = match turn(pe, port, batch, &mut pace, received) {
                true if is_copying => pe.port.receive_only(pe),
                true => pe.port.receive(pe),
                false => rest.until_work(pe, port),
            };
        }
    };
    caught(pe, going);
    end(pe, port);
}

/// When a PE last gave its core to others, in ticks, while copies travel.
#[derive(Default)]
struct GiveWay(u64);

impl GiveWay {
    /// A checkpoint takes a handful of messages one after the other, and none of them is to wait until another PE that computes on
    /// the same core has had all of its time. How many messages are run then.
    #[cold]
    fn sometimes(&mut self, pe: &Pe) -> usize {
        if pe.clock.ticks().wrapping_sub(self.0) > TICKS_WHILE_COPYING {
            std::thread::yield_now();
            self.0 = pe.clock.ticks();
        }
        BATCH_WHILE_COPYING
    }
}

/// One round: up to `batch` messages, and if there is none, what is done then. Whether anything was done, or had arrived.
pub(super) fn turn(pe: &Pe, port: &Threads, batch: usize, pace: &mut Pace, received: bool) -> bool {
    port.flush();
    // Whoever is frozen has said where its part is, and others still pack theirs.
    let is_copying = pe.is_taking_copies() && !pe.frozen.get();
    let copying_since = is_copying.then(|| pe.clock.now());
    let held_back = is_copying && !pe.may_run_beside_copies();
    let most = if held_back { 0 } else { batch.min(pace.most) };
    let above = Above::of(pe, port);
    let mut any = pe.turn(Round { port, received, held_back, most, pace, flushes: 0, above });
    if let Some(since) = copying_since {
        pe.take_copies(since);
        any = true;
    }
    if let Some(net) = &port.net {
        net.flush(pe);
    }
    any
}

/// What a thread lets its PE do in a turn. What it has received has been taken in by then.
struct Round<'a> {
    port: &'a Threads,
    received: bool,
    /// It has no more to do than to take copies of a checkpoint.
    held_back: bool,
    most: usize,
    pace: &'a mut Pace,
    flushes: u32,
    above: Option<Above<'a>>,
}

impl Feed for Round<'_> {
    #[inline(always)]
    fn take_in(&mut self, _: &Pe) -> bool {
        self.received
    }

    #[inline(always)]
    fn most(&self) -> usize {
        self.most
    }

    #[inline(always)]
    fn is_enough(&mut self, pe: &Pe, ran: usize) -> bool {
        if self.pace.is_spent(pe, ran - 1) {
            return true;
        }
        if let Some(net) = self.port.net.as_ref().filter(|net| net.is_flush_due(pe)) {
            net.flush(pe);
            pe.trace_pause();
            self.flushes += 1;
            if self.flushes == FLUSHES {
                return true;
            }
        }
        self.above.as_ref().is_some_and(Above::has_spoken)
    }

    #[inline(always)]
    fn looks_at_timers(&self) -> bool {
        true
    }

    #[inline(always)]
    fn may_rest(&self, pe: &Pe) -> bool {
        !self.held_back && pe.chores.get()
    }
}

/// How many messages a PE runs in a turn: fewer where entries take long.
pub(super) struct Pace {
    most: usize,
    /// When the first message of a turn had run behind which others waited, in ticks; 0 if none did.
    since: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { most: BATCH, since: 0 }
    }
}

impl Pace {
    /// The nth message of a turn has run: whether the turn has taken long enough.
    #[inline]
    fn is_spent(&mut self, pe: &Pe, nth: usize) -> bool {
        match nth {
            0 if pe.is_queue_empty() => self.since = 0,
            0 => self.begin(pe.clock.ticks()),
            _ if nth % BETWEEN_CLOCKS == BETWEEN_CLOCKS - 1 => return self.is_over(pe.clock.ticks()),
            _ => {}
        }
        false
    }

    /// Others wait behind the first message of a turn; if it was so in the turn before, that tells how long one takes.
    fn begin(&mut self, now: u64) {
        let turn = now.wrapping_sub(self.since);
        match std::mem::replace(&mut self.since, now) {
            0 => {}
            _ if turn > TICKS_OF_BATCH => self.slow_down(),
            _ if turn < TICKS_OF_BATCH / 4 => self.most = (self.most * 2).min(BATCH),
            _ => {}
        }
    }

    fn is_over(&mut self, now: u64) -> bool {
        let is_over = now.wrapping_sub(self.since) > TICKS_OF_BATCH;
        if is_over {
            self.slow_down();
        }
        is_over
    }

    fn slow_down(&mut self) {
        self.most = (self.most / 4).max(1);
    }
}

/// Where a PE is told that a checkpoint begins, for which all others wait then: its entries may take long, and many of them may wait.
struct Above<'a> {
    pe: &'a Pe,
    link: &'a Link,
    since: u64,
}

impl<'a> Above<'a> {
    /// From the PE above this one in the tree; none if that is not seen in memory.
    fn of(pe: &'a Pe, port: &'a Threads) -> Option<Self> {
        let net = port.net.as_ref().filter(|_| pe.checkpoints().is_some())?;
        let parent = pe.view().parent(pe.id, FIRST)?;
        let link = net.link(pe.node.shape.node_of(parent)).filter(|link| !link.is_watched())?;
        Some(Above { pe, link, since: pe.clock.ticks() })
    }

    /// Whether something has come from there. It may be something else.
    fn has_spoken(&self) -> bool {
        self.link.has_work() && self.pe.clock.ticks().wrapping_sub(self.since) > TICKS_BETWEEN_LOOKS
    }
}

/// The job is over, or halts. One that may go on needs its links again.
pub(super) fn end(pe: &Pe, port: &Threads) {
    if !pe.node.job.survives() {
        port.net.iter().for_each(Net::goodbye);
    }
    pe.tell_of_undelivered();
    pe.tell_of_loads();
    pe.stats.wall_ns.set(pe.clock.now().as_nanos() as u64);
}

/// After how long without work PE 0 asks whether anybody will ever have any.
#[derive(Clone, Copy)]
pub(super) struct Suspicion(Duration);

impl Default for Suspicion {
    fn default() -> Self {
        Suspicion(FIRST_SUSPICION)
    }
}

impl Suspicion {
    /// How long this PE may be without work before it suspects something.
    pub(super) fn patience(&self, pe: &Pe) -> Option<Duration> {
        self.patience_of(pe.is_first() && !pe.detector().is_counting())
    }

    /// The same of one that may, or may not, suspect anything.
    pub(super) fn patience_of(&self, may_suspect: bool) -> Option<Duration> {
        may_suspect.then_some(self.0)
    }

    /// It was.
    pub(super) fn rise(&mut self, pe: &Pe) {
        pe.command(Command::Suspect);
        self.was_told();
    }

    /// The PE is told so.
    pub(super) fn was_told(&mut self) {
        self.0 = (self.0 * 2).min(LAST_SUSPICION);
    }
}

/// Messages that come one by one, each right behind the one before. Sender and receiver would then write and read the same line of
/// memory in turn: each message takes twice as long as where the receiver is a few behind.
#[derive(Default)]
struct Stream {
    /// So many have come after few looks.
    length: u32,
}

/// Looks, at most, between two messages of a stream: what another PE sends back takes far more.
const LOOKS_IN_STREAM: usize = 16;
/// Messages after which it is one.
const STREAM: u32 = 4;
/// Pauses of the processor in which the sender gets ahead by a few messages: about 100 ns.
const PAUSES: usize = 3;

impl Stream {
    fn let_go_ahead(&self) {
        if self.length == STREAM {
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
    }

    /// Something came after so many looks, or nothing did.
    fn came(&mut self, looks: Option<usize>) {
        let is_near = looks.is_some_and(|looks| looks < LOOKS_IN_STREAM);
        self.length = if is_near { (self.length + 1).min(STREAM) } else { 0 };
    }
}

/// A PE without work.
struct Rest {
    idle: Idle,
    suspicion: Suspicion,
    stream: Stream,
}

impl Rest {
    /// Waits until there is something to do; whether it was a message, which has been taken in then.
    fn until_work(&mut self, pe: &Pe, port: &Threads) -> bool {
        if port.has_unsent() {
            // Another PE's ring is full: let it run, on this core if need be.
            std::thread::yield_now();
            return pe.port.receive(pe);
        }
        let sockets = port.net.as_ref().filter(|net| net.is_on_sockets());
        let looks = match sockets {
            None => QUICK_LOOKS,
            Some(net) if net.has_few_sockets() => QUICK_LOOKS_AT_FEW,
            Some(_) => QUICK_LOOKS_AT_MANY,
        };
        // Rings alone are looked at by taking in, and so are sockets. With links through memory that costs more, and a look
        // first is a few loads. What comes over a link does not run in here: it is no gap.
        let looks_first = port.net.is_some() && sockets.is_none();
        let look = || match &port.net {
            None => pe.port.receive(pe),
            Some(_) if looks_first => port.has_work(),
            Some(_) => pe.port.receive_only(pe),
        };
        let gap = pe.begin_gap();
        self.stream.let_go_ahead();
        let came = match self.idle.is_crowded() {
            true => None,
            false => (0..looks).find(|_| look()),
        };
        // A look at a link takes longer.
        self.stream.came(came.filter(|_| port.net.is_none()));
        let came = came.is_some();
        if let Some(gap) = gap {
            pe.end_gap(gap);
        }
        if came {
            return !looks_first || pe.port.receive(pe);
        }
        let start = pe.clock.now();
        let (given, mut asleep) = (self.idle.given(), Duration::ZERO);
        let suspicion = &mut self.suspicion;
        let came = || {
            let wrote = port.net.as_ref().is_some_and(|net| net.has_unsent() && net.flush(pe));
            wrote || port.has_work() || sockets.is_some_and(|net| net.receive(pe))
        };
        let mut park = || {
            let start = pe.clock.now();
            sleep(pe, port, suspicion);
            asleep = pe.clock.now() - start;
        };
        let is_asked = || pe.node.job.is_over() || pe.figures_window().is_asked();
        self.idle.idle(|| came() || is_asked() || is_due(pe), &mut park);
        pe.is_crowded.set(self.idle.is_crowded());
        let released = self.idle.given() - given + asleep;
        pe.was_idle((pe.clock.now() - start).as_nanos() as u64, released.as_nanos() as u64);
        pe.port.receive(pe)
    }
}

fn is_due(pe: &Pe) -> bool {
    pe.timers.next().is_some_and(|due| due <= pe.clock.now())
}

/// Until something comes, a timer is due, or PE 0 has been without work for too long.
pub(super) fn sleep(pe: &Pe, port: &Threads, suspicion: &mut Suspicion) {
    port.publish();
    let until_timer = pe.timers.next().map(|due| due.saturating_sub(pe.clock.now()));
    let hopes = pe.timers.next_for_progress().is_some();
    let longest = suspicion.patience(pe);
    let timeout = match (until_timer, longest) {
        (Some(timer), Some(longest)) => Some(timer.min(longest)),
        (timer, longest) => timer.or(longest),
    };
    let timeout = if port.net.as_ref().is_some_and(Net::is_behind_in_memory) {
        Some(timeout.map_or(UNTIL_ROOM, |timeout| timeout.min(UNTIL_ROOM)))
    } else {
        timeout
    };
    let parker = &pe.node.parkers[(pe.id - pe.first_pe) as usize];
    let has_work = || port.has_work() || pe.node.job.is_over() || pe.figures_window().is_asked();
    let woken = match &port.net {
        None => parker.park(has_work, timeout),
        Some(net) => parker.park_in(has_work, || net.sleep(pe, timeout)),
    };
    if woken == Woken::ByItself && !hopes && longest.is_some() && !is_due(pe) {
        suspicion.rise(pe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of entries that take so many ticks each, with others always waiting; how many ran in the last one.
    fn turns(pace: &mut Pace, now: &mut u64, ticks: u64, turns: usize) -> usize {
        let mut ran = 0;
        for _ in 0..turns {
            ran = 0;
            for nth in 0..pace.most {
                *now += ticks;
                ran += 1;
                let spent = match nth {
                    0 => {
                        pace.begin(*now);
                        false
                    }
                    _ if nth % BETWEEN_CLOCKS == BETWEEN_CLOCKS - 1 => pace.is_over(*now),
                    _ => false,
                };
                if spent {
                    break;
                }
            }
        }
        ran
    }

    #[test]
    fn short_entries_run_in_batches_and_long_ones_one_by_one() {
        let (mut pace, mut now) = (Pace::default(), 1);
        assert_eq!(turns(&mut pace, &mut now, 50, 10), BATCH);
        assert!(
            turns(&mut pace, &mut now, 10 * TICKS_OF_BATCH, 1) <= BETWEEN_CLOCKS,
            "found out in the turn"
        );
        assert_eq!(turns(&mut pace, &mut now, 10 * TICKS_OF_BATCH, 3), 1);
        assert_eq!(
            turns(&mut pace, &mut now, TICKS_OF_BATCH / 50, 10),
            32,
            "about as long as a batch may take"
        );
        assert_eq!(turns(&mut pace, &mut now, 50, 10), BATCH, "and back");
    }
}
