//! Where a program starts: what `#[talisman::main]` calls.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tracing::{error, info, warn};

use crate::balancer_trial::at_end;
use crate::run::run;
use crate::trace::{Extras, MergeError, gain_in, gather};
use crate::{main_stack, replay_pe};
use talisman_cluster::{
    self as cluster, Turn, fixed_layout, member::Joining, remote::agent, takeover::successor::Heir,
};
use talisman_control::outcome::ClusterOutcome;
use talisman_core::chare::{Args, MainChare};
use talisman_core::function;
use talisman_core::main_chare::beginning;
use talisman_core::program_types::Registered;
use talisman_job::Program;
use talisman_job::command_line::{self, ProgramArgs, Read};
use talisman_job::diagnostics::{self, say, subjects::LAUNCH};
use talisman_job::report::advice::{Tried, advice};
use talisman_job::variables;
use talisman_job::{ExitStatus, Interrupts, Output, Progress, Report, RunArgs, Signal, Undelivered};
use talisman_kernel::registry::Registry;
use talisman_node::{Outcome, Watch};
use talisman_sched::sync::AsymmetricFence;

/// How long a job that was interrupted waits for entries to return: as long as a launcher waits for its nodes.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Runs a program as its command line says.
#[doc(hidden)]
pub fn main<C: MainChare, A: ProgramArgs + Args + Send>(program: Program) -> ExitCode {
    main_with::<C, A>(program, || {})
}

/// The same for a program that installs a `tracing` subscriber of its own in each of its processes, as soon as these may have other threads.
#[doc(hidden)]
pub fn main_with<C: MainChare, A: ProgramArgs + Args + Send>(program: Program, subscribe: fn()) -> ExitCode {
    if let Err(error) = main_stack::reserve() {
        // Nobody listens to what is said otherwise yet.
        let why = "there are no addresses for the stack of its first thread, raise `ulimit -v`";
        eprintln!("{}: error: {why}: {error}", program.name);
        return ExitStatus::ProgramFailed.into();
    }
    if agent::is_asked_for() {
        return agent::main();
    }
    // First of all, with what a terminal wants: it changes the environment, which only a process of one thread may.
    variables::unset_empty_ones();
    AsymmetricFence::register_early();
    let is_anew = fixed_layout::is_anew();
    let joining = cluster::member::joining();
    let will = cluster::will();
    let turn = cluster::stand_by(&program);
    let Read { run: mut options, args, notes } = command_line::read::<A>(&program);
    let leads = joining.is_none() && will.is_none();
    if leads && io::stderr().is_terminal() {
        options.log_on_a_terminal();
    }
    // Before anything is said or opened, which would be so twice.
    let is_alone = options.run_again.is_some() || !options.has_processes() && !options.simulate;
    let laid_out = match leads && is_alone {
        true => fixed_layout::renew(is_anew),
        false => Ok(()),
    };
    subscribe();
    let unread =
        diagnostics::install(options.log.as_deref()).map(|note| command_line::naming_variables(&note));
    if let Some(will) = will {
        return succeed(&program, &options, will).into();
    }
    if let Some(record) = &options.run_again {
        return match laid_out {
            Ok(()) => replay_pe::main::<C, A>(&program, &options, args, record).into(),
            Err(refused) => {
                complain(&program, &refused.to_string());
                ExitStatus::ProgramFailed.into()
            }
        };
    }
    if joining.is_none() {
        let name = program.name;
        options.note().iter().for_each(|note| say(|| info!(target: LAUNCH, program = name, "{note}")));
        notes.iter().chain(&unread).for_each(|note| say(|| warn!(target: LAUNCH, program = name, "{note}")));
        options.validate_paths().unwrap_or_else(|error| command_line::refuse::<A>(&program, &error));
    }
    let status = match joining {
        None if options.has_processes() => lead(&program, &options, turn),
        None => match laid_out {
            Ok(()) => start::<C, A>(&program, &options, args),
            Err(refused) => {
                complain(&program, &refused.to_string());
                ExitStatus::ProgramFailed
            }
        },
        Some(Ok(joining)) => join::<C, A>(&program, &options, args, joining),
        Some(Err(error)) => {
            complain(&program, &error.to_string());
            ExitStatus::ProgramFailed
        }
    };
    status.into()
}

