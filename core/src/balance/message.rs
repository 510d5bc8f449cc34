//! What the PEs tell each other of load balancing.

use crate::balance::BalancingOnPe;
use crate::balance::root::BalancingRootOnPe;
use talisman_base::ids::PeId;
use talisman_base::limits::{LOOKS, STEPS};
use talisman_kernel::message::service::{Queueing, Service, ServiceMessage, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::route::Route;
use talisman_kernel::wire::check::{Checked, require};
use talisman_pup::Pup;

/// A message of load balancing, from PE to PE.
#[derive(Debug, Pup)]
pub enum Balance {
    /// To the root: a step is wanted; the receiver is told when it is over, or not needed.
    Request { why: Why, then: Option<Route> },
    /// Down the tree: how much has everybody done since the last step?
    Look(u32),
    /// Up the tree: so much, a whole branch.
    Looked { look: u32, seen: Seen },
    /// Down the tree: this step begins.
    Begin(u32),
    /// From a member to another.
    Note { step: u32, note: Vec<u8> },
    /// Up the tree: all members of a branch have decided.
    Decided { step: u32, branch: Branch },
}

service!(Balance);

impl ServiceMessage for Balance {
    const SERVICE: Service = Service::Balancing;

    fn run(self, pe: &Pe, from: PeId) {
        pe.on_balance(from, self);
    }

    fn check(&self, pe: &Pe) -> Checked {
        require(pe.balancer().is_some(), "a message of load balancing, which is off")?;
        match self {
            Balance::Request { .. } => {
                require(pe.is_first(), "balancing is asked for where it does not begin")
            }
            Balance::Look(number) | Balance::Looked { look: number, .. } => LOOKS.check(*number),
            Balance::Begin(step) | Balance::Note { step, .. } | Balance::Decided { step, .. } => {
                STEPS.check(*step)
            }
        }
    }

    /// A look changes nothing; whoever waits for what it finds keeps the root from being idle.
    fn is_counted(&self) -> bool {
        !matches!(self, Balance::Look(_) | Balance::Looked { .. })
    }

    /// All wait for the last that hears of a step, and what waits in its queue is what the step is to spread. It does not run at once,
    /// since it moves objects, and an entry of one may be what sends it.
    fn queueing(&self) -> Queueing {
        Queueing::Expedited
    }

    fn request_again(self, pe: &Pe) {
        match self {
            Balance::Request { why, then } => pe.want_balance(why, then),
            other => pe.tell(pe.id, other),
        }
    }
}

/// Why a step is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pup)]
pub enum Why {
    /// A period is over.
    Period,
    /// An array is at `cx.at_sync()`.
    Sync,
    /// The program asked for it.
    Request,
    /// Nodes have come or gone.
    Membership,
    /// Somebody outside the job asked for it (`talisman balance`), and is told what it did.
    Asked,
}

/// What a look at some PEs has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub struct Seen {
    /// Entries that they have run since the last look.
    pub entries: u64,
    /// Seconds that the busiest of them had to compute since the last step.
    pub max: f64,
    /// Work in seconds of a PE of speed 1, of all of them.
    pub work: f64,
    /// Their speeds, added up.
    pub speed: f64,
}

impl Seen {
    /// With those of others.
    pub fn add(&mut self, other: &Seen) {
        self.entries = self.entries.saturating_add(other.entries);
        self.max = self.max.max(other.max);
        self.work += other.work;
        self.speed += other.speed;
    }

    /// What each would have had to compute if all had been even.
    pub fn average(&self) -> f64 {
        if self.speed > 0.0 { self.work / self.speed } else { 0.0 }
    }
}

/// What some PEs know at the end of a step.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Branch {
    /// What they had to compute before it.
    pub seen: Seen,
    /// Objects on them before it.
    pub objects: u64,
    /// What the busiest will have to compute after it, as predicted.
    pub predicted: f64,
    /// Objects that were sent off.
    pub moves: u64,
    /// What these take, packed.
    pub bytes: u64,
    /// Moves that were not possible any more.
    pub outdated: u64,
    /// Messages between objects of too many pairs to count them all.
    pub uncounted: u64,
    /// The longest time that a PE took to decide, in seconds.
    pub deciding: f64,
    /// Why nothing was decided.
    pub refused: Option<String>,
}

impl Branch {
    /// With those of others.
    pub fn add(&mut self, other: Branch) {
        self.seen.add(&other.seen);
        self.objects = self.objects.saturating_add(other.objects);
        self.predicted = self.predicted.max(other.predicted);
        self.moves = self.moves.saturating_add(other.moves);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.outdated = self.outdated.saturating_add(other.outdated);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
        self.deciding = self.deciding.max(other.deciding);
        self.refused = self.refused.take().or(other.refused);
    }
}
