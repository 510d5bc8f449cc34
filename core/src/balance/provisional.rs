//! In place of what is not there yet: measurement and members.

use talisman_lb::member::{Action, Decided, Event, Member};

/// Moves everything to the next PE.
pub(crate) struct Rotate;

impl Member for Rotate {
    fn held(&self) -> usize {
        0
    }

    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        if let Event::Begin(local) = event {
            let to = (local.number + 1) % local.pes;
            let movable = local.objects.iter().filter(|object| object.migratable);
            actions.extend(movable.map(|object| Action::Move { object: object.key, to }));
            actions.push(Action::Decided(Decided::default()));
        }
    }
}

