//! The read-only values of a node, one copy each.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::collection::gone::Gone;
use talisman_base::ids::PeId;
use talisman_pup::Packed;

/// Read-only values, one copy a node.
#[derive(Default)]
pub struct SharedValues {
    values: RwLock<Values>,
    /// Whether any was ever destroyed: most programs never ask.
    any_gone: AtomicBool,
}

/// One of them: as it came, and as the type it is once somebody has asked for that.
#[derive(Clone)]
pub struct SharedValue {
    pub packed: Packed,
    pub typed: Option<Arc<dyn Any + Send + Sync>>,
}

#[derive(Default)]
struct Values {
    known: HashMap<u64, SharedValue, FxBuildHasher>,
    /// Those that groups refer to, whose members are made with them, and by how many PEs' parts of groups.
    held: BTreeMap<u64, u32>,
    /// Of those that were destroyed: such as others refer to. They go with those.
    doomed: BTreeSet<u64>,
    gone: BTreeMap<PeId, Gone>,
    /// All that ever came, where PEs are run again afterwards.
    all: Option<BTreeMap<u64, Packed>>,
    /// What a PE that runs again may read, as it could before: its node has no other PEs to whom it would come.
    library: BTreeMap<u64, Packed>,
    /// There are no other PEs on the node, although it has room for some.
    is_of_one: bool,
    /// How many PEs of the node have heard of the end of a value, until all have.
    ending: BTreeMap<u64, u32>,
}

/// The creator and the number in a name.
fn parts(id: u64) -> (PeId, u32) {
    ((id >> 32) as PeId, id as u32)
}

impl Values {
    fn is_gone(&self, id: u64) -> bool {
        let (creator, number) = parts(id);
        self.gone.get(&creator).is_some_and(|gone| gone.has(number))
    }

    /// Whether a group, or a value that is known, refers to this one.
    fn is_needed(&self, id: u64) -> bool {
        self.held.contains_key(&id) || self.known.values().any(|value| value.packed.needs().contains(&id))
    }

    /// A value goes now, unless others refer to it; so do those that it was the last to refer to.
    fn destroy(&mut self, id: u64) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.is_needed(id) {
                self.doomed.insert(id);
                continue;
            }
            let (creator, number) = parts(id);
            self.gone.entry(creator).or_default().insert(number);
            self.doomed.remove(&id);
            let needs = self.known.remove(&id).map_or_else(Vec::new, |value| value.packed.needs().to_vec());
            left.extend(needs.into_iter().filter(|need| self.doomed.contains(need)));
        }
        if self.known.len() * 4 < self.known.capacity() {
            self.known.shrink_to(self.known.len() * 2);
        }
    }
}

