//! What options mean together, and where nothing is said.

use std::num::NonZero;
use std::thread;

use clap::{Args as _, Command};

use super::{FT_LOG, PES_MAX, RunArgs, Traced};
use crate::checkpoints::{CkptEvery, FaultTolerance};
use crate::report::advice::Asked;
use crate::strategies;
use talisman_base::layout;

/// PEs per simulated node when `--pes` is not given: fixed, so that a seed means the same run on every machine.
pub const PES_SIMULATED: u32 = 2;

/// Strategies that look at who sends messages to whom.
const MINDS_MESSAGES: [&str; 3] = ["comm", "graph", "metis"];

impl RunArgs {
    /// Which parts of the job are traced, if it is.
    #[doc(hidden)]
    pub fn traced(&self) -> Traced {
        Traced { window: self.trace_window, every: self.trace_every }
    }

    /// The options as a command of their own, which nothing is read with.
    pub fn command_of_options() -> Command {
        RunArgs::augment_args(Command::new("options"))
    }

    /// Whether the nodes are processes of their own, which a launcher starts and watches.
    pub fn has_processes(&self) -> bool {
        let is_on_disk = self.ft == FaultTolerance::Disk || self.restart.is_some();
        (self.numbers() > 1 || self.hosts.is_some() || is_on_disk || self.dashboard.is_some())
            && !self.simulate
    }

    /// Standard error is a terminal: whoever sits there sees each checkpoint, unless the variable says otherwise. So it does from now on to the
    /// processes that this one starts, whose standard error is none.
    ///
    /// Has to be called before any other thread is started: it changes the environment.
    #[doc(hidden)]
    pub fn log_on_a_terminal(&mut self) {
        if !self.ft.has_checkpoints() || self.simulate || std::env::var_os(FT_LOG).is_some() {
            return;
        }
        self.ft_log = true;
        // SAFETY: no other thread reads the environment, by this function's contract.
        unsafe { std::env::set_var(FT_LOG, "1") };
    }

    /// How many nodes have a number: those that the job begins with, and those that may be added.
    #[doc(hidden)]
    pub fn numbers(&self) -> u32 {
        self.nodes.max(self.max_nodes.unwrap_or(0))
    }

    /// Whether nodes are to be killed in a simulation, which then has processes, a launcher and connections too.
    pub fn loses_simulated_nodes(&self) -> bool {
        self.simulate && self.nodes > 1 && (!self.kill.is_empty() || self.chaos.is_some())
    }

    /// The strategy that balances loads, if one does.
    #[doc(hidden)]
    pub fn strategy(&self) -> Option<&str> {
        (self.balancer != strategies::OFF).then_some(self.balancer.as_str())
    }

    /// What the job was asked for, as far as advice at its end depends on it. None for a simulated job, whose times are made up.
    #[doc(hidden)]
    pub fn asked(&self) -> Option<Asked> {
        let asked = Asked {
            balances: self.strategy().is_some(),
            minds_messages: self.balancer.split('+').any(|name| MINDS_MESSAGES.contains(&name)),
            chooses_period: matches!(self.ckpt_every, None | Some(CkptEvery::Auto)),
            is_looked_at: self.trace.is_some() || self.dashboard.is_some(),
            mtbf_s: self.mtbf.map(|mtbf| mtbf.as_secs_f64()),
            cores: self.hosts.is_none().then(available_cores),
        };
        (!self.simulate).then_some(asked)
    }

    /// Whether each node has one PE if nothing else is said, and can have no more.
    fn has_single_pes(&self) -> bool {
        layout::needed_by().is_some() || self.ft.logs()
    }

    /// PEs per node: `--pes`, otherwise the cores this process may use, divided among the nodes of this host
    /// ([`PES_SIMULATED`] in simulation; one if something in the program needs the same addresses on all nodes, and with `--ft logging`).
    pub fn pes_per_node(&self) -> u32 {
        let default = || match self.hosts {
            _ if self.simulate => PES_SIMULATED,
            _ if self.has_single_pes() => 1,
            Some(_) => available_cores(),
            None => (available_cores() / self.nodes.max(1)).max(1),
        };
        self.pes.unwrap_or_else(default)
    }
}

/// Cores this process may use: its affinity mask and the quota of its control group count, not only the machine.
pub(super) fn available_cores() -> u32 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(PES_MAX).min(PES_MAX)
}
