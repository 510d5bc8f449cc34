//! Slurm on all hosts of a network: its controller on the first one, and a daemon on each. All that they write is in the test's folder
//! or in `/run`, which each host has for itself.
//!
//! Needs the Debian packages `slurm-client`, `slurmctld`, `slurmd` and `munge`. The daemons end with their hosts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Network, Running, eventually, on_path};

/// Processors that each host is said to have: more than some machines of these tests.
const PROCESSORS: u32 = 4;

/// What its programs are started on.
pub struct Slurm<'a> {
    network: &'a Network,
    configuration: PathBuf,
}

/// To have it.
pub fn slurm() -> Option<String> {
    let programs = ["munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch", "scancel", "squeue"];
    let missing = programs.into_iter().find(|program| !on_path(program));
    super::hosts().or_else(|| Some(format!("there is no Slurm here: no program `{}`", missing?)))
}

impl<'a> Slurm<'a> {
    /// All hosts can be allocated.
    pub fn on(network: &'a Network) -> Self {
        let folder = network.folder();
        let configuration = folder.join("slurm.conf");
        fs::write(&configuration, configured(network)).expect("the folder is ours");
        fs::create_dir(folder.join("state")).expect("the folder is ours");
        let key = folder.join("munge.key");
        fs::write(&key, [7; 64]).expect("the folder is ours");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("the folder is ours");
        for host in &network.hosts {
            let (name, folder) = (&host.name, folder.display());
            // It has something to say about the names of these hosts, which nobody needs.
            host.namespace.sh(&format!(
                "mkdir /run/munge /run/slurmd && munged --force --key-file={folder}/munge.key \
                 --log-file={folder}/{name}.munged.log --pid-file=/run/munge/pid --seed-file=/run/munge/seed \
                 --num-threads=1 >{folder}/{name}.munged.err 2>&1"
            ));
        }
        let slurm = Slurm { network, configuration };
        slurm.begin(0, "slurmctld");
        (0..network.hosts.len()).for_each(|host| slurm.begin(host, "slurmd"));
        let all = network.hosts.len().to_string();
        let can_be_had = || slurm.ask("sinfo", &["--noheader", "--states=idle", "--format=%D"]).trim() == all;
        assert!(eventually(can_be_had), "{}", slurm.ask("sinfo", &["--Node", "--long"]));
        slurm
    }

    fn begin(&self, host: usize, daemon: &str) {
        let host = &self.network.hosts[host];
        let log = self.network.folder().join(format!("{}.{daemon}.err", host.name));
        let configuration = self.configuration.display();
        host.namespace.sh(&format!("SLURM_CONF={configuration} {daemon} >{} 2>&1", log.display()));
    }

    /// One of its programs on the first host, where nobody finds other hosts by ssh.
    pub fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = self.network.command(0, Path::new(program));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"SLURM"))
        {
            command.env_remove(name);
        }
        command.args(words).env_remove("TALISMAN_SSH").env("SLURM_CONF", &self.configuration);
        command
    }

    /// What one of them answers.
    pub fn ask(&self, program: &str, words: &[&str]) -> String {
        let ended = Running::start(&mut self.command(program, words)).end();
        ended.output
    }

    /// Hands in a script, whose output will be in this file; the number of its job.
    pub fn hand_in(&self, options: &[&str], script: &str) -> (String, PathBuf) {
        let folder = self.network.folder();
        let (file, output) = (folder.join("script"), folder.join("script.out"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("the folder is ours");
        fs::write(&output, "").expect("the folder is ours");
        let mut command = self.command("sbatch", &["--parsable", "--output"]);
        let ended = Running::start(command.arg(&output).args(options).arg(&file)).end();
        assert!(ended.status.success(), "{ended:?}");
        (ended.output.trim().into(), output)
    }

    /// The jobs that there are.
    pub fn jobs(&self) -> Vec<String> {
        self.ask("squeue", &["--noheader", "--format=%i"]).split_whitespace().map(str::to_owned).collect()
    }

    /// The only one.
    pub fn job(&self) -> String {
        let jobs = self.jobs();
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        jobs.into_iter().next().expect("there is one")
    }

    pub fn wait_until_no_job(&self) {
        assert!(eventually(|| self.jobs().is_empty()), "{:?}", self.jobs());
    }
}

fn configured(network: &Network) -> String {
    let folder = network.folder().display();
    let mut text = format!(
        "ClusterName=test\nSlurmctldHost=h0({})\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nMpiDefault=none\nReturnToService=2\nKillWait=30\nSlurmdTimeout=5\n\
         SchedulerParameters=batch_sched_delay=0\nSlurmdParameters=config_overrides\n\
         StateSaveLocation={folder}/state\nSlurmctldLogFile={folder}/slurmctld.log\n\
         SlurmctldPidFile=/run/slurmctld.pid\nSlurmdSpoolDir=/run/slurmd\nSlurmdPidFile=/run/slurmd.pid\n\
         SlurmdLogFile={folder}/%n.slurmd.log\nPartitionName=all Nodes=ALL Default=YES\n",
        network.hosts[0].address
    );
    for host in &network.hosts {
        let (name, address) = (&host.name, &host.address);
        text += &format!("NodeName={name} NodeAddr={address} CPUs={PROCESSORS}\n");
    }
    text
}
