//! Answers to broadcasts that stay on a PE until those below it in the tree have told how many receive the broadcast.
//!
//! Every PE tells that once of each broadcast whose answers are reduced, and no such reduction is complete before all have. So nobody waits
//! longer because a part does, and one message goes up from each PE in place of one for each that comes from below.

use std::cell::RefCell;

use super::{Pending, Tally};
use talisman_reduce::ReduceError;

/// The answers to those broadcasts, in their order: mostly to one, but a program need not wait for one before it asks for the next.
#[derive(Default)]
pub struct Awaited(RefCell<Vec<Gathering>>);

/// What has gathered of the answers to a broadcast.
struct Gathering {
    number: u32,
    /// So many PEs have not told yet how many receive it.
    left: u32,
    part: Pending,
}

impl Awaited {
    /// A broadcast passes: so many PEs tell how many receive it.
    pub fn expect(&self, number: u32, pes: u32) {
        let mut all = self.0.borrow_mut();
        let one = Gathering { number, left: pes, part: Pending::default() };
        match all.last() {
            Some(last) if last.number > number => {
                let at = all.partition_point(|one| one.number < number);
                all.insert(at, one);
            }
            _ => all.push(one),
        }
    }

    /// Whether some have not told how many receive a broadcast.
    pub fn is_waiting(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    /// The place of this broadcast among those of which that is so. It has it until the next change.
    #[inline]
    pub(super) fn place_of(&self, number: u32) -> Option<usize> {
        let all = self.0.borrow();
        match all.last() {
            None => None,
            // Answers are given most often while a broadcast passes.
            Some(last) if last.number == number => Some(all.len() - 1),
            Some(_) => all.binary_search_by_key(&number, |one| one.number).ok(),
        }
    }

    /// Changes what has gathered of the answers to the broadcast at this place. If all have told with that, it is given out.
    #[inline]
    pub(super) fn change(
        &self,
        at: usize,
        change: impl FnOnce(&mut Pending) -> Result<(), ReduceError>,
    ) -> Result<Option<Pending>, ReduceError> {
        let mut all = self.0.borrow_mut();
        let Some(Gathering { left, part, .. }) = all.get_mut(at) else { return Ok(None) };
        let before = part.tally.reports;
        change(part)?;
        *left = left.saturating_sub(part.tally.reports.saturating_sub(before));
        let is_told = *left == 0;
        Ok(is_told.then(|| all.remove(at).part))
    }

    /// All that has gathered, to go on at once. What comes later of the same waits again.
    pub(super) fn take_parts(&self) -> Vec<(u32, Pending)> {
        let mut all = self.0.borrow_mut();
        let has_any = |one: &&mut Gathering| one.part.tally != Tally::default();
        all.iter_mut().filter(has_any).map(|one| (one.number, std::mem::take(&mut one.part))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_gathered_is_given_out_when_all_have_told() {
        let awaited = Awaited::default();
        let tell = |number, old, reports| {
            let tally = Tally { old, reports, ..Tally::default() };
            let at = awaited.place_of(number).expect("it is open");
            let told = awaited.change(at, |part| part.absorb(&tally, None, None)).expect("there is no value");
            told.map(|part| (part.contributions(), part.tally.reports))
        };
        [(3, 2), (4, 3), (5, 2)].into_iter().for_each(|(number, pes)| awaited.expect(number, pes));
        assert_eq!((tell(3, 7, 0), tell(3, 1, 1), tell(4, 1, 1)), (None, None, None));
        assert_eq!(tell(4, 0, u32::MAX), Some((1, u32::MAX)), "whoever makes up more is no reason to wait");
        assert_eq!([3, 4, 5, 6].map(|number| awaited.place_of(number)), [Some(0), None, Some(1), None]);
        assert_eq!(tell(3, 2, 1), Some((10, 2)));
        // What goes on early is not waited for again.
        assert_eq!(tell(5, 4, 1), None);
        let early = awaited.take_parts().into_iter().map(|(number, part)| (number, part.contributions()));
        assert_eq!(early.collect::<Vec<_>>(), [(5, 4)]);
        assert!(awaited.take_parts().is_empty() && awaited.is_waiting());
        assert_eq!(tell(5, 1, 1), Some((1, 1)));
    }
}
