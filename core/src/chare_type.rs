//! What the runtime is to know of a chare type, made of the type.

use std::ptr::NonNull;

use crate::chare::Chare;
use crate::cx::Cx;
use crate::object_of::Object;
use talisman_base::index::ArrayIndex;
use talisman_kernel::object::Head;
use talisman_kernel::pe::Pe;
use talisman_kernel::registry::{ChareType, Registry};
use talisman_pup::{PupError, Unpacker};

/// The row of a chare type.
#[doc(hidden)]
pub const fn chare_type<C: Chare>() -> ChareType {
    // Evaluated, so that it exists: `migrate` relies on it.
    let _proof = C::MOVES;
    ChareType {
        key: C::KEY,
        kind: C::KIND,
        ordered: C::ORDERED,
        file: C::FILE,
        name: C::name,
        entries: C::ENTRIES,
        inits: C::INITS,
        show_index: |bits| format!("{:?}", C::Index::from_bits(bits)),
        position: |bits| C::Index::from_bits(bits).position(),
        ordinal: |bits, bounds| {
            let index = C::Index::from_bits(bits);
            // Of all bits that an index can be read from, those that it has: two names of one place would share what
            // is known of it, but not what waits for that.
            if index.to_bits() == bits { index.ordinal(bounds) } else { None }
        },
        home: |map, bits, bounds, pes| map.pe(C::Index::from_bits(bits), bounds, pes),
        index_at: |ordinal, bounds| C::Index::from_ordinal(ordinal, bounds).map(C::Index::to_bits),
        allocate: Object::<C>::allocate,
        free: Object::<C>::free,
        lend: |head, l| {
            // SAFETY: the caller's promise, of this and the functions below.
            let (state, flows) = unsafe { Object::<C>::parts(head) };
            state.lend_state(flows, l);
        },
        unpack: |head, u| {
            let (state, flows) = C::unpack_state(u)?;
            // SAFETY: as above.
            unsafe { Object::<C>::initialise(head, state, flows) };
            Ok(())
        },
        replied: |head, pe, wait, value| {
            // SAFETY: as above.
            let (state, flows) = unsafe { Object::<C>::parts(head) };
            state.replied(flows, &mut Cx::new(pe, head, None), wait, value);
        },
        restored: |head, pe, why| {
            // SAFETY: as above.
            let (state, _) = unsafe { Object::<C>::parts(head) };
            state.restored(&mut Cx::new(pe, head, None), why);
        },
        departs: if C::HEARS_OF_DEPARTURE { Some(depart::<C>) } else { None },
        lost: if C::HEARS_OF_LOST { Some(hear_of_lost::<C>) } else { None },
        waiting: |head| {
            // SAFETY: as above.
            let (state, flows) = unsafe { Object::<C>::parts(head) };
            let mut all = C::waiting(flows);
            all.extend(state.waits());
            all
        },
        owed: |head| {
            // SAFETY: as above.
            let (_, flows) = unsafe { Object::<C>::parts(head) };
            C::owed(flows)
        },
    }
}

/// # Safety
/// As for [`ChareType`].
unsafe fn depart<C: Chare>(head: NonNull<Head>) {
    // SAFETY: the caller's promise.
    let (state, _) = unsafe { Object::<C>::parts(head) };
    state.departs();
}

/// # Safety
/// As for [`ChareType`].
unsafe fn hear_of_lost<C: Chare>(head: NonNull<Head>, pe: &Pe, u: &mut Unpacker<'_>) -> Result<(), PupError> {
    let (other, _) = C::unpack_state(u)?;
    // SAFETY: the caller's promise.
    let (state, _) = unsafe { Object::<C>::parts(head) };
    state.lost(&mut Cx::new(pe, head, None), other);
    Ok(())
}

/// A chare type by its compile-time description; generic instances may be missing.
///
/// # Panics
/// Where the instance of a generic chare was not registered, saying what to add.
pub fn number_of<C: Chare>() -> (u32, &'static ChareType) {
    Registry::get().find(C::KEY).unwrap_or_else(|| {
        let name = C::name();
        panic!(
            "`{name}` is an instance of a generic chare that is not registered: add `instances({name})` to its \
             `#[chare(…)]`, or `talisman::register!({name});`"
        )
    })
}
