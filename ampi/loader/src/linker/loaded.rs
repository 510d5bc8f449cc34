//! Copies of programs in this process, by their addresses.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::later::LateObject;
use crate::object::Object;
use crate::{LoadError, Program};

/// In the order of bases.
static LOADED: RwLock<Vec<Loaded>> = RwLock::new(Vec::new());

struct Loaded {
    base: usize,
    program: Program,
    late: Arc<Vec<LateObject>>,
    /// Why a library that was loaded later was not mapped again.
    missing: Option<LoadError>,
}

/// A copy of a program.
pub struct Copy {
    pub base: usize,
    pub program: Program,
    /// What its rank has loaded later.
    pub late: Arc<Vec<LateObject>>,
}

impl Copy {
    /// All its objects, the program first.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.program.all_objects().iter().chain(self.late.iter().map(|late| &*late.object))
    }

    /// The number of the object that is at this address.
    pub fn number_at(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.base)?;
        let late = || {
            let holds = |late: &LateObject| {
                offset.checked_sub(late.object.offset).is_some_and(|at| at < late.object.span)
            };
            Some(self.program.all_objects().len() + self.late.iter().position(holds)?)
        };
        self.program.number_at(offset).or_else(late)
    }

    pub fn object_at(&self, address: usize) -> Option<&Object> {
        self.object(self.number_at(address)?)
    }

    pub fn object(&self, number: usize) -> Option<&Object> {
        let own = self.program.all_objects();
        own.get(number).or_else(|| Some(&*self.late.get(number - own.len())?.object))
    }

    /// An object, what it needs, what that needs: in the order in which symbols are looked for.
    pub fn with_needed(&self, number: usize) -> Vec<usize> {
        let mut found = vec![number];
        let mut next = 0;
        while let Some(object) = found.get(next).and_then(|number| self.object(*number)) {
            let known = |name: &String| self.objects().position(|object| object.name == *name);
            for needed in object.needed.iter().filter_map(known) {
                if !found.contains(&needed) {
                    found.push(needed);
                }
            }
            next += 1;
        }
        found
    }

    /// What was loaded at once with an object: none for the program's own.
    pub fn batch(&self, number: usize) -> Option<usize> {
        let late = number.checked_sub(self.program.all_objects().len())?;
        Some(self.late.get(late)?.late.batch)
    }

    /// Whether symbols of an object are for all.
    pub fn is_global(&self, number: usize) -> bool {
        let late = number.checked_sub(self.program.all_objects().len());
        late.is_none_or(|late| self.late.get(late).is_some_and(|late| late.late.is_global))
    }
}

fn read() -> RwLockReadGuard<'static, Vec<Loaded>> {
    LOADED.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Vec<Loaded>> {
    LOADED.write().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the copy at `base` is known.
pub fn add(base: usize, program: &Program, late: Vec<LateObject>, missing: Option<LoadError>) {
    let loaded = Loaded { base, program: program.clone(), late: Arc::new(late), missing };
    let mut all = write();
    match all.binary_search_by_key(&base, |loaded| loaded.base) {
        Ok(at) => all[at] = loaded,
        Err(at) => all.insert(at, loaded),
    }
}

/// The rank of the copy at `base` has loaded more.
pub fn extend(base: usize, new: impl Iterator<Item = LateObject>) {
    change(base, |late| late.extend(new));
}

/// What was loaded at once is for all from now on.
pub fn make_global(base: usize, batch: usize) {
    let of_batch = |late: &&mut LateObject| late.late.batch == batch;
    change(base, |late| late.iter_mut().filter(of_batch).for_each(|late| late.late.is_global = true));
}

fn change(base: usize, with: impl FnOnce(&mut Vec<LateObject>)) {
    let mut all = write();
    if let Ok(at) = all.binary_search_by_key(&base, |loaded| loaded.base) {
        let mut late = Vec::clone(&all[at].late);
        with(&mut late);
        all[at].late = Arc::new(late);
    }
}

/// Why a library that the copy at `base` needs was not mapped again. Told once.
pub fn take_missing(base: usize) -> Option<LoadError> {
    let mut all = write();
    let at = all.binary_search_by_key(&base, |loaded| loaded.base).ok()?;
    all[at].missing.take()
}

/// The copy at `base` is gone.
pub fn remove(base: usize) {
    write().retain(|loaded| loaded.base != base);
}

/// The copy that this address is in.
pub fn at(address: usize) -> Option<Copy> {
    let all = read();
    let after = all.partition_point(|loaded| loaded.base <= address);
    let loaded = all.get(after.checked_sub(1)?)?;
    let (base, program, late) = (loaded.base, &loaded.program, &loaded.late);
    (address - base < program.span()).then(|| Copy { base, program: program.clone(), late: late.clone() })
}
