//! What is done once, whichever tests want what comes of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// What a run leaves that nobody disturbs, by what was run. Such runs are alike, and most tests compare theirs with one.
pub struct Once<K, V>(Mutex<BTreeMap<K, Arc<OnceLock<Arc<V>>>>>);

impl<K: Ord, V> Once<K, V> {
    pub const fn new() -> Once<K, V> {
        Once(Mutex::new(BTreeMap::new()))
    }

    /// What this was done for before, or is done for now. Tests that want the same wait for each other, others do not.
    pub fn get(&self, key: K, run: impl FnOnce() -> V) -> Arc<V> {
        let place = self.0.lock().expect("nobody panics with it").entry(key).or_default().clone();
        place.get_or_init(|| Arc::new(run())).clone()
    }
}
