//! Copies of programs in this process, by their addresses.

use std::sync::{PoisonError, RwLock};

use crate::Program;

/// In the order of bases.
static LOADED: RwLock<Vec<(usize, Program)>> = RwLock::new(Vec::new());

/// A copy of a program.
pub struct Copy {
    pub base: usize,
    pub program: Program,
}

/// From now on the copy at `base` is known.
pub fn add(base: usize, program: &Program) {
    let mut all = LOADED.write().unwrap_or_else(PoisonError::into_inner);
    match all.binary_search_by_key(&base, |(base, _)| *base) {
        Ok(at) => all[at].1 = program.clone(),
        Err(at) => all.insert(at, (base, program.clone())),
    }
}

/// The copy at `base` is gone.
pub fn remove(base: usize) {
    let mut all = LOADED.write().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(known, _)| *known != base);
}

/// The copy that this address is in.
pub fn at(address: usize) -> Option<Copy> {
    let all = LOADED.read().unwrap_or_else(PoisonError::into_inner);
    let after = all.partition_point(|(base, _)| *base <= address);
    let (base, program) = all.get(after.checked_sub(1)?)?;
    (address - base < program.span()).then(|| Copy { base: *base, program: program.clone() })
}
