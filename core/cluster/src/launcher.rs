//! The process that was started: it starts the nodes, watches them, prints what they print, and outlives them all.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::info;

use super::events;
use crate::asked::Asked;
use crate::children::Executable;
use crate::console::{Console, Wires};
use crate::descriptors;
use crate::exhaustion::Exhaustion;
use crate::going_back::GoingBack;
use crate::host_pool::{HostPool, shares};
use crate::keeping::{self, absolute, key_of};
use crate::local::Events;
use crate::memory::host_memory;
use crate::naming::{self, Named};
use crate::printer::{Lines, Print, Written};
use crate::remote::survey::Survey;
use crate::seeing::{Glance, Seeing};
use crate::standby::{Prepared, Turn};
use talisman_base::auth::Secret;
use talisman_base::topology::Shape;
use talisman_control::coordinator::{Action, Coordinator};
use talisman_control::event::Event;
use talisman_control::heartbeat::LOOK;
use talisman_control::hosts::Share;
use talisman_control::job_result::UNRECOVERABLE;
use talisman_control::kills::Kills;
use talisman_control::outcome::{ClusterOutcome, Ended};
use talisman_control::plan::Plan;
use talisman_control::protocol::{Fetch, ToLauncher, ToNode};
use talisman_ft::Version;
use talisman_job::Program;
use talisman_job::asking::Request;
use talisman_job::diagnostics::{say, subjects::CONTROL};
use talisman_job::program_types::ProgramTypes;
use talisman_job::progress::Steps;
use talisman_job::{RunArgs, Signal};
use talisman_store::files::catalog::Here;
use talisman_store::files::remote::Answer;
use talisman_store::restart::Keeping;

/// So long hosts may take to remove files when all is over.
const CLEARS_WITHIN: Duration = Duration::from_secs(5);

/// So many of the launcher's own lines may wait for whoever reads standard error. Those that come while as many wait are counted.
const LINES_MOST: usize = 1024;

/// So often a job is started that loses nodes before it has begun, and survives losses after that.
const STARTS: u32 = 4;

/// Runs this program, with the arguments of this process, as the nodes that `options` ask for, until they have all
/// ended. Has to be called in the main thread: the nodes die with the thread that starts them. Should this process be lost
/// before the program has begun, others start the job again, as often as its turn says.
pub fn launch(program: &Program, types: &dyn ProgramTypes, options: &RunArgs, turn: Turn) -> ClusterOutcome {
    descriptors::raise_limit();
    let mut turn = turn;
    let mut going_back = GoingBack::new(options);
    let had_folder = options.ckpt_dir.as_deref().is_none_or(Path::exists);
    loop {
        let mut outcome = launch_until_begun((program, types), going_back.options(), turn);
        if !going_back.goes_back(&mut outcome) {
            return going_back.and_before(outcome);
        }
        turn = Turn { made_folder: turn.made_folder || !had_folder, back_to: going_back.least(), ..turn };
    }
}

/// The same, without a look at what the end leaves to go back to.
fn launch_until_begun(
    (program, types): (&Program, &dyn ProgramTypes),
    options: &RunArgs,
    turn: Turn,
) -> ClusterOutcome {
    let means = Means { executable: Executable::this(), memory: host_memory, turn };
    let mut left = STARTS;
    loop {
        let mut outcome = launch_with(&means, (program, types), options).unwrap_or_else(|error| {
            let message = format!("the nodes cannot be started: {error}");
            ClusterOutcome { status: UNRECOVERABLE, message: Some(message), ..ClusterOutcome::default() }
        });
        if let Some(message) = &mut outcome.message {
            message.push_str(&descriptors::advice(message));
        }
        left -= 1;
        match outcome.early_loss.as_ref().filter(|_| left > 0 && outcome.interrupted.is_none()) {
            Some(loss) => {
                let again = "nothing has begun, and the job is started again";
                say(|| info!(target: CONTROL, program = program.name, "{loss}; {again}"));
            }
            None => return outcome,
        }
    }
}

