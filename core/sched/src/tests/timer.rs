//! Timers against a model.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::timer::Timers;

proptest! {
    /// The model is a list from which the oldest of the earliest deadline is taken.
    #[test]
    fn timers_come_by_deadline_and_then_by_age(actions in vec((any::<bool>(), 0u64..8), 0..100)) {
        let (mut timers, mut model) = (Timers::new(), Vec::new());
        for (number, (insert, time)) in actions.into_iter().enumerate() {
            if insert {
                timers.insert(time, number);
                model.push((time, number));
            } else {
                let due = model.iter().min().copied().filter(|(deadline, _)| *deadline <= time);
                model.retain(|entry| Some(*entry) != due);
                prop_assert_eq!(timers.pop_due(&time), due.map(|(_, number)| number));
            }
            prop_assert_eq!(timers.next_deadline(), model.iter().map(|(deadline, _)| deadline).min());
            prop_assert_eq!((timers.len(), timers.is_empty()), (model.len(), model.is_empty()));
        }
    }
}
