//! The register of a launcher, as the conversations with its hosts share it: each tells what happens to its own host, and all agents are
//! told who is there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use super::door::{Pass, Reached, reach};
use crate::remote::message::ToAgent;
use talisman_control::succession::quorum::{Register, Roll};

/// Shared by all of them.
#[derive(Clone)]
pub struct ProcessRegistry {
    shared: Arc<Mutex<Shared>>,
    pass: Pass,
}

struct Shared {
    register: Register,
    agents: BTreeMap<u32, mpsc::UnboundedSender<ToAgent>>,
}

impl ProcessRegistry {
    pub fn new(register: Register, pass: Pass) -> Self {
        let shared = Shared { register, agents: BTreeMap::new() };
        ProcessRegistry { shared: Arc::new(Mutex::new(shared)), pass }
    }

    /// The agent of a host is told by this way.
    pub fn add(&self, rank: u32, agent: mpsc::UnboundedSender<ToAgent>) {
        self.lock().agents.insert(rank, agent);
    }

    /// Tells all agents who is there.
    pub fn tell(&self, roll: &Roll) {
        for agent in self.lock().agents.values() {
            let _ = agent.send(ToAgent::Roll(roll.clone()));
        }
    }

    pub fn on_listening(&self, rank: u32, door: SocketAddr) {
        let first = self.lock().register.on_listening(rank, door);
        first.iter().for_each(|roll| self.tell(roll));
    }

    pub fn on_enrolled(&self, rank: u32, number: u64) {
        self.lock().register.on_enrolled(rank, number);
    }

    /// A host is lost. If too many are, all others are told that the job ends.
    pub async fn on_lost(&self, rank: u32) {
        let (door, next) = {
            let mut shared = self.lock();
            shared.agents.remove(&rank);
            (shared.register.door(rank), shared.register.on_lost(rank))
        };
        next.iter().for_each(|roll| self.tell(roll));
        if let Some(door) = door
            && matches!(reach(door, &self.pass).await, Reached::Dead)
        {
            self.lock().register.on_dead(rank);
        }
        let shared = self.lock();
        if !shared.register.goes_on() {
            shared.agents.values().for_each(|agent| drop(agent.send(ToAgent::Out)));
        }
    }

    /// Whether a host may go on with the job that is not there: nothing proves that it is dead.
    pub async fn may_go_on_elsewhere(&self) -> bool {
        let missing = self.lock().register.missing();
        for rank in missing {
            let door = self.lock().register.door(rank);
            let is_dead = match door {
                Some(door) => matches!(reach(door, &self.pass).await, Reached::Dead),
                None => false,
            };
            if !is_dead {
                return true;
            }
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
