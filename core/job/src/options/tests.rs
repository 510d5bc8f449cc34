//! Options that can be, and those that cannot.

use std::path::PathBuf;
use std::time::Duration;

use super::derived_values::available_cores;
use super::*;
use crate::checkpoints::{CkptEvery, FaultTolerance};

#[test]
fn a_job_that_logs_has_two_nodes() {
    let job = RunArgs { nodes: 3, ft: FaultTolerance::Logging, ..RunArgs::default() };
    assert_eq!((job.validate(), job.pes_per_node()), (Ok(()), 1));
    assert!(job.note().unwrap().contains("on this host"));
    let wrong = |job: RunArgs| job.validate().unwrap_err();
    assert_eq!(wrong(RunArgs { nodes: 1, ..job.clone() }), OptionsError::LoggingAlone);
    assert_eq!(wrong(RunArgs { simulate: true, ..job.clone() }), OptionsError::LoggingSimulated);
    assert_eq!(RunArgs { pes: Some(2), ..job.clone() }.validate(), Ok(()));
    let recorded =
        RunArgs { pes: Some(2), record: Some("folder".into()), balancer: "greedy".into(), ..job.clone() };
    assert_eq!(recorded.validate(), Ok(()));
    assert_eq!(RunArgs { ckpt_every: Some(CkptEvery::Steps(10)), ..job.clone() }.validate(), Ok(()));
    let on_disk = RunArgs { ckpt_dir: Some("folder".into()), ckpt_key: Some("key".into()), ..job.clone() };
    assert_eq!(on_disk.validate(), Ok(()));
    assert_eq!(RunArgs { restart: Some("folder".into()), ..job.clone() }.validate(), Ok(()));
    assert_eq!(RunArgs { max_nodes: Some(4), ..job.clone() }.validate(), Ok(()));
    let fewer = OptionsError::FewerThanNodes { most: 2, nodes: 3 };
    assert_eq!(wrong(RunArgs { max_nodes: Some(2), ..job.clone() }), fewer);
    assert_eq!(RunArgs { spares: 1, balancer: "greedy".into(), ..job.clone() }.validate(), Ok(()));
    assert!(matches!(wrong(RunArgs { spares: 1 << 20, ..job }), OptionsError::TooManySpares { .. }));
}

#[test]
fn a_budget_for_logs_is_for_jobs_that_log_and_has_room_for_each_link() {
    let job = RunArgs { nodes: 3, ft: FaultTolerance::Logging, ..RunArgs::default() };
    let of = |bytes| RunArgs { log_budget: Some(bytes), ..job.clone() }.validate();
    assert_eq!(of(2 << 20), Ok(()));
    assert_eq!(of((2 << 20) - 1), Err(OptionsError::BudgetTooSmall { bytes: 2_097_151, least: 2 << 20 }));
    for ft in [FaultTolerance::Off, FaultTolerance::Double, FaultTolerance::Disk] {
        let other = RunArgs { ft, log_budget: Some(1 << 30), ..job.clone() };
        assert_eq!(other.validate(), Err(OptionsError::BudgetWithoutLogging));
    }
}

#[test]
fn a_job_is_checked_against_its_logs_that_has_any() {
    let job = RunArgs { nodes: 3, ft: FaultTolerance::LoggingTicket, ft_check: true, ..RunArgs::default() };
    assert_eq!(job.validate(), Ok(()));
    for ft in [FaultTolerance::Off, FaultTolerance::Double, FaultTolerance::Disk] {
        let other = RunArgs { ft, ..job.clone() };
        assert_eq!(other.validate(), Err(OptionsError::CheckWithoutLogging));
    }
}

#[test]
fn the_defaults_are_valid_and_use_the_cores() {
    let args = RunArgs::default();
    assert_eq!(args.validate(), Ok(()));
    assert_eq!(args.pes_per_node(), available_cores());
    assert!(args.pes_per_node() >= 1);
}

#[test]
fn given_pes_win_and_simulation_has_a_fixed_default() {
    assert_eq!(RunArgs { pes: Some(7), ..RunArgs::default() }.pes_per_node(), 7);
    assert_eq!(RunArgs { simulate: true, ..RunArgs::default() }.pes_per_node(), PES_SIMULATED);
}

#[test]
fn impossible_pes_are_refused() {
    let with = |pes| RunArgs { pes: Some(pes), ..RunArgs::default() }.validate();
    assert_eq!(with(0), Err(OptionsError::NoPes));
    assert_eq!(with(PES_MAX), Ok(()));
    assert_eq!(with(PES_MAX + 1), Err(OptionsError::TooManyPes { pes: PES_MAX + 1 }));
}