/// This process is a node; the launcher says how the job ended. If this process has become that, it does.
fn join<C: MainChare, A: Args + Send>(
    program: &Program,
    options: &RunArgs,
    args: A,
    joining: Joining,
) -> ExitStatus {
    let control = joining.control().clone();
    // With hosts, nobody has looked there before.
    if joining.task().number == 0 && options.hosts.is_some() {
        options.validate_dump().unwrap_or_else(|error| control.failed(error.to_string()));
    }
    control.inherit(Heir::new(program, options));
    talisman_node::member::run(options, joining, Output::stdout(), beginning::<C, A>(args));
    match control.leading() {
        None => ExitStatus::Done,
        Some(leading) => finish(program, options, &Output::stdout(), &Outcome::of_cluster(leading.finish())),
    }
}

/// This process starts the nodes, when it is its turn.
fn lead(program: &Program, options: &RunArgs, turn: Turn) -> ExitStatus {
    if let Err(message) = check_names() {
        complain(program, &message);
        return ExitStatus::Usage;
    }
    led(program, options, cluster::launch(program, &Registered, options, turn))
}

/// This process takes the place of a launcher.
fn succeed(program: &Program, options: &RunArgs, will: cluster::Inherited) -> ExitStatus {
    match cluster::succeed(program, options, will) {
        Ok(ended) => led(program, options, ended),
        Err(message) => {
            complain(program, &message);
            ExitStatus::Unrecoverable
        }
    }
}

/// A job of several processes has ended, of which this one was the launcher.
fn led(program: &Program, options: &RunArgs, ended: ClusterOutcome) -> ExitStatus {
    let interrupted = ended.interrupted;
    let pes = Some(options.pes_per_node());
    let options = RunArgs { nodes: ended.nodes, pes, ..options.clone() };
    let status = finish(program, &options, &Output::stdout(), &Outcome::of_cluster(ended));
    interrupted.map_or(status, ExitStatus::Interrupted)
}

fn start<C: MainChare, A: Args + Send>(program: &Program, options: &RunArgs, args: A) -> ExitStatus {
    if let Err(message) = check_names() {
        complain(program, &message);
        return ExitStatus::Usage;
    }
    let output = Output::stdout();
    let progress = if options.progress { Progress::stderr() } else { Progress::off() };
    let watch = Watch::new(output.clone(), progress);
    let stop = watch.stopper();
    let has_ended = Arc::new(AtomicBool::new(false));
    let on_first = {
        let (has_ended, output, name) = (has_ended.clone(), output.clone(), program.name);
        move |signal: Signal| {
            stop.stop(signal.exit_code().into());
            thread::sleep(PATIENCE);
            if !has_ended.load(Ordering::SeqCst) {
                let _lost = output.finish();
                say(|| error!(target: LAUNCH, program = name, "entries have not returned: the process ends"));
                end_as_second(signal);
            }
        }
    };
    let interrupts = match Interrupts::install(on_first) {
        Ok(interrupts) => interrupts,
        Err(error) => {
            complain(program, &error.to_string());
            return ExitStatus::ProgramFailed;
        }
    };
    let outcome = run::<C, A>(args, options, watch);
    has_ended.store(true, Ordering::SeqCst);
    let mut status = finish(program, options, &output, &outcome);
    if let Some(signal) = interrupts.received() {
        status = ExitStatus::Interrupted(signal);
    }
    status
}

/// Ends the process as a second signal of this kind does, wherever its threads are.
fn end_as_second(signal: Signal) {
    let number = match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Terminate => rustix::process::Signal::TERM,
    };
    // The process may send itself what it wants.
    let _sent = rustix::process::kill_process(rustix::process::getpid(), number);
}

/// Names on the wire have to be different.
pub(crate) fn check_names() -> Result<(), String> {
    Registry::get().clashes()?;
    talisman_pup::check_object_names().map_err(|error| error.to_string())?;
    match function::clash() {
        Some(name) => Err(format!("two callback functions have the name `{name}`: give one of them another")),
        None => Ok(()),
    }
}

