//! How much there may be of everything, and which options go together.

use std::time::Duration;

use super::{OptionsError, RunArgs};
use crate::checkpoints::FaultTolerance;
use crate::strategies;
use talisman_base::layout;

/// Most PEs a node may have: far above any machine's cores, so more is a slip of the finger.
pub const PES_MAX: u32 = 1024;

/// Most nodes a job may have.
pub const NODES_MAX: u32 = 65_536;

/// Most nodes of a job that are processes of their own: each is linked with all others.
pub const PROCESSES_MAX: u32 = 1024;

/// Shortest `--silence`: a machine with more to do than cores keeps a process waiting for some tenths of a second.
pub const SILENCE_MIN: Duration = Duration::from_millis(500);

/// Most PEs of a whole job; each costs memory even if it does nothing.
pub const PES_IN_ALL_MAX: u64 = 1 << 20;

/// The least `--log-budget` for each link of a node: a few large messages, and what is said until a checkpoint is there.
const BUDGET_PER_LINK: u64 = 1 << 20;

impl RunArgs {
    /// Checks the options against each other. What they name on this host is looked at by [`RunArgs::validate_paths`].
    ///
    /// # Errors
    /// The first option that cannot be, with what to write instead.
    pub fn validate(&self) -> Result<(), OptionsError> {
        self.validate_pes()?;
        self.validate_nodes()?;
        self.validate_hosts()?;
        self.validate_pes_in_all()?;
        self.validate_silence()?;
        self.validate_tls()?;
        self.validate_faults()?;
        self.validate_balancer()?;
        self.validate_record()?;
        self.validate_trace_options()?;
        self.validate_checkpoints()
    }

    /// What is as these options say, and may not be what is wanted.
    #[doc(hidden)]
    pub fn note(&self) -> Option<String> {
        let is_alone = self.nodes == 1 && self.hosts.is_none() && !self.simulate;
        if self.ft.logs() && self.hosts.is_none() {
            return Some("--ft logging: all nodes are on this host, whose loss is the end of the job".into());
        }
        let (nodes, until) = match self.max_nodes {
            Some(2..) => ("more", "until nodes are added (`talisman grow`), "),
            _ => ("--nodes 2 or more", ""),
        };
        (is_alone && self.ft == FaultTolerance::Double).then(|| {
            format!(
                "--ft double with one node: {until}nothing is held twice, and its loss is the job's; add {nodes}, or keep \
                 checkpoints on disk (--ft disk)"
            )
        })
    }

    fn validate_pes(&self) -> Result<(), OptionsError> {
        match self.pes {
            Some(0) => Err(OptionsError::NoPes),
            Some(pes) if pes > PES_MAX => Err(OptionsError::TooManyPes { pes }),
            Some(pes) if !self.simulate => self.validate_single_pe(pes, layout::needed_by()),
            _ => Ok(()),
        }
    }

    /// Of a program with something that needs to be at the same addresses on all nodes, if there is any: one PE of a
    /// node can be.
    pub(super) fn validate_single_pe(&self, pes: u32, by: Option<&'static str>) -> Result<(), OptionsError> {
        match by {
            Some(by) if pes > 1 => {
                let nodes = u64::from(self.nodes.max(1)) * u64::from(pes);
                Err(OptionsError::OnePePerNode { pes, by, nodes })
            }
            _ => Ok(()),
        }
    }

    /// No nodes given means, with hosts, as many as they have slots.
    fn validate_nodes(&self) -> Result<(), OptionsError> {
        match self.nodes {
            0 if self.hosts.is_some() => Ok(()),
            0 => Err(OptionsError::NoNodes),
            nodes if nodes > NODES_MAX => Err(OptionsError::TooManyNodes { nodes }),
            nodes if (self.has_processes() || self.loses_simulated_nodes()) && nodes > PROCESSES_MAX => {
                Err(OptionsError::TooManyProcesses { nodes })
            }
            _ => Ok(()),
        }
    }

    fn validate_hosts(&self) -> Result<(), OptionsError> {
        match self.hosts {
            Some(_) if self.simulate => Err(OptionsError::HostsSimulated),
            Some(_) if self.listen.is_some() => Err(OptionsError::ListenWithHosts),
            _ => Ok(()),
        }
    }

    fn validate_pes_in_all(&self) -> Result<(), OptionsError> {
        let (nodes, pes) = (self.numbers(), self.pes_per_node());
        let in_all = u64::from(nodes) * u64::from(pes);
        if in_all > PES_IN_ALL_MAX { Err(OptionsError::TooManyPesInAll { nodes, pes }) } else { Ok(()) }
    }

    fn validate_silence(&self) -> Result<(), OptionsError> {
        let silence = self.silence;
        if silence < SILENCE_MIN { Err(OptionsError::SilenceTooShort { silence }) } else { Ok(()) }
    }

    fn validate_tls(&self) -> Result<(), OptionsError> {
        if self.tls && cfg!(not(feature = "tls")) { Err(OptionsError::NoTls) } else { Ok(()) }
    }

    fn validate_faults(&self) -> Result<(), OptionsError> {
        let any = !self.kill.is_empty() || self.chaos.is_some();
        if any && !self.has_processes() && !self.loses_simulated_nodes() {
            return Err(OptionsError::NobodyToKill);
        }
        // With hosts the number of nodes may not be known yet.
        let nodes = self.numbers();
        match self.kill.iter().find(|kill| self.nodes > 0 && kill.node >= nodes) {
            Some(&kill) => Err(OptionsError::NoSuchNode { kill, nodes }),
            None => Ok(()),
        }
    }