#[test]
fn what_needs_the_same_addresses_on_all_nodes_has_nodes_of_one_pe() {
    let with = |nodes, pes, by| RunArgs { nodes, ..RunArgs::default() }.validate_single_pe(pes, by);
    assert_eq!(with(3, 1, Some("ranks")), Ok(()));
    assert_eq!(with(3, 2, None), Ok(()));
    assert_eq!(with(3, 2, Some("ranks")), Err(OptionsError::OnePePerNode { pes: 2, by: "ranks", nodes: 6 }));
    let error = with(0, 2, Some("ranks")).unwrap_err().to_string();
    assert!(error.contains("ranks need nodes of one PE") && error.contains("--nodes 2"), "{error}");
}

#[test]
fn there_are_limits_of_nodes_and_of_processes() {
    let with = |nodes, simulate| RunArgs { nodes, simulate, ..RunArgs::default() }.validate();
    assert_eq!(with(0, true), Err(OptionsError::NoNodes));
    assert_eq!(with(2, false), Ok(()));
    assert_eq!(
        with(PROCESSES_MAX + 1, false),
        Err(OptionsError::TooManyProcesses { nodes: PROCESSES_MAX + 1 })
    );
    assert_eq!(with(PROCESSES_MAX + 1, true), Ok(()));
    assert_eq!(with(NODES_MAX + 1, true), Err(OptionsError::TooManyNodes { nodes: NODES_MAX + 1 }));
}

#[test]
fn hosts_tell_the_number_of_nodes_themselves() {
    let hosts = Some(PathBuf::from("hosts"));
    let with = |nodes, simulate| RunArgs { nodes, simulate, hosts: hosts.clone(), ..RunArgs::default() };
    assert_eq!(with(0, false).validate(), Ok(()));
    assert_eq!(with(0, true).validate(), Err(OptionsError::HostsSimulated));
    let listening = RunArgs { listen: Some("10.0.0.1".parse().unwrap()), ..with(2, false) };
    assert_eq!(listening.validate(), Err(OptionsError::ListenWithHosts));
}

#[test]
fn faults_need_a_process_to_happen_to() {
    let with = |nodes, simulate, kill: &str| {
        let kill = vec![kill.parse().unwrap()];
        RunArgs { nodes, simulate, kill, ..RunArgs::default() }.validate()
    };
    assert_eq!(with(2, false, "1@2s"), Ok(()));
    assert_eq!(with(1, false, "0@2s"), Err(OptionsError::NobodyToKill));
    assert_eq!(with(1, true, "0@2s"), Err(OptionsError::NobodyToKill));
    assert_eq!(with(2, true, "1@2s"), Ok(()));
    let error = with(2, false, "2@step4").unwrap_err().to_string();
    assert_eq!(error, "--kill 2@step4: there are 2 nodes, the last one is 1");
}

#[test]
fn silence_has_a_least_length() {
    let with = |silence| RunArgs { silence, ..RunArgs::default() }.validate();
    assert_eq!(with(SILENCE_MIN), Ok(()));
    let silence = SILENCE_MIN / 2;
    assert_eq!(with(silence), Err(OptionsError::SilenceTooShort { silence }));
}

#[test]
fn encryption_is_refused_where_it_was_left_out() {
    let result = RunArgs { tls: true, ..RunArgs::default() }.validate();
    assert_eq!(result, if cfg!(feature = "tls") { Ok(()) } else { Err(OptionsError::NoTls) });
}

#[test]
fn a_job_has_a_limit_of_pes_in_all() {
    let with =
        |nodes, pes| RunArgs { nodes, pes: Some(pes), simulate: true, ..RunArgs::default() }.validate();
    assert_eq!(with(1024, PES_MAX), Ok(()));
    assert_eq!(with(1025, PES_MAX), Err(OptionsError::TooManyPesInAll { nodes: 1025, pes: PES_MAX }));
    assert_eq!(with(NODES_MAX, 16), Ok(()));
}

#[test]
fn checkpoints_are_for_jobs_that_survive() {
    let ckpt_every = Some(CkptEvery::Steps(10));
    let with = |ft, mtbf| RunArgs { ft, ckpt_every, mtbf, ..RunArgs::default() }.validate();
    assert_eq!(with(FaultTolerance::Off, None), Err(OptionsError::CheckpointsWithoutFt));
    assert_eq!(with(FaultTolerance::Double, None), Ok(()));
    let never = Some(Duration::ZERO);
    assert_eq!(with(FaultTolerance::Double, never), Err(OptionsError::NoTimeBetweenFailures));
}

