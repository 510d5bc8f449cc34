//! What options are where nobody says anything, for programs that do not read a command line.

use std::time::Duration;

use super::{RunArgs, TransportChoice};
use crate::Measures;
use crate::balancing::Every;
use crate::checkpoints::FaultTolerance;
use crate::strategies;
use talisman_base::history::Few;

impl Default for RunArgs {
    fn default() -> Self {
        RunArgs {
            nodes: 1,
            pes: None,
            hosts: None,
            seed: 0,
            record: None,
            run_again: None,
            run_again_until: None,
            report: None,
            trace: None,
            trace_window: None,
            trace_every: None,
            trace_size: 1 << 30,
            dashboard: None,
            progress: false,
            simulate: false,
            pack_all: false,
            repack: false,
            verify_replay: false,
            measures: Measures::default(),
            few: Few::default(),
            transport: TransportChoice::default(),
            tls: false,
            listen: None,
            silence: Duration::from_secs(10),
            kill: Vec::new(),
            chaos: None,
            label_output: false,
            no_advice: false,
            log: None,
            balancer: strategies::OFF.into(),
            lb_every: Every::default(),
            lb_dump: None,
            lb_log: false,
            node_memory: None,
            pe_speeds: Vec::new(),
            ft: FaultTolerance::default(),
            ckpt_every: None,
            mtbf: None,
            log_budget: None,
            ft_check: false,
            ft_log: false,
            ckpt_dir: None,
            ckpt_key: None,
            restart: None,
            respawn: false,
            spares: 0,
            max_nodes: None,
        }
    }
}