    fn validate_balancer(&self) -> Result<(), OptionsError> {
        strategies::check_name(&self.balancer).map_err(|message| OptionsError::NoBalancer { message })
    }

    /// What a PE is given has to come through its turns, which it does where no other thread and no disk has a part of it.
    fn validate_record(&self) -> Result<(), OptionsError> {
        let refused = [
            ("--ft double", self.ft == FaultTolerance::Double),
            ("--ft disk", self.ft == FaultTolerance::Disk),
            ("--restart", self.restart.is_some()),
        ];
        match refused.into_iter().find(|(_, is_given)| *is_given) {
            _ if self.record.is_none() => Ok(()),
            _ if self.simulate => Err(OptionsError::RecordSimulated),
            Some((option, _)) => Err(OptionsError::NotWithRecord { option }),
            None => Ok(()),
        }
    }

    /// Whether PEs of such a job can be traced.
    fn validate_trace_options(&self) -> Result<(), OptionsError> {
        const SIMULATED: &str = "simulated jobs that lose nodes are not traced";
        const REPORT: &str = "both would be the same file";
        let refused = [
            ("--kill", self.loses_simulated_nodes(), SIMULATED),
            ("--report", self.report == self.trace, REPORT),
        ];
        match refused.into_iter().find(|(_, is_given, _)| *is_given) {
            Some((option, _, why)) if self.trace.is_some() => Err(OptionsError::NotWithTrace { option, why }),
            _ => Ok(()),
        }
    }

    fn validate_checkpoints(&self) -> Result<(), OptionsError> {
        match self.mtbf {
            _ if self.ft.logs() => self.validate_logging(),
            _ if self.log_budget.is_some() => Err(OptionsError::BudgetWithoutLogging),
            _ if self.ft_check => Err(OptionsError::CheckWithoutLogging),
            _ if self.ft == FaultTolerance::Off && self.ckpt_every.is_some() => {
                Err(OptionsError::CheckpointsWithoutFt)
            }
            Some(mtbf) if mtbf.is_zero() => Err(OptionsError::NoTimeBetweenFailures),
            _ if self.ckpt_dir.is_some() && self.ft == FaultTolerance::Off => {
                Err(OptionsError::FolderWithoutFt)
            }
            _ if self.ckpt_key.is_some() && self.ft == FaultTolerance::Off && self.restart.is_none() => {
                Err(OptionsError::KeyWithoutFiles)
            }
            _ if self.restart.is_some() && self.simulate => Err(OptionsError::RestartSimulated),
            _ => self.validate_replacements().and_then(|()| self.validate_most_nodes()),
        }
    }

    fn validate_logging(&self) -> Result<(), OptionsError> {
        match () {
            () if self.simulate => Err(OptionsError::LoggingSimulated),
            () if self.mtbf.is_some_and(|mtbf| mtbf.is_zero()) => Err(OptionsError::NoTimeBetweenFailures),
            () if self.nodes == 1 && self.hosts.is_none() => Err(OptionsError::LoggingAlone),
            () => {
                self.validate_log_budget()?;
                self.validate_replacements()?;
                self.validate_most_nodes()
            }
        }
    }

    /// With hosts the number of nodes may not be known yet.
    fn validate_log_budget(&self) -> Result<(), OptionsError> {
        let least = u64::from(self.numbers().saturating_sub(1)).max(1) * BUDGET_PER_LINK;
        match self.log_budget {
            Some(bytes) if bytes < least => Err(OptionsError::BudgetTooSmall { bytes, least }),
            _ => Ok(()),
        }
    }

    fn validate_replacements(&self) -> Result<(), OptionsError> {
        let option = match (self.respawn, self.spares) {
            (false, 0) => return Ok(()),
            (true, _) => "--respawn",
            (false, _) => "--spares",
        };
        match () {
            () if self.ft == FaultTolerance::Off => Err(OptionsError::ReplacementsWithoutFt { option }),
            () if self.simulate => Err(OptionsError::ReplacementsSimulated { option }),
            () if self.nodes == 1 => Err(OptionsError::NobodyToReplaceFrom { option }),
            () if self.spares > PROCESSES_MAX || self.nodes + self.spares > PROCESSES_MAX => {
                Err(OptionsError::TooManySpares { nodes: self.nodes, spares: self.spares })
            }
            () => Ok(()),
        }
    }

    fn validate_most_nodes(&self) -> Result<(), OptionsError> {
        let Some(most) = self.max_nodes else { return Ok(()) };
        match () {
            () if self.ft == FaultTolerance::Off => Err(OptionsError::MostNodesWithoutFt),
            () if self.simulate => Err(OptionsError::MostNodesSimulated),
            () if most < self.nodes => Err(OptionsError::FewerThanNodes { most, nodes: self.nodes }),
            () if most > PROCESSES_MAX => Err(OptionsError::TooManyProcesses { nodes: most }),
            () if most + self.spares > PROCESSES_MAX => {
                Err(OptionsError::TooManySpares { nodes: most, spares: self.spares })
            }
            () => Ok(()),
        }
    }
}
