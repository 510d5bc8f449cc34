//! What simulated processes may read of each other's memory, in place of what the system lets real ones read ([`super::cma`]).
//!
//! Which of them may is decided by chance, whatever host they are on: so parts that are read where they are meet others that come in
//! pieces, in one checkpoint. What a process lends is gone when it is.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use talisman_ft::NodeId;

use super::cma::Lent;
use talisman_base::rng::Rng;
use talisman_pup::Packed;

/// The memory of a simulated process, and that of all others as far as it may be read.
#[derive(Clone)]
pub struct Readable {
    own: NodeId,
    all: Arc<All>,
}

struct All {
    nodes: NodeId,
    /// How each process may read each other one's memory, by the owner first.
    access: Vec<Access>,
    /// Everything that was ever lent.
    lent: Mutex<Vec<Weak<Packed>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// The owner knows that it cannot.
    Never,
    /// The owner takes it that it can, and the system says no.
    Refused,
    Granted,
}

impl Readable {
    /// Of each process of a job. In one job of three nobody reads anything.
    pub fn by_chance(nodes: NodeId, rng: &mut Rng) -> impl Iterator<Item = Readable> + use<> {
        let anybody = rng.below(3) > 0;
        let mut access = || match rng.below(8) {
            _ if !anybody => Access::Never,
            0..=2 => Access::Never,
            3 => Access::Refused,
            _ => Access::Granted,
        };
        let access = (0..nodes * nodes).map(|_| access()).collect();
        let all = Arc::new(All { nodes, access, lent: Mutex::default() });
        (0..nodes).map(move |own| Readable { own, all: all.clone() })
    }

    /// Whether this one's memory may be read by another, as far as is known here.
    pub fn lends_to(&self, reader: NodeId) -> bool {
        self.all.access(self.own, reader) != Access::Never
    }

    /// A part that may be read for as long as it is there.
    pub fn lend(&self, part: &Arc<Packed>) -> Lent {
        let mut lent = self.all.lent();
        lent.push(Arc::downgrade(part));
        Lent::numbered(self.own, lent.len() as u64 - 1, part.buffers().len())
    }

    /// What is lent.
    ///
    /// # Errors
    /// This process may not read it, or it is not there any more.
    pub fn find(&self, lent: &Lent) -> io::Result<Arc<Packed>> {
        let (owner, number) = lent.number();
        if self.all.access(owner, self.own) != Access::Granted {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let part = self.all.lent().get(number as usize).and_then(Weak::upgrade);
        part.ok_or_else(|| io::Error::other("it is not there any more"))
    }
}

impl All {
    fn access(&self, owner: NodeId, reader: NodeId) -> Access {
        self.access.get((owner * self.nodes + reader) as usize).copied().unwrap_or(Access::Never)
    }

    fn lent(&self) -> MutexGuard<'_, Vec<Weak<Packed>>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