/// What a launcher needs of its host.
pub struct Means {
    pub executable: Executable,
    /// Makes memory for so many nodes with so many PEs each.
    pub memory: fn(u32, u32) -> io::Result<OwnedFd>,
    /// How often others may start the job, should it be lost before that has begun, and what those before it have made.
    pub turn: Turn,
}

/// The same with other means.
pub fn launch_with(
    means: &Means,
    (program, types): (&Program, &dyn ProgramTypes),
    options: &RunArgs,
) -> io::Result<ClusterOutcome> {
    let shares = match shares(options) {
        Ok(shares) => shares,
        Err(message) => return Ok(ClusterOutcome::usage(message)),
    };
    let kills = Kills::new(&options.kill, options.chaos);
    let of_nodes: Vec<Share> =
        shares.iter().map(|share| share.without_last(&shares, options.spares)).collect();
    let mut plan = Plan::new(drawn()?, options, &of_nodes, kills.watched());
    let spares = (0..).zip(shares.iter().zip(&of_nodes));
    plan.spare_hosts =
        spares.flat_map(|(host, (all, nodes))| vec![host; (all.nodes - nodes.nodes) as usize]).collect();
    let shape = Shape { nodes: plan.begins_with, pes_per_node: plan.pes };
    plan.keeping = match keeping((program, types), options, &shares, (&plan, shape))? {
        Ok(keeping) => keeping,
        Err(ended) => return Ok(ended),
    };
    let is_too_old =
        |least: &Version| plan.keeping.restart.as_ref().is_none_or(|restart| restart.version < *least);
    if let Some(version) = means.turn.back_to.filter(is_too_old) {
        let message = format!("checkpoint {version} is not whole on disk any more; the job cannot go on");
        return Ok(ClusterOutcome::unreachable(message));
    }
    if means.turn.back_to.is_some() {
        plan.keeping.restart.iter_mut().for_each(|restart| restart.is_own = true);
    }
    if means.turn.made_folder {
        plan.keeping.checkpoint_dirs.iter_mut().for_each(|checkpoint_dirs| checkpoint_dirs.is_new = true);
    }
    plan.number_those_from_before();
    naming::leads(Named {
        pid: std::process::id(),
        nodes: plan.begins_with,
        numbers: plan.nodes,
        program: program.name.into(),
    });
    let notes = plan.keeping.notes.iter();
    notes.for_each(|note| say(|| info!(target: CONTROL, program = program.name, "{note}")));
    let checkpoint_dirs = plan.keeping.checkpoint_dirs.clone();
    let made_folder = checkpoint_dirs.as_ref().is_some_and(|checkpoint_dirs| checkpoint_dirs.is_new);
    let turn = Turn { made_folder, ..means.turn };
    let prepared = (plan.outlives_launcher() && turn.others > 0).then(|| Prepared::new(turn)).transpose()?;
    let pledge = prepared.as_ref().map(|prepared| prepared.pledge.clone());
    let sites = HostPool::new(shares, (means, pledge), program, &mut plan)?;
    let (desk, Wires { lines, signalled, written }) = Console::open(options, prepared)?;
    let pes = plan.pes as usize;
    let coordinator = Coordinator::new(plan, kills);
    let launcher = Launcher::new(program, coordinator, sites, lines);
    Ok(desk.conclude(launcher.run(means, signalled, written), pes, checkpoint_dirs.as_ref()))
}

