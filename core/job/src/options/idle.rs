//! Options that change nothing: whoever gives one expects something else.

use super::{RunArgs, TransportChoice};
use crate::checkpoints::{CkptEvery, FaultTolerance};
use crate::strategies;

/// An option that would change nothing if it were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its `clap` name.
    pub id: &'static str,
    /// Why, and what to write.
    pub why: &'static str,
    /// Whether it is refused on the command line. Else it depends on how many nodes there happen to be: then it is only said.
    pub is_refused: bool,
    /// The `clap` name of the option that it needs: if somebody has said no to that, it is only said too.
    pub needs: Option<&'static str>,
}

const NO_BALANCER: &str =
    "without --balancer objects stay where they are; add --balancer greedy, or leave it out";
const NO_TRACE: &str = "without --trace nothing is traced; add --trace job.pftrace, or leave it out";
const NO_CHECKPOINTS: &str = "without --ft no checkpoints are taken; add --ft double, or leave it out";
const ONE_PROCESS: &str = "the whole job is one process; add --nodes 2 or more, or leave it out";
const NO_REQUESTS: &str =
    "a job that is one process keeps checkpoints in memory alone; add --nodes 2 or more, or --ft disk";
const WITHIN_HOST: &str = "the nodes of one host are linked within it, and nothing goes over TCP; \
                           add --transport tcp, or leave it out";

const NOT_SIMULATED: &str = "only simulated PEs are run again; add --simulate, or leave it out";
const LOSES_NODES: &str =
    "PEs of a simulated job that loses nodes are not run again; leave one of it and the losses out";

impl RunArgs {
    /// The options that change nothing in such a job, whether they are given or not.
    #[doc(hidden)]
    pub fn idle(&self) -> Vec<Idle> {
        let needing = |id, why, needs| Idle { id, why, is_refused: true, needs };
        let said = |id, why| Idle { id, why, is_refused: false, needs: None };
        let mut idle = Vec::new();
        if self.balancer == strategies::OFF {
            let ids = ["talisman-lb-every", "talisman-lb-dump", "talisman-node-memory", "talisman-pe-speeds"];
            idle.extend(ids.map(|id| needing(id, NO_BALANCER, Some("talisman-balancer"))));
            idle.push(said("talisman-lb-log", NO_BALANCER));
        }
        if self.trace.is_none() {
            let ids = ["talisman-trace-window", "talisman-trace-every", "talisman-trace-size"];
            idle.extend(ids.map(|id| needing(id, NO_TRACE, Some("talisman-trace"))));
        }
        if self.ft == FaultTolerance::Off {
            idle.push(needing("talisman-mtbf", NO_CHECKPOINTS, Some("talisman-ft")));
            idle.push(said("talisman-ft-log", NO_CHECKPOINTS));
        } else if !matches!(self.ckpt_every, None | Some(CkptEvery::Auto)) {
            let why = "--ckpt-every says when checkpoints are taken; only --ckpt-every auto asks how often nodes are lost";
            idle.push(needing("talisman-mtbf", why, None));
        }
        if !self.uses_tcp() {
            let why = if self.has_processes() && self.nodes > 1 { WITHIN_HOST } else { ONE_PROCESS };
            idle.push(needing("talisman-tls", why, None));
            idle.push(said("talisman-listen", why));
        }
        if !self.has_processes() {
            idle.push(said("talisman-label-output", ONE_PROCESS));
            if !self.simulate {
                idle.push(said("talisman-ckpt-dir", NO_REQUESTS));
            }
            if self.transport != TransportChoice::default() {
                idle.push(said("talisman-transport", ONE_PROCESS));
            }
            if !self.loses_simulated_nodes() {
                idle.push(said("talisman-silence", ONE_PROCESS));
            }
        }
        if self.simulate {
            let why = "a simulated job is one process, over before a page is read; leave one of it and --simulate out";
            idle.push(needing("talisman-dashboard", why, None));
            idle.push(said(
                "talisman-ckpt-dir",
                "simulated nodes have no disks; leave one of it and --simulate out",
            ));
        }
        if !self.simulate {
            idle.push(needing("talisman-verify-replay", NOT_SIMULATED, Some("talisman-simulate")));
        } else if self.loses_simulated_nodes() {
            idle.push(needing("talisman-verify-replay", LOSES_NODES, None));
        }
        if self.restart.is_some() {
            let why = "with --restart random numbers go on from the seed that the job began with";
            idle.push(said("talisman-seed", why));
        }
        idle
    }

    /// Whether any two nodes may be linked over TCP. Nodes that join later are, like nodes of other hosts.
    fn uses_tcp(&self) -> bool {
        let may_be_replaced = self.respawn
            || self.spares > 0
            || self.ft.logs()
            || self.max_nodes.is_some()
            || self.restart.is_some();
        let over_tcp = self.nodes > 1 && self.transport.uses_network();
        self.has_processes() && (self.hosts.is_some() || over_tcp || may_be_replaced)
    }
}
