//! The faults of a seed that happen at a time of their own.

use std::time::Duration;

use talisman::rng::Rng;
use talisman::simulation::{Asked, Fault, What, When};

use super::classes::HARMFUL;
use super::{Classes, FOR_EVER_NS, Length, Unsettled, generator, magnitude, one_of};
use crate::verdict::borne_ns;

/// A fault, with its number among all that the seed has; those that are left out leave the others theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The number.
    pub number: usize,
    /// When it happens.
    pub moment: Moment,
    /// What happens.
    pub what: What,
}

/// When something happens, measured by the run without faults, so that it happens while there is something to disturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After so many millionths of its time.
    OfTime(u64),
    /// After so many millionths of its events.
    OfEvents(u64),
    /// At this step, whatever the calm run was.
    Step(u64),
    /// So many nanoseconds after the first node says how the program has ended.
    AfterEnd(u64),
    /// So many nanoseconds after the fault of this number, or never, if that is left out.
    After(usize, u64),
}

const MILLION: u64 = 1_000_000;
/// More than a node makes sure of at once.
const STRANGERS_MOST: u64 = 200;
/// Longer than anybody may be silent.
const LONG_NS: u64 = 30_000_000_000;

impl Drawn {
    /// The fault, if the calm run is so long.
    pub(super) fn in_run_of(&self, calm: Length, all: &[Drawn]) -> Fault {
        let share = |all: u64, millionths: u64| (all as u128 * millionths as u128 / MILLION as u128) as u64;
        let when = match self.moment {
            Moment::OfTime(millionths) => When::At(share(calm.ns, millionths)),
            Moment::OfEvents(millionths) => When::Event(share(calm.events, millionths)),
            Moment::Step(step) => When::Step(step),
            Moment::AfterEnd(ns) => When::AfterEnd(ns),
            Moment::After(number, ns) => {
                When::After(all.iter().position(|other| other.number == number).unwrap_or(usize::MAX), ns)
            }
        };
        Fault { when, what: self.what.clone() }
    }
}

/// All faults of a seed on its own hosts.
pub(super) fn draw(seed: u64, classes: &Classes, hosts: &[u32], silence: Duration) -> Vec<Drawn> {
    let place = Place::on(hosts);
    let mut drawn = Vec::new();
    for (class, most, fault) in FAULTS.iter().filter(|(class, ..)| classes.has(class)) {
        let mut rng = generator(seed, class);
        for _ in 0..1 + rng.below(*most) {
            let for_ns = duration(&mut rng, class, silence);
            let moment = moment(&mut rng, HARMFUL.contains(class));
            let what = fault(&mut rng, place, for_ns);
            drawn.push(Drawn { number: drawn.len(), moment, what });
        }
    }
    drawn
}

/// Those of classes that came later, which are numbered behind all others.
pub(super) fn newer(
    seed: u64,
    classes: &Classes,
    hosts: &[u32],
    silence: Duration,
    first: usize,
) -> Vec<Drawn> {
    let (place, mut drawn) = (Place::on(hosts), Vec::new());
    if classes.has("disk-hangs") {
        let rng = &mut generator(seed, "disk-hangs, which");
        for number in first..first + 1 + rng.below(3) as usize {
            // It is waited for, however long that takes.
            let what = What::DiskHang { node: place.node(rng), for_ns: magnitude(rng, 100_000, LONG_NS) };
            drawn.push(Drawn { number, moment: moment(rng, false), what });
        }
    }
    if classes.has("crowd") {
        let rng = &mut generator(seed, "crowd, which");
        let first = first + drawn.len();
        for number in first..first + 1 + rng.below(2) as usize {
            let (node, strangers) = (place.node(rng), magnitude(rng, 2, STRANGERS_MOST) as u32);
            let what = What::Crowd { node, strangers, for_ns: duration(rng, "crowd", silence) };
            drawn.push(Drawn { number, moment: moment(rng, false), what });
        }
    }
    drawn
}

