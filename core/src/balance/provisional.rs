//! In place of what is not there yet: measurement and members.

use talisman_lb::member::{Action, Decided, Event, Local, Member};
use talisman_lb::snapshot::{Key, Node, Object};

use super::part::key_of;
use crate::chare::Kind;
use crate::object::flag;
use crate::pe::Pe;
use crate::pup::{Lender, Packer, Purpose};

/// Moves everything to the next PE.
pub(crate) struct Rotate;

impl Member for Rotate {
    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        if let Event::Begin(local) = event {
            let to = (local.number + 1) % local.pes;
            let movable = local.objects.iter().filter(|object| object.migratable);
            actions.extend(movable.map(|object| Action::Move { object: object.key, to }));
            actions.push(Action::Decided(Decided::default()));
        }
    }
}

impl Pe {
    /// What this PE knows of its load over the last period, which was so many seconds. A new period begins.
    pub(crate) fn local(&self, _period: f64) -> Local {
        let settings = &self.balancer.as_ref().expect("balancing is on").settings;
        let mut objects: Vec<Object> = self
            .slots
            .iter()
            .filter_map(|head| {
                // SAFETY: an object in a slot is live.
                let object = unsafe { head.as_ref() };
                let chare = object.collection().chare;
                let load = object.load.replace(0) as f64 / 1e9;
                let mut lender = Lender::new(Packer::new(Purpose::Migration));
                if !object.has(flag::LIVE) {
                    return None;
                }
                // SAFETY: live, of this type, and between entries.
                unsafe { (chare.lend)(head, &mut lender) };
                let bytes = crate::pup::Packed::from(lender.finish()).bytes().len() as u64;
                Some(Object {
                    key: key_of(object.id()),
                    load,
                    bytes,
                    pe: self.id,
                    migratable: chare.kind == Kind::Array,
                    position: None,
                })
            })
            .collect();
        objects.sort_by_key(|object| object.key);
        Local {
            number: self.id,
            pe: talisman_lb::snapshot::Pe {
                node: self.node.number,
                speed: settings.speed(self.id),
                background: 0.0,
                available: true,
            },
            node: Node { host: self.node.config.host, memory: settings.node_memory },
            pes: self.pes(),
            objects,
            edges: Vec::new(),
            peers: Vec::<Key>::new(),
        }
    }

    /// Seconds that the objects here computed since the last period.
    pub(crate) fn load(&self) -> f64 {
        // SAFETY: an object in a slot is live.
        self.slots.iter().map(|head| unsafe { head.as_ref() }.load.get() as f64 / 1e9).sum()
    }
}
