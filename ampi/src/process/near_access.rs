//! Doing with the window of another rank what that one would be asked for, where its memory is at hand.

use super::access::{do_with, is_no_operation};
use super::{Host, PerformError, Process};
use crate::engine::{Area, Buffer, Payload};
use crate::window::{Deed, Wanted};

impl Process {
    /// Does what the rank wants with the values of a window in which displacement 0 is at this address.
    ///
    /// # Errors
    /// If the program has no such memory.
    pub(crate) fn access_near(
        &mut self,
        wanted: &Wanted<'_>,
        at: u64,
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        let Wanted { count, datatype, .. } = *wanted;
        let bytes = count.saturating_mul(self.datatypes.get(datatype)?.size());
        let there = &Buffer { area: Area::Memory, at, count, datatype, bytes };
        match (wanted.deed, &wanted.gets) {
            (Deed::Put, None) => self.copy_values(&wanted.brings, there, host),
            (Deed::Get, Some(gets)) => self.copy_values(there, gets, host),
            _ => self.combine_near(wanted, there, host),
        }
    }

    /// Copies values from one buffer to another that has room for as many bytes.
    fn copy_values(&mut self, from: &Buffer, to: &Buffer, host: &mut impl Host) -> Result<(), PerformError> {
        let lie_in_one = |datatype| Ok::<_, PerformError>(self.datatypes.get(datatype)?.is_contiguous());
        if lie_in_one(from.datatype)? && lie_in_one(to.datatype)? {
            return host.copy(from.at, to.at, from.bytes);
        }
        let packed = Payload::of(&self.packed(from, host)?);
        self.unpack(packed.bytes(), to, host)
    }

    fn combine_near(
        &mut self,
        wanted: &Wanted<'_>,
        there: &Buffer,
        host: &mut impl Host,
    ) -> Result<(), PerformError> {
        let nothing = || Payload::of(&[]);
        let former = match wanted.gets {
            Some(_) => Payload::of(&self.packed(there, host)?),
            None => nothing(),
        };
        if !is_no_operation(wanted.deed) {
            let brought = Payload::of(&self.packed(&wanted.brings, host)?);
            let lie = self.datatypes.get(there.datatype)?;
            do_with(&self.ops, wanted.deed, lie, there, brought.bytes(), host)?;
        }
        wanted.gets.map_or(Ok(()), |gets| self.unpack(former.bytes(), &gets, host))
    }
}

#[cfg(test)]
mod tests {
    use crate::datatype::Named;
    use crate::engine::{Buffer, Inline};
    use crate::op::{Ops, Predefined};
    use crate::process::Process;
    use crate::testing::{BASE, World};
    use crate::window::{Deed, Flavor, Region, Wanted, Window};

    /// Memory of a rank, of which the upper half is its window.
    const ROOM: u64 = 64;
    const WINDOW: u64 = BASE + ROOM / 2;

    /// Both are the same rank here: its memory is the only one that its host has.
    fn world() -> World {
        let mut world = World::new(1, ROOM as usize, 1);
        world.memories[0].bytes = (0..ROOM as u8).collect();
        world
    }

    fn window() -> Window {
        Window::new(0, Region::new(Flavor::Create, WINDOW, ROOM / 2, 8), Default::default())
    }

    fn numbers(at: u64, count: u64) -> Buffer {
        let named = Named::handle("MPI_INT64_T").expect("it is one of MPI's");
        Buffer { datatype: named, count, ..Buffer::of_bytes(at, 8 * count) }
    }

    fn wanted(deed: &Deed, at: i64, brings: Buffer, gets: Option<Buffer>) -> Wanted<'_> {
        let Buffer { count, datatype, .. } = gets.unwrap_or(brings);
        Wanted { target: 0, context: 8, at, count, datatype, deed, brings, gets, at_once: Some(false) }
    }

    fn number_at(world: &World, at: u64) -> i64 {
        let start = (at - BASE) as usize;
        i64::from_ne_bytes(world.memories[0].bytes[start..start + 8].try_into().expect("eight"))
    }

    fn found(process: &Process, window: &Window, wanted: &Wanted<'_>) -> Option<u64> {
        wanted.address_in(window, 0, wanted.span(&process.datatypes).unwrap_or_default())
    }

    fn does(world: &mut World, wanted: &Wanted<'_>) {
        let (process, memory) = (&mut world.processes[0], &mut world.memories[0]);
        let at = found(process, &window(), wanted).expect("it is in the window");
        process.access_near(wanted, at, memory).expect("it is memory of the rank");
    }

    #[test]
    fn values_go_there_and_come_back() {
        let mut world = world();
        let (first, third) = (number_at(&world, BASE), number_at(&world, WINDOW + 16));
        does(&mut world, &wanted(&Deed::Put, 1, numbers(BASE, 1), None));
        assert_eq!(number_at(&world, WINDOW + 8), first);
        does(&mut world, &wanted(&Deed::Get, 1, Buffer::EMPTY, Some(numbers(BASE + 8, 2))));
        assert_eq!((number_at(&world, BASE + 8), number_at(&world, BASE + 16)), (first, third));
    }

    #[test]
    fn values_are_combined_and_swapped() {
        let mut world = world();
        let (mine, theirs) = (number_at(&world, BASE), number_at(&world, WINDOW));
        let both = mine.wrapping_add(theirs);
        let sum = Deed::Combine { op: Ops::handle_of(Predefined::Sum) };
        let got = Some(numbers(BASE + 8, 1));
        does(&mut world, &wanted(&sum, 0, numbers(BASE, 1), got));
        assert_eq!((number_at(&world, WINDOW), number_at(&world, BASE + 8)), (both, theirs));
        let nothing = Deed::Combine { op: Ops::handle_of(Predefined::NoOp) };
        does(&mut world, &wanted(&nothing, 0, Buffer::EMPTY, got));
        assert_eq!((number_at(&world, WINDOW), number_at(&world, BASE + 8)), (both, both));
        for (compare, after) in [(theirs, both), (both, mine)] {
            let swap = Deed::Swap { compare: Inline::of(&compare.to_ne_bytes()).expect("eight bytes") };
            does(&mut world, &wanted(&swap, 0, numbers(BASE, 1), got));
            assert_eq!((number_at(&world, WINDOW), number_at(&world, BASE + 8)), (after, both));
        }
    }

    #[test]
    fn what_is_in_the_way_is_asked_for() {
        let (world, mut window) = (world(), window());
        let put = wanted(&Deed::Put, 0, numbers(BASE, 1), None);
        let needs_lock = Wanted { at_once: Some(true), ..put };
        for other in [
            Wanted { at_once: None, ..put },
            needs_lock,
            Wanted { at: 4, ..put },
            Wanted { at: -1, ..put },
            Wanted { count: 5, ..put },
        ] {
            assert_eq!(found(&world.processes[0], &window, &other), None, "{other:?}");
        }
        assert!(window.lock.take(0, true));
        assert!(found(&world.processes[0], &window, &needs_lock).is_some());
    }
}