#[test]
fn who_is_alone_is_told_that_nothing_is_held_twice() {
    let job = RunArgs { nodes: 1, ft: FaultTolerance::Double, ..RunArgs::default() };
    let note = job.note().expect("it may not be what is wanted");
    assert!(note.contains("--nodes 2 or more") && note.contains("--ft disk"), "{note}");
    let grows = RunArgs { max_nodes: Some(2), ..job.clone() }.note();
    assert!(grows.is_some_and(|note| note.contains("talisman grow")));
    let others = [
        RunArgs { nodes: 2, ..job.clone() },
        RunArgs { ft: FaultTolerance::Disk, ..job.clone() },
        RunArgs { ft: FaultTolerance::Off, ..job.clone() },
        RunArgs { simulate: true, ..job.clone() },
        RunArgs { hosts: Some(PathBuf::from("hosts")), ..job },
    ];
    assert!(others.iter().all(|options| options.note().is_none()));
}

#[test]
fn a_folder_is_for_jobs_with_checkpoints() {
    let with = |ft| RunArgs { ft, ckpt_dir: Some("folder".into()), ..RunArgs::default() }.validate();
    assert_eq!(with(FaultTolerance::Off), Err(OptionsError::FolderWithoutFt));
    assert_eq!([FaultTolerance::Double, FaultTolerance::Disk].map(with), [Ok(()), Ok(())]);
}

#[test]
fn replacements_are_for_jobs_of_several_processes_that_survive() {
    let (option, respawn) = ("--respawn", true);
    let with =
        |nodes, ft, simulate| RunArgs { nodes, ft, simulate, respawn, ..RunArgs::default() }.validate();
    let wrong = OptionsError::ReplacementsWithoutFt { option };
    assert_eq!(with(2, FaultTolerance::Off, false), Err(wrong));
    assert_eq!(with(2, FaultTolerance::Disk, false), Ok(()));
    let wrong = OptionsError::ReplacementsSimulated { option };
    assert_eq!(with(2, FaultTolerance::Double, true), Err(wrong));
    let wrong = OptionsError::NobodyToReplaceFrom { option };
    assert_eq!(with(1, FaultTolerance::Double, false), Err(wrong));
    let with = |ft, spares| RunArgs { nodes: 2, ft, spares, ..RunArgs::default() }.validate();
    let wrong = OptionsError::ReplacementsWithoutFt { option: "--spares" };
    assert_eq!(with(FaultTolerance::Off, 1), Err(wrong));
    assert_eq!(with(FaultTolerance::Double, 1), Ok(()));
    let spares = PROCESSES_MAX;
    let wrong = OptionsError::TooManySpares { nodes: 2, spares };
    assert_eq!(with(FaultTolerance::Double, spares), Err(wrong));
}

#[test]
fn nodes_can_be_added_to_jobs_of_processes_that_survive() {
    let job = RunArgs { nodes: 2, ft: FaultTolerance::Double, max_nodes: Some(3), ..RunArgs::default() };
    assert_eq!((job.validate(), job.numbers()), (Ok(()), 3));
    assert!(RunArgs { nodes: 1, ..job.clone() }.has_processes());
    let wrong = |job: RunArgs| job.validate().expect_err("it is refused");
    let off = FaultTolerance::Off;
    assert_eq!(wrong(RunArgs { ft: off, ..job.clone() }), OptionsError::MostNodesWithoutFt);
    assert_eq!(wrong(RunArgs { simulate: true, ..job.clone() }), OptionsError::MostNodesSimulated);
    let spares = RunArgs { spares: 1, ..job.clone() };
    assert_eq!(spares.validate(), Ok(()));
    let fewer = OptionsError::FewerThanNodes { most: 1, nodes: 2 };
    assert_eq!(wrong(RunArgs { max_nodes: Some(1), ..job.clone() }), fewer);
    let most = PROCESSES_MAX + 1;
    let too_many = OptionsError::TooManyProcesses { nodes: most };
    assert_eq!(wrong(RunArgs { max_nodes: Some(most), ..job }), too_many);
}

#[test]
fn a_report_that_cannot_be_written_is_said_at_the_start() {
    let with = |file: PathBuf| RunArgs { report: Some(file), ..RunArgs::default() }.validate_paths();
    let here = std::env::temp_dir();
    assert_eq!(with(PathBuf::from("report.json")), Ok(()));
    assert_eq!(with(here.join("report.json")), Ok(()));
    assert_eq!(with(here.clone()), Err(OptionsError::ReportIsNoFile { file: here.clone() }));
    let folder = here.join("talisman-no-such-folder");
    let file = folder.join("report.json");
    assert_eq!(with(file.clone()), Err(OptionsError::NoReportFolder { file, folder }));
}