/// Where the job keeps its checkpoints, and what it goes on from: if that is not to be had, how it ends.
fn keeping(
    (program, types): (&Program, &dyn ProgramTypes),
    options: &RunArgs,
    shares: &[Share],
    (plan, shape): (&Plan, Shape),
) -> io::Result<Result<Keeping, ClusterOutcome>> {
    let (known, of) = ((program.name, types), (plan.job, shape));
    let dir = match options.restart.as_deref().map(absolute).transpose() {
        Ok(dir) => dir,
        Err(message) => return Ok(Err(ClusterOutcome::usage(message))),
    };
    let is_here = matches!(shares, [share] if share.host.is_local());
    let key = match key_of(options) {
        Ok(key) => key,
        Err(message) => return Ok(Err(ClusterOutcome::usage(message))),
    };
    let kept = match &dir {
        None => keeping::find_out(known, options, of, None::<(&Path, &mut Here<'_>)>),
        Some(dir) if is_here => keeping::find_out(known, options, of, Some((dir, &mut Here(dir, key)))),
        Some(dir) => {
            let mut survey = match Survey::of(shares, (dir, &key), plan.build, plan.silence)? {
                Ok(survey) => survey,
                Err(message) => return Ok(Err(ClusterOutcome::unreachable(message))),
            };
            let kept = keeping::find_out(known, options, of, Some((dir, &mut survey)));
            survey.end();
            kept
        }
    };
    Ok(kept.map_err(ClusterOutcome::usage))
}

/// What leads a job, and carries out what is to be done.
pub struct Launcher {
    /// Put before the lines of the launcher's own.
    name: &'static str,
    coordinator: Coordinator,
    sites: HostPool,
    lines: Lines,
    /// Lines that it prints itself, on their way there in their order; it does not wait for them to be printed.
    /// Each says whether it was a line of its own.
    says: JoinSet<bool>,
    /// How many of those are.
    own_lines: usize,
    /// Lines of its own that were left out since, as nobody read those before.
    left_out: u64,
    start: Instant,
    /// People call the job by this process id.
    pid: u32,
    exhaustion: Exhaustion,
    /// Bytes that nodes have asked for, on their way.
    fetched: JoinSet<(u32, ToNode)>,
}

impl Launcher {
    pub fn new(program: &Program, coordinator: Coordinator, sites: HostPool, lines: Lines) -> Self {
        Launcher {
            name: program.name,
            coordinator,
            sites,
            lines,
            says: JoinSet::new(),
            own_lines: 0,
            left_out: 0,
            start: Instant::now(),
            pid: std::process::id(),
            exhaustion: Exhaustion::since_now(),
            fetched: JoinSet::new(),
        }
    }

    /// The same of a job that began at another moment, led by this process.
    pub fn going_on(self, start: Instant, pid: u32) -> Self {
        Launcher { start, pid, ..self }
    }

    /// From the first process to the end of the last one.
    pub async fn run(
        mut self,
        means: &Means,
        signals: mpsc::UnboundedReceiver<Signal>,
        written: Written,
    ) -> Ended {
        let (events, happened) = mpsc::unbounded_channel();
        self.sites.start(means, &events, &self.lines);
        self.go_on(means, (events, happened), signals, written).await
    }

    /// The same where all processes have been started, and this happens to them.
    pub async fn go_on(
        mut self,
        means: &Means,
        (events, mut happened): (Events, mpsc::UnboundedReceiver<(u32, Event)>),
        mut signals: mpsc::UnboundedReceiver<Signal>,
        mut written: Written,
    ) -> Ended {
        let starting = (means, &events);
        let mut asked = self.listen();
        let mut looks = interval(LOOK);
        // Each comes a little late; that is not to add up. Those that were missed are not made up for.
        looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.carry_out(starting, &mut asked);
        let mut seeing = self.open_dashboard().await;
        while !self.coordinator.is_over() {
            tokio::select! {
                Some((node, event)) = happened.recv() => self.on_event(node, event),
                Some((number, request)) = asked.next() => match request {
                    Request::Look => seeing.wait(number),
                    request => self.coordinator.on_request(self.start.elapsed(), number, request),
                },
                Some(signal) = signals.recv() => {
                    self.coordinator.on_interrupt(self.start.elapsed(), signal.exit_code().into());
                }
                Some((node, message)) = written.recv() => self.sites.send(node, message),
                Some(Ok((node, message))) = self.fetched.join_next() => self.sites.send(node, message),
                Some((request, answer)) = seeing.question() => {
                    let number = asked.enter(answer);
                    self.coordinator.on_request(self.start.elapsed(), number, request);
                }
                _ = looks.tick() => {
                    self.coordinator.on_time(self.start.elapsed());
                    self.glance(&mut seeing, &mut asked);
                }
            }
            self.carry_out(starting, &mut asked);
        }
        asked.end("the job has ended");
        self.finish().await
    }

    fn on_event(&mut self, node: u32, event: Event) {
        events::happened(node, &event);
        if let Event::Said(ToLauncher::Fetch(fetch)) = event {
            return self.fetch(node, fetch);
        }
        let exhaustion = self.exhaustion;
        self.coordinator.on_event(self.start.elapsed(), node, event, || exhaustion.happened());
    }

    /// A node needs bytes of a part that is on another host than its own.
    fn fetch(&mut self, node: u32, Fetch { number, pe, place, from }: Fetch) {
        let ask =
            self.coordinator.keeping().restart.as_ref().and_then(|restart| restart.ask(pe, place, from));
        let asked = ask.map(|ask| self.sites.ask(place.host, ask));
        self.fetched.spawn(async move {
            let piece = match asked {
                None => Err("it is no folder of what the job goes on from".into()),
                Some(answer) => match answer.await {
                    Ok(Answer::Read(piece)) => piece,
                    Ok(_) => Err("it answers something else than it was asked".into()),
                    Err(_) => Err("that host is lost".into()),
                },
            };
            (node, ToNode::Fetched { number, piece })
        });
    }

    fn carry_out(&mut self, (means, happened): (&Means, &Events), asked: &mut Asked) {
        for action in self.coordinator.take_actions() {
            events::decided(&action);
            match action {
                // The node forgets what was printed: not before it is.
                Action::Send(
                    node,
                    message @ (ToNode::LinesSeen { .. } | ToNode::Settle(_) | ToNode::Leave),
                )
                | Action::SendWhenPrinted(node, message) => {
                    self.print(Print::Written(node, message));
                }
                Action::Send(node, message) => self.sites.send(node, message),
                Action::Kill(node) => self.sites.kill(node),
                Action::Use { spare, node } => self.sites.use_spare(spare, node),
                Action::Start(node) => {
                    let host = self.sites.start_again(node, means, happened, &self.lines);
                    host.into_iter().for_each(|host| self.coordinator.on_placed(node, host));
                }
                Action::Say(text) => self.say(format!("{}: {text}", self.name)),
                Action::Warn(text) => self.tell(Print::Warn(format!("{}: {text}", self.name))),
                Action::Answer(number, answer) => self.answer(asked, number, answer),
                Action::Show(steps) => self.show(steps),
                Action::Print { node, piece, lines } => self.print(Print::Lines { node, piece, lines }),
            }
        }
    }

    /// For those who look at the job.
    fn glance(&mut self, seeing: &mut Seeing, asked: &mut Asked) {
        let now = self.start.elapsed();
        match seeing.glance(now, self.coordinator.has_been_answered()) {
            Glance::Nothing => {}
            Glance::Ask => self.coordinator.on_look(now),
            Glance::Show => {
                let snapshot = self.coordinator.snapshot(now, self.name, self.pid);
                let json = snapshot.to_json();
                for number in seeing.show(Arc::new(snapshot)) {
                    asked.answer(number, Ok(json.clone()));
                }
            }
        }
    }

    /// Serves a page about the job, if that is wanted. A job does not end for want of one.
    async fn open_dashboard(&mut self) -> Seeing {
        let mut seeing = Seeing::default();
        if let Some(address) = self.coordinator.shows().dashboard {
            let name = self.name;
            match seeing.open(address, &self.coordinator.token_of_page()).await {
                Ok(line) => self.say(format!("{name}: {line}")),
                Err(error) => self.tell(Print::Warn(format!(
                    "{name}: warning: --dashboard: nothing can be served at {address}: {error}"
                ))),
            }
        }
        seeing
    }

    /// Requests from outside.
    fn listen(&mut self) -> Asked {
        Asked::listen(self.pid).unwrap_or_else(|error| {
            // Who could only look at it may do without.
            if !self.coordinator.requests_taken().is_empty() {
                let name = self.name;
                self.tell(Print::Warn(format!(
                    "{name}: warning: this job cannot be asked for anything (`talisman checkpoint`, `talisman balance`): {error}"
                )));
            }
            Asked::nobody()
        })
    }

    fn answer(&mut self, asked: &mut Asked, number: u64, answer: Result<String, String>) {
        if let Some(line) = asked.answer(number, answer) {
            self.say(format!("{}: {line}", self.name));
        }
    }

    fn say(&mut self, line: String) {
        self.tell(Print::Say(line));
    }

    /// A line for people, unless too many of these wait to be printed. However much of the program's output waits as well: that may come all
    /// at once, with a checkpoint, or from nodes that were without a launcher.
    fn tell(&mut self, line: Print) {
        self.forget_printed();
        if self.own_lines >= LINES_MOST {
            self.left_out += 1;
            return;
        }
        self.tell_of_left_out();
        self.print(line);
    }

    fn tell_of_left_out(&mut self) {
        let count = std::mem::take(&mut self.left_out);
        if count > 0 {
            let why = "nobody read what is printed on standard error";
            self.print(Print::Warn(format!("{}: {count} lines were left out, as {why}", self.name)));
        }
    }

    fn print(&mut self, print: Print) {
        self.forget_printed();
        let lines = self.lines.clone();
        let is_own = matches!(print, Print::Say(_) | Print::Warn(_));
        self.own_lines += usize::from(is_own);
        self.says.spawn(async move {
            drop(lines.send(print).await);
            is_own
        });
    }

    fn forget_printed(&mut self) {
        while let Some(printed) = self.says.try_join_next() {
            // None is ended by anybody, and none panics.
            self.own_lines -= usize::from(printed.unwrap_or(false));
        }
    }

    /// Progress that comes when much is to be printed may be left out: there will be more.
    fn show(&self, steps: Steps) {
        let _ = self.lines.try_send(Print::Show(self.coordinator.running_for(self.start.elapsed()), steps));
    }

    /// After an end in order, nothing of what the job went on from is left on any host.
    async fn clear(&self) {
        if self.coordinator.ending().is_none_or(|stop| stop.status != 0) {
            return;
        }
        let clearing = self.coordinator.keeping().clearing().into_iter();
        let clearing: Vec<_> = clearing.map(|(host, ask)| self.sites.ask(host, ask)).collect();
        let all = async {
            for cleared in clearing {
                // What cannot be taken away now is only too much.
                let _ = cleared.await;
            }
        };
        let _ = timeout(CLEARS_WITHIN, all).await;
    }

    /// All nodes are gone: what they wrote is handed on to the end.
    async fn finish(mut self) -> Ended {
        let wall = self.coordinator.running_for(self.start.elapsed());
        self.coordinator.waiting().into_iter().for_each(|spare| self.sites.kill(spare));
        self.clear().await;
        self.tell_of_left_out();
        let registry = self.sites.registry();
        self.sites.finish().await;
        while self.says.join_next().await.is_some() {}
        let mut end = self.coordinator.into_end();
        if let Some(registry) = registry.filter(|_| end.back.is_some())
            && registry.may_go_on_elsewhere().await
        {
            end.leave_to_others();
        }
        if end.steps.done > 0 {
            let _ = self.lines.send(Print::Show(wall, end.steps)).await;
        }
        Ended { end, wall }
    }
}
/// The number of a new job, and its secret.
///
/// # Errors
/// The system gives no random numbers.
pub fn drawn() -> io::Result<(u64, Secret)> {
    let job = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    Ok((job, Secret::generate().map_err(io::Error::other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_has_a_number_and_a_secret_of_its_own() {
        let [(job, secret), (other_job, other_secret)] = [drawn().unwrap(), drawn().unwrap()];
        assert_ne!(job, other_job);
        assert_ne!(secret, other_secret);
    }
}
