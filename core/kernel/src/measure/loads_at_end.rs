//! What objects had to do, as it is told at the end of a job.

use crate::kind::Kind;
use crate::object::flag;
use crate::pe::Pe;
use talisman_job::loads::{Load, PeLoads};

impl Pe {
    /// The job has ended here: if it ended well, what the objects here had to do since the last balancing step, or in the whole job, is
    /// told as far as it is known.
    pub fn tell_of_loads(&self) {
        let is_known = self.measuring.loads || self.measuring.estimates;
        if is_known && self.node.job.how_it_ended().is_some_and(|end| end.status == 0) {
            let (seconds, seconds_per_tick) = self.period_so_far();
            // While others had its core it was neither busy nor without work.
            let stolen = self.usage().stolen_since(&self.measuring.since.get().usage);
            let had = ns(seconds).saturating_sub(stolen);
            let loads = PeLoads::of(self.id, had, self.loads(seconds_per_tick), self.pes());
            self.node.job.loaded(loads);
        }
    }

    /// Of each object here.
    fn loads(&self, seconds_per_tick: f64) -> Vec<Load> {
        let load = |head: std::ptr::NonNull<crate::object::Head>| {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            let stays = object.given().is_some_and(|given| given.stays) || object.has(flag::HELD);
            let can_move = object.collection().chare.kind == Kind::Array && !stays;
            Load { objects: 1, ns: ns(object.load.get().max(0) as f64 * seconds_per_tick), can_move }
        };
        self.slots.iter().map(load).collect()
    }
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