fn finish(program: &Program, options: &RunArgs, output: &Output, outcome: &Outcome) -> ExitStatus {
    let mut status = status_of(outcome.status);
    match &outcome.message {
        Some(message) if outcome.status == i32::from(ExitStatus::Usage.code()) => {
            complain(program, &command_line::naming_variables(message));
        }
        Some(message) => complain(program, message),
        None => {}
    }
    warn_of_undelivered(program, &outcome.undelivered);
    let name = program.name;
    outcome.not_injected.iter().for_each(|fault| say(|| info!(target: LAUNCH, program = name, "{fault}")));
    if let Some(trace) = outcome.trace {
        let events = outcome.events;
        say(|| info!(target: LAUNCH, program = name, "trace of {events} events {trace:016x}"));
    }
    if let Err(error) = output.finish() {
        complain(program, &error.to_string());
        status = status.or(ExitStatus::ProgramFailed);
    }
    let mut tried = Tried::Not;
    if let Some(file) = &options.trace {
        status = status.or(gather_trace(program, options, outcome, file));
        tried = gain_in(file, options.strategy()).map_or(Tried::Not, Tried::Saves);
    }
    if tried == Tried::Not && outcome.failures.is_empty() {
        tried = try_balancers(options, outcome);
    }
    let report = report(program, options, outcome, status, tried);
    if !options.no_advice {
        report
            .advice
            .iter()
            .for_each(|line| say(|| info!(target: LAUNCH, program = program.name, "advice: {line}")));
    }
    if let Some(path) = &options.report
        && let Err(error) = report.write(path)
    {
        complain(program, &error.to_string());
        status = status.or(ExitStatus::ProgramFailed);
    }
    status
}

/// What a balancer would have made of the loads that the job ended with.
fn try_balancers(options: &RunArgs, outcome: &Outcome) -> Tried {
    let (each, had) = (u64::from(options.pes_per_node()), options.strategy());
    at_end(&outcome.loads, outcome.pe.len() as u64, each, !outcome.balancing.is_empty(), had)
}

/// Puts the parts of the trace together.
fn gather_trace(program: &Program, options: &RunArgs, outcome: &Outcome, file: &Path) -> ExitStatus {
    let extras = Extras { traced: options.traced(), failures: &outcome.failures };
    match gather(file, options.nodes, &extras) {
        Ok(said) => {
            let name = program.name;
            said.iter().for_each(|line| say(|| warn!(target: LAUNCH, program = name, "--trace: {line}")));
            ExitStatus::Done
        }
        // Nobody began.
        Err(MergeError::NoParts(_)) if outcome.status != 0 => ExitStatus::Done,
        // All of them are on other hosts, and nothing of them is lost.
        Err(error @ MergeError::NoParts(_)) if options.hosts.is_some() => {
            say(|| warn!(target: LAUNCH, program = program.name, "--trace: {error}"));
            ExitStatus::Done
        }
        Err(error) => {
            complain(program, &format!("--trace: {error}"));
            ExitStatus::ProgramFailed
        }
    }
}

/// Kinds of messages that nobody got, as far as they are told line by line; the report has more.
const UNDELIVERED_SHOWN: usize = 10;

/// The job has ended well, and perhaps not everything was done that the program called.
fn warn_of_undelivered(program: &Program, undelivered: &[Undelivered]) {
    let name = program.name;
    for of in undelivered.iter().take(UNDELIVERED_SHOWN) {
        say(|| warn!(target: LAUNCH, program = name, "nobody got {of}"));
    }
    let further =
        undelivered.iter().skip(UNDELIVERED_SHOWN).fold(0, |sum: u64, of| sum.saturating_add(of.count));
    if further > 0 {
        let more = "`--report` has more of them";
        say(|| warn!(target: LAUNCH, program = name, "nobody got {further} further messages; {more}"));
    }
}

/// What became of the job; what a balancer would have saved is known by trying it.
fn report(
    program: &Program,
    options: &RunArgs,
    outcome: &Outcome,
    status: ExitStatus,
    tried: Tried,
) -> Report {
    let mut report = Report {
        program: program.name.into(),
        status: status.code(),
        nodes: options.nodes,
        pes: options.pes_per_node(),
        ft: options.ft.name().into(),
        wall_s: outcome.wall.as_secs_f64(),
        steps: outcome.steps,
        results: outcome.results.clone(),
        messages: outcome.messages,
        pe: outcome.pe.clone(),
        balancing: outcome.balancing.clone(),
        checkpoints: outcome.checkpoints.clone(),
        logging: outcome.logging.clone(),
        failures: outcome.failures.clone(),
        undelivered: outcome.undelivered.clone(),
        not_injected: outcome.not_injected.clone(),
        advice: vec![],
    };
    report.advice = options.asked().map_or(vec![], |asked| advice(&report, asked, tried));
    report
}

pub(crate) fn status_of(status: i32) -> ExitStatus {
    match status {
        0 => ExitStatus::Done,
        3 => ExitStatus::Unrecoverable,
        1 => ExitStatus::ProgramFailed,
        other => ExitStatus::Program(other as u8),
    }
}

pub(crate) fn complain(program: &Program, message: &str) {
    say(|| error!(target: LAUNCH, program = program.name, "{message}"));
}
