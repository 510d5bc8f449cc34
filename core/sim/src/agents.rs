//! The agents of a simulated job: what serves the nodes of each host but the launcher's, and of that too if the job can do without its launcher.

use talisman_control::heartbeat::Heartbeat;

use super::control_messages::Letter;
use super::trace::Who;
use super::world::{Event, TICK_NS, World};
use talisman_cluster::remote::agent::heard_nothing;

/// An agent.
pub(super) struct Agent {
    alive: bool,
    heartbeat: Heartbeat,
}

impl World {
    /// The agents of all hosts but the first, which has one if it is to be missed.
    pub(super) fn start_agents(&self) {
        if self.plan.passes_on() {
            self.begin_succession();
        }
        for host in u32::from(!self.plan.passes_on())..self.plan.hosts.len() as u32 {
            let agent = Agent { alive: true, heartbeat: Heartbeat::new(self.plan.silence) };
            self.agents.borrow_mut().insert(host, agent);
            let (first, second) = (self.between((0, TICK_NS)), self.between((0, TICK_NS)));
            self.plan(first, Event::AgentBeat(host));
            self.plan(second, Event::HostBeat(host));
        }
    }

    /// Whether somebody hears what is sent to this host, or sends what its nodes say.
    pub(super) fn has_agent(&self, host: u32) -> bool {
        host == 0 && !self.plan.passes_on()
            || self.agents.borrow().get(&host).is_some_and(|agent| agent.alive)
    }

    /// Something came from the launcher: it is there.
    pub(super) fn agent_hears(&self, host: u32) {
        if let Some(agent) = self.agents.borrow_mut().get_mut(&host) {
            agent.heartbeat.heard();
        }
    }

    /// A tick of its conversation with the launcher.
    pub(super) fn on_agent_beat(&self, host: u32) {
        if !self.has_agent(host) {
            return;
        }
        if self.plan.passes_on() {
            self.tick_of_heir(host);
            return self.plan(self.now() + TICK_NS, Event::AgentBeat(host));
        }
        self.post(Letter::Alive(host));
        let silent = self.agents.borrow_mut().get_mut(&host).is_some_and(|agent| agent.heartbeat.tick());
        match silent {
            true => {
                self.post(Letter::Failed(host, heard_nothing(self.plan.silence)));
                self.end_agent(host);
            }
            false => self.plan(self.now() + TICK_NS, Event::AgentBeat(host)),
        }
    }

    /// An agent ends, and its nodes with it.
    pub(super) fn end_agent(&self, host: u32) {
        if !self.has_agent(host) || host == 0 && !self.plan.passes_on() {
            return;
        }
        self.silence_agent(host);
        for node in self.nodes_of(host) {
            self.kill(node);
        }
        if self.plan.passes_on() {
            self.say(Who::Launcher, format_args!("the agent of host {host} ends"));
            self.end_heir(host);
        }
    }

    /// It is gone without a word.
    pub(super) fn silence_agent(&self, host: u32) {
        if let Some(agent) = self.agents.borrow_mut().get_mut(&host) {
            agent.alive = false;
        }
    }
}
