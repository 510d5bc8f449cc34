//! What can be done with the partial results of a reducer, and the table of the reducers by their id.

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, RefCell};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use talisman_pup::{Packed, Packer, Pup, PupError, Unpacker, key};

use super::listed;
use crate::{ReduceError, Reducer};

/// A partial result; only the [`ReduceInfo`] that made it knows its type.
pub(super) type Total = Box<dyn Any + Send>;

/// One reducer of one type of values, without its types.
///
/// Its functions are reached through [`AnyPartial`](super::AnyPartial), which keeps a partial result together with the
/// info that made it. They panic when handed another's.
#[derive(Debug)]
pub struct ReduceInfo {
    /// The name as a number, for the wire: the same in all processes of a job, which run the same executable. The
    /// compiler's name, since reducers need no `Named`; another build may have another.
    pub id: u64,
    /// The types of the reducer and of the values, for people.
    pub name: &'static str,
    types: TypeId,
    /// The type of the values alone.
    value: TypeId,
    /// Whether a partial result is a few bytes and nothing else, which nobody but the runtime reads.
    pub(super) is_short: bool,
    /// The same as `lift` and `add` of a value that is there, an `Option<T>`, and is taken out.
    pub(super) lift_value: fn(&mut dyn Any, u128) -> Total,
    pub(super) add_value: fn(&mut dyn Any, &mut dyn Any, u128),
    pub(super) lift: fn(&mut Unpacker<'_>, u128) -> Result<Total, PupError>,
    pub(super) add: fn(&mut dyn Any, &mut Unpacker<'_>, u128) -> Result<(), PupError>,
    pub(super) combine: fn(&mut dyn Any, Total),
    pub(super) pack: fn(&dyn Any, &mut Packer),
    pub(super) unpack: fn(&mut Unpacker<'_>) -> Result<Total, PupError>,
    pub(super) finish: fn(Total) -> Result<Packed, ReduceError>,
}

impl ReduceInfo {
    /// The reducer `R` of values of type `T`. A call of this anywhere in the program makes its partial results readable
    /// in every process of it; in a shared library, only in the processes that have executed it.
    ///
    /// # Errors
    /// [`ReduceError::Clash`] when another reducer has the same id.
    pub fn of<T, R>() -> Result<&'static ReduceInfo, ReduceError>
    where
        T: Pup + Send + 'static,
        R: Reducer<T>,
    {
        thread_local! {
            /// Found before on this thread: contributions come often, and the table has a lock.
            static FOUND: RefCell<FxHashMap<TypeId, &'static ReduceInfo>> = RefCell::default();
        }
        let types = TypeId::of::<(R, T)>();
        if let Some(found) = FOUND.with_borrow(|found| found.get(&types).copied()) {
            return Ok(found);
        }
        listed::enter::<T, R>();
        let info = KNOWN.insert(Self::new::<T, R>())?;
        FOUND.with_borrow_mut(|found| found.insert(types, info));
        Ok(info)
    }

    /// The reducer with this id, if the program lists it or this process has met it. Ids may come from anyone: they are
    /// only looked up.
    pub fn known(id: u64) -> Option<&'static ReduceInfo> {
        thread_local! {
            /// The one that this thread found last: the table has a lock, whose memory goes from core to core.
            static LAST: Cell<Option<&'static ReduceInfo>> = const { Cell::new(None) };
        }
        if let Some(last) = LAST.get().filter(|last| last.id == id) {
            return Some(last);
        }
        let found = KNOWN.lock().get(&id).copied();
        LAST.set(found.or(LAST.get()));
        found
    }

    /// Whether it is one of values of type `T`.
    #[inline]
    pub fn is_of<T: 'static>(&self) -> bool {
        self.value == TypeId::of::<T>()
    }

    /// Whether this is the reducer `R` of values of type `T`.
    #[inline]
    pub fn is<T: 'static, R: 'static>(&self) -> bool {
        self.types == TypeId::of::<(R, T)>()
    }

    pub(super) fn new<T: Pup + Send + 'static, R: Reducer<T>>() -> Self {
        let name = type_name::<(R, T)>();
        ReduceInfo {
            id: key(name),
            name,
            types: TypeId::of::<(R, T)>(),
            value: TypeId::of::<T>(),
            is_short: is_short::<R::Partial>(),
            lift_value: |value, at| Box::new(R::lift(taken(value), at)),
            add_value: |total, value, at| R::add(typed(total), taken(value), at),
            lift: |value, at| Ok(Box::new(R::lift(T::unpack(value)?, at))),
            add: |total, value, at| {
                R::add(typed(total), T::unpack(value)?, at);
                Ok(())
            },
            combine: |total, next| R::combine(typed(total), owned(next)),
            pack: |total, p| total.downcast_ref::<R::Partial>().expect(PAIRED).pack(p),
            unpack: |u| Ok(Box::new(R::Partial::unpack(u)?)),
            finish: |total| Ok(Packed::of(&R::finish(owned(total))?)),
        }
    }
}