/// How long a world is not at rest: mostly longer than the calm run takes, since what goes wrong takes time.
pub(super) fn unsettled(rng: &mut Rng) -> Unsettled {
    Unsettled {
        percent: magnitude(rng, 20, 2_000),
        more_ns: one_of(rng, &[0, 200_000_000, 1_000_000_000, 5_000_000_000]),
        to_the_end: rng.below(4) > 0,
    }
}

/// The faults as they are on other hosts, fewer perhaps: each hits somebody there, unless it takes two and there is one.
pub(super) fn moved_into(drawn: Vec<Drawn>, hosts: &[u32]) -> Vec<Drawn> {
    let place = Place::on(hosts);
    let moved = |drawn: Drawn| Some(Drawn { what: place.hit(drawn.what)?, ..drawn });
    drawn.into_iter().filter_map(moved).collect()
}

/// Where faults can be.
#[derive(Clone, Copy)]
pub(super) struct Place {
    hosts: u32,
    nodes: u32,
}

type Fault3 = (&'static str, u64, fn(&mut Rng, Place, u64) -> What);

/// Classes, how many of each a seed has at most, and what they are.
const FAULTS: &[Fault3] = &[
    ("reset-at", 6, |rng, place, _| {
        let (one, other) = place.pair(rng);
        What::Reset { one, other }
    }),
    ("cut", 3, Place::cut),
    ("long-cut", 1, Place::cut),
    ("stop", 3, |rng, place, for_ns| What::Stop { node: place.node(rng), for_ns }),
    ("long-stop", 1, |rng, place, for_ns| What::Stop { node: place.node(rng), for_ns }),
    ("slow", 3, |rng, place, for_ns| What::Slow {
        node: place.node(rng),
        times: magnitude(rng, 2, 1_000) as u32,
        for_ns,
    }),
    ("alter-at", 4, |rng, place, _| {
        let (from, to) = place.pair(rng);
        What::Alter { from, to }
    }),
    ("truncate-at", 4, |rng, place, _| {
        let (from, to) = place.pair(rng);
        What::Truncate { from, to }
    }),
    ("impostor", 2, |rng, place, _| What::Impostor { node: place.node(rng), with_disk: rng.below(2) == 0 }),
    ("launcher-stop", 2, |_, _, for_ns| What::LauncherStop { for_ns }),
    ("long-launcher-stop", 1, |_, _, for_ns| What::LauncherStop { for_ns }),
    ("clock-jump", 3, |rng, place, by_ns| What::ClockJump { node: place.node(rng), by_ns }),
    ("long-clock-jump", 2, |rng, place, by_ns| What::ClockJump { node: place.node(rng), by_ns }),
    ("clock-drift", 3, |rng, place, _| What::ClockDrift {
        node: place.node(rng),
        ppm: rng.below(200_001) as i32 - 100_000,
    }),
    ("stop-for-ever", 1, |rng, place, _| What::Stop { node: place.node(rng), for_ns: FOR_EVER_NS }),
    // Drawn like the one before, of the same node at the same moment: it is missed by another at once, who complains of it
    // when its patience is at an end, as the launcher does.
    ("stop-for-ever", 1, |rng, place, _| {
        let (one, other) = place.pair(rng);
        What::Reset { one, other }
    }),
    ("crash", 2, |rng, place, _| What::Crash { node: place.node(rng) }),
    ("crash-amid", 2, |rng, place, _| What::CrashAmid {
        node: place.node(rng),
        kept_ppm: rng.below(MILLION + 1) as u32,
    }),
    ("crash-reset", 1, |rng, place, _| What::CrashReset { node: place.node(rng) }),
    ("restart", 1, |rng, place, _| What::Restart {
        node: place.node(rng),
        after_ns: magnitude(rng, 1_000, 1_000_000_000),
        with_disk: rng.below(2) == 0,
    }),
    ("terminate", 1, |rng, place, _| What::Terminate { node: place.node(rng) }),
    ("host-loss", 1, |rng, place, _| What::HostLoss { host: rng.below(place.hosts as u64) as u32 }),
    ("launcher-loss", 1, |_, _, _| What::LauncherLoss),
];

/// How long it lasts: what a job has to bear adds up to less than what it need not; the others last longer.
fn duration(rng: &mut Rng, class: &str, silence: Duration) -> u64 {
    let borne = borne_ns(silence);
    // A seed with all classes of outages has eleven.
    let longest = borne / one_of(rng, &[12, 40]);
    match class.starts_with("long-") {
        true => borne + magnitude(rng, borne / 8, 30_000_000_000),
        false => magnitude(rng, 1_000, longest),
    }
}

/// Mostly while the calm run would last, sometimes a little later: what goes wrong makes it last longer. Often when it
/// begins or ends: that is short, and much can go wrong there that cannot later, or before.
///
/// Between the end of the program and that of the job there are but a few messages, and each loss among them matters.
fn moment(rng: &mut Rng, harmful: bool) -> Moment {
    match rng.below(if harmful { 16 } else { 12 }) {
        0 => Moment::OfTime(rng.below(5 * MILLION)),
        1 | 2 => Moment::OfTime(rng.below(MILLION)),
        3 => Moment::OfEvents(magnitude(rng, 10, MILLION / 20)),
        4 => Moment::OfEvents(MILLION - magnitude(rng, 1_000, MILLION / 20)),
        5 | 12.. => Moment::AfterEnd(magnitude(rng, 10_000, 1_000_000)),
        _ => Moment::OfEvents(rng.below(MILLION + MILLION / 10)),
    }
}

impl Place {
    pub(super) fn on(hosts: &[u32]) -> Place {
        Place { hosts: hosts.len() as u32, nodes: hosts.iter().sum() }
    }

    pub(super) fn node(self, rng: &mut Rng) -> u32 {
        rng.below(self.nodes as u64) as u32
    }

    /// Two different nodes.
    fn pair(self, rng: &mut Rng) -> (u32, u32) {
        let one = self.node(rng);
        (one, (one + 1 + rng.below(self.nodes.saturating_sub(1) as u64) as u32) % self.nodes)
    }

    /// One host from the others, some from others, or both ways round in two cuts: every host is on one side, the other, or
    /// neither.
    fn cut(rng: &mut Rng, place: Place, for_ns: u64) -> What {
        let first = rng.below(place.hosts as u64) as u32;
        let mut sides = [vec![first], Vec::new()];
        let whole = rng.below(2) == 0;
        for host in (0..place.hosts).filter(|host| *host != first) {
            let side = if whole { 1 } else { rng.below(3) as usize };
            sides.get_mut(side).into_iter().for_each(|side| side.push(host));
        }
        if rng.below(2) == 0 {
            sides.reverse();
        }
        let [from, to] = sides;
        What::Cut { from, to, for_ns }
    }

    /// The same fault of somebody who is there.
    fn hit(self, mut what: What) -> Option<What> {
        match &mut what {
            What::Crash { node }
            | What::CrashAmid { node, .. }
            | What::CrashReset { node }
            | What::Restart { node, .. }
            | What::Terminate { node }
            | What::Impostor { node, .. }
            | What::Stop { node, .. }
            | What::Slow { node, .. }
            | What::ClockJump { node, .. }
            | What::ClockDrift { node, .. }
            | What::DiskHang { node, .. }
            | What::Crowd { node, .. }
            | What::Ask(Asked::Shrink(node)) => *node %= self.nodes,
            What::HostLoss { host } => *host %= self.hosts,
            What::Reset { one: from, other: to } | What::Alter { from, to } | What::Truncate { from, to } => {
                (*from, *to) = (*from % self.nodes, *to % self.nodes);
                *to = if from == to { (*to + 1) % self.nodes } else { *to };
                return (from != to).then_some(what);
            }
            What::Cut { from, to, .. } => {
                [&mut *from, &mut *to].into_iter().for_each(|side| self.hit_hosts(side));
                to.retain(|host| !from.contains(host));
                return (!from.is_empty() && !to.is_empty()).then_some(what);
            }
            What::LauncherLoss
            | What::LauncherStop { .. }
            | What::Ask(Asked::Checkpoint | Asked::Balance | Asked::Grow) => {}
        }
        Some(what)
    }

    fn hit_hosts(self, hosts: &mut Vec<u32>) {
        hosts.iter_mut().for_each(|host| *host %= self.hosts);
        hosts.sort_unstable();
        hosts.dedup();
    }
}
