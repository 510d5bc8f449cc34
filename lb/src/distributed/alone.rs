//! Notes of a member to itself.

use std::collections::VecDeque;

use crate::member::{Action, Event};

/// Lets a member take an event, and the notes that it sends to itself, which nobody else should have to carry.
pub(crate) fn with_own_notes(
    pe: u32,
    event: Event,
    actions: &mut Vec<Action>,
    mut take: impl FnMut(Event, &mut Vec<Action>),
) {
    let mut events = VecDeque::from([event]);
    while let Some(event) = events.pop_front() {
        let before = actions.len();
        take(event, actions);
        let is_own = |action: &mut Action| matches!(action, Action::Send { to, .. } if *to == pe);
        for own in actions.extract_if(before.., is_own) {
            if let Action::Send { note, .. } = own {
                events.push_back(Event::Note { from: pe, note });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_notes_are_taken_in_their_order_and_others_are_left() {
        let send = |to, byte| Action::Send { to, note: vec![byte] };
        let mut actions = vec![send(3, 9)];
        let mut taken = Vec::new();
        with_own_notes(3, Event::Note { from: 1, note: vec![0] }, &mut actions, |event, actions| {
            let Event::Note { from, note } = event else { return };
            taken.push((from, note[0]));
            if note[0] == 0 {
                actions.extend([send(3, 1), send(4, 2), send(3, 3)]);
            }
        });
        assert_eq!(taken, [(1, 0), (3, 1), (3, 3)]);
        assert_eq!(actions, [send(3, 9), send(4, 2)]);
    }
}