/// The value that is to be taken in; whoever has it looked at its type.
fn taken<T: 'static>(value: &mut dyn Any) -> T {
    value.downcast_mut::<Option<T>>().and_then(Option::take).expect("a value of the reducer's type")
}

/// Whether values of this type always are few bytes, and come of these as they were: what the program itself packs may not.
fn is_short<P: Pup + 'static>() -> bool {
    let sure = [TypeId::of::<()>(), TypeId::of::<bool>(), TypeId::of::<usize>(), TypeId::of::<isize>()];
    size_of::<P>() <= SHORT && (P::PLAIN.is_some() || sure.contains(&TypeId::of::<P>()))
}

/// Bytes of the longest partial results that travel beside counts in a few words.
pub(super) const SHORT: usize = 16;

const PAIRED: &str = "a partial result is kept together with the info that made it";

pub(super) fn typed<P: 'static>(total: &mut dyn Any) -> &mut P {
    total.downcast_mut().expect(PAIRED)
}

fn owned<P: 'static>(total: Total) -> P {
    *total.downcast().expect(PAIRED)
}

/// The reducers of the program, and those that this process has met besides. They are kept for good, one for every pair
/// of types the program names.
static KNOWN: LazyLock<Table> = LazyLock::new(|| Table::with(listed::all()));

#[derive(Default)]
struct Table(Mutex<FxHashMap<u64, &'static ReduceInfo>>);

impl Table {
    /// Of two reducers with one id the first gets it, which is the same in every process; who uses the second hears of
    /// the clash.
    fn with(listed: impl Iterator<Item = ReduceInfo>) -> Self {
        let table = Table::default();
        listed.for_each(|info| drop(table.insert(info)));
        table
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<u64, &'static ReduceInfo>> {
        // An insertion is one step, so a panic elsewhere cannot have left the map half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, info: ReduceInfo) -> Result<&'static ReduceInfo, ReduceError> {
        let mut known = self.lock();
        match known.get(&info.id) {
            Some(first) if first.types == info.types => Ok(first),
            Some(first) => Err(ReduceError::Clash { first: first.name, second: info.name }),
            None => {
                let info = Box::leak(Box::new(info));
                known.insert(info.id, info);
                Ok(info)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Max, Min};

    #[test]
    fn found_by_id_once_used() {
        let info = ReduceInfo::of::<[u16; 77], Min>().unwrap();
        assert!(std::ptr::eq(info, ReduceInfo::known(info.id).unwrap()));
        assert!(std::ptr::eq(info, ReduceInfo::of::<[u16; 77], Min>().unwrap()));
        assert!(info.is::<[u16; 77], Min>() && !info.is::<[u16; 77], Max>());
        let elsewhere = std::thread::spawn(|| ReduceInfo::of::<[u16; 77], Min>().unwrap().id);
        assert_eq!(elsewhere.join().unwrap(), info.id);
    }

    #[test]
    fn two_of_one_id_clash() {
        let table = Table::default();
        let first = table.insert(ReduceInfo::new::<u8, Min>()).unwrap();
        let same_id = || ReduceInfo { id: first.id, ..ReduceInfo::new::<u8, Max>() };
        let clash = table.insert(same_id()).unwrap_err().to_string();
        assert!(clash.contains("Min") && clash.contains("Max"), "{clash}");
        let table = Table::with([same_id(), ReduceInfo::new::<u8, Min>(), same_id()].into_iter());
        assert!(table.lock()[&first.id].is::<u8, Max>(), "the first on the list has the id");
    }
}