impl SharedValues {
    fn read(&self) -> RwLockReadGuard<'_, Values> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Values> {
        self.values.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, id: u64) -> Option<SharedValue> {
        let values = self.read();
        let again = || Some(SharedValue { packed: values.library.get(&id)?.clone(), typed: None });
        values.known.get(&id).cloned().or_else(again)
    }

    /// Whether it was destroyed: whoever has it still takes it along.
    pub fn is_destroyed(&self, id: u64) -> bool {
        self.any_gone.load(Ordering::Acquire) && {
            let values = self.read();
            values.is_gone(id) || values.doomed.contains(&id)
        }
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<u64> {
        let mut all: Vec<_> = self.read().known.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// A value comes to this node, unless it was destroyed before it did.
    pub fn put(&self, id: u64, value: SharedValue) {
        let mut values = self.write();
        if values.is_gone(id) {
            return;
        }
        if let Some(all) = &mut values.all {
            all.insert(id, value.packed.clone());
        }
        values.known.insert(id, value);
    }

    /// From now on it is noted what comes.
    pub fn keep_all(&self) {
        self.write().all.get_or_insert_default();
    }

    /// All that ever came, if that is noted.
    pub fn all(&self) -> BTreeMap<u64, Packed> {
        self.read().all.clone().unwrap_or_default()
    }

    /// These may be read although they have not come: the node has no other PEs.
    pub fn lend_library(&self, library: impl IntoIterator<Item = (u64, Packed)>) {
        let mut values = self.write();
        values.library.extend(library);
        values.is_of_one = true;
    }

    /// What a value is, that is here packed.
    pub fn type_it(&self, id: u64, typed: Arc<dyn Any + Send + Sync>) {
        if let Some(value) = self.write().known.get_mut(&id) {
            value.typed = Some(typed);
        }
    }

    /// One more PE of the node, which has so many, has heard that a value is destroyed. It goes when all have: until then one of them may
    /// read what another has packed.
    pub fn destroy_for_one(&self, id: u64, pes: u32) {
        let mut values = self.write();
        let heard = values.ending.entry(id).or_default();
        *heard += 1;
        let are_all = *heard >= pes;
        if are_all || values.is_of_one {
            values.ending.remove(&id);
            drop(values);
            self.destroy(id);
        }
    }

    fn destroy(&self, id: u64) {
        self.any_gone.store(true, Ordering::Release);
        self.write().destroy(id);
    }

    /// A PE has a group now that refers to these.
    pub fn hold(&self, ids: &[u64]) {
        if !ids.is_empty() {
            let mut values = self.write();
            ids.iter().for_each(|id| *values.held.entry(*id).or_default() += 1);
        }
    }

    /// It has it no more.
    pub fn let_go(&self, ids: &[u64]) {
        if ids.is_empty() {
            return;
        }
        let mut values = self.write();
        for id in ids {
            let Some(count) = values.held.get_mut(id) else { continue };
            *count -= 1;
            if *count == 0 {
                values.held.remove(id);
                if values.doomed.contains(id) {
                    values.destroy(*id);
                }
            }
        }
    }

    /// Those that were destroyed and are kept for others that refer to them, in order.
    pub fn doomed(&self) -> Vec<u64> {
        self.read().doomed.iter().copied().collect()
    }

    /// Names of those that were destroyed, by creator.
    pub fn gone(&self) -> Vec<(PeId, Gone)> {
        self.read().gone.iter().map(|(creator, gone)| (*creator, gone.clone())).collect()
    }

    /// After going back to a checkpoint: these were destroyed.
    pub fn go_on_without(&self, creator: PeId, gone: &Gone) {
        self.any_gone.store(true, Ordering::Release);
        self.write().gone.entry(creator).or_default().add(gone);
    }

    /// The same: these go with those that refer to them, which may come after this.
    pub fn go_on_with_doomed(&self, doomed: &[u64]) {
        if !doomed.is_empty() {
            self.any_gone.store(true, Ordering::Release);
            self.write().doomed.extend(doomed);
        }
    }
}

#[cfg(test)]
impl SharedValues {
    fn held(&self) -> usize {
        self.read().held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_pup::{Packer, Pup, PupError, Unpacker};

    /// A value that refers to others.
    struct Refers(Vec<u64>);

    impl Pup for Refers {
        const MIN_SIZE: usize = 0;

        fn pack(&self, p: &mut Packer) {
            self.0.iter().for_each(|id| p.need(*id));
        }

        fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
            Ok(Refers(Vec::new()))
        }
    }

    fn values(all: &[(u64, &[u64])]) -> SharedValues {
        let values = SharedValues::default();
        for (id, needs) in all {
            values.put(*id, SharedValue { packed: Packed::of(&Refers(needs.to_vec())), typed: None });
        }
        values
    }

    #[test]
    fn a_value_stays_for_those_that_refer_to_it() {
        let values = values(&[(1, &[]), (2, &[1]), (3, &[2])]);
        values.destroy(1);
        values.destroy(2);
        assert_eq!((values.names(), values.doomed()), (vec![1, 2, 3], vec![1, 2]));
        assert!(values.is_destroyed(1) && values.is_destroyed(2) && !values.is_destroyed(3));
        values.destroy(3);
        assert_eq!((values.names(), values.doomed()), (vec![], vec![]));
        assert_eq!(values.gone().len(), 1);
    }

    #[test]
    fn a_value_stays_for_groups_that_are_made_with_it() {
        let values = values(&[(1, &[])]);
        (0..2).for_each(|_| values.hold(&[1]));
        values.destroy(1);
        values.let_go(&[1]);
        assert_eq!(values.names(), [1]);
        values.let_go(&[1]);
        assert_eq!((values.names(), values.held()), (vec![], 0));
    }

    #[test]
    fn a_value_stays_until_all_pes_have_heard_of_its_end() {
        let values = values(&[(1, &[])]);
        (0..2).for_each(|_| values.destroy_for_one(1, 3));
        assert_eq!((values.names(), values.is_destroyed(1)), (vec![1], false));
        values.destroy_for_one(1, 3);
        assert_eq!((values.names(), values.is_destroyed(1)), (vec![], true));
    }

    #[test]
    fn what_comes_after_its_end_is_not_kept() {
        let values = values(&[(4, &[])]);
        values.destroy(5);
        values.put(5, SharedValue { packed: Packed::default(), typed: None });
        assert_eq!(values.names(), [4]);
    }
}
