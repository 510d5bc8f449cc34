//! What simulated processes do beside their PEs' turns: they begin, talk with the launcher, come together, and end.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::control_messages::Letter;
use super::disks::NodeDisk;
use super::process::{Death, Running, Stage};
use super::trace::Who;
use super::world::{Event, TICK_NS, World};
use talisman_base::view::View;
use talisman_control::connecting::{Action, Connecting};
use talisman_control::event;
use talisman_control::exit_cause::How;
use talisman_control::job_result::UNRECOVERABLE;
use talisman_control::node_session::{self, NodeSession, first_order};
use talisman_control::protocol::{NodeReport, Stop, Task, ToLauncher, ToNode};
use talisman_job::Results;
use talisman_job::job::End;
use talisman_kernel::witness::{self, Seen};
use talisman_node::peer_incarnations::PeerIncarnations;
use talisman_node::turns::{self, Turns};
use talisman_transport::Peer;
use talisman_transport::handshake::{self, Identity, Incarnations};
use talisman_transport::reconnect::{Inbox, Reconnect};

/// What a process takes to exit once it has said all: between these, in nanoseconds.
const EXIT_NS: (u64, u64) = (50_000, 2_000_000);
/// The life that the nodes of a job are in; whoever is in an earlier one is refused.
pub(super) const LIFE: u64 = 1;

impl World {
    pub(super) fn begin_process(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if process.stage.get() != Stage::Planned {
            return;
        }
        process.stage.set(Stage::Up);
        self.say(Who::Node(number), "begins");
        self.tell(number, event::Event::Started(process.pid()));
        self.tell_launcher(number, NodeSession::hello(process.pid(), None));
        self.plan(self.now() + self.between((1, TICK_NS)), Event::Pulse(number));
    }

    /// The launcher said something to a node.
    pub(super) fn on_message(&self, number: u32, message: ToNode) {
        let process = &self.nodes[number as usize];
        if !process.is_up() {
            return;
        }
        if message != ToNode::Ping {
            self.say(Who::Node(number), Letter::ToNode(number, message.clone()).words());
        }
        let message = match message {
            ToNode::Task(task) => ToNode::Task(self.with_heritage(task)),
            other => other,
        };
        let action = process.node_session.borrow_mut().on_message(message);
        action.into_iter().for_each(|action| self.carry_out(number, action));
    }

    /// A tick of its conversation with the launcher.
    pub(super) fn on_pulse(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if process.is_up() {
            // Whoever looks for a launcher does nothing else.
            let is_seeking = self.is_seeking(process);
            let tick = || process.node_session.borrow_mut().on_tick();
            let actions = if is_seeking { Vec::new() } else { tick() };
            actions.into_iter().for_each(|action| self.carry_out(number, action));
            self.plan(self.now() + TICK_NS, Event::Pulse(number));
        }
    }

    fn carry_out(&self, number: u32, action: node_session::Action) {
        use talisman_control::node_session::Action;
        let process = &self.nodes[number as usize];
        match action {
            Action::Say(message) => self.tell_launcher(number, message),
            Action::Join(task) => self.take_task(number, task),
            Action::Connect(_) => {
                let now = self.duration();
                self.with_connecting(number, |connecting| connecting.on_book(now));
            }
            Action::Begin => self.go(number),
            Action::Stop(stop) => self.stop_node(number, stop),
            Action::StepSeen(step) => process.steps.seen(step),
            Action::Refuse(unfit) => self.fail(number, unfit.to_string()),
            Action::Fail(why) => self.fail(number, why),
            Action::Halt { epoch, lost } => self.halt(number, epoch, &lost),
            Action::Try { inquiry, limit } => {
                let now = self.duration();
                self.with_connecting(number, |connecting| connecting.on_trial(now, inquiry, limit));
            }
            Action::Checkpoint { on_disk, leaving } => self.ask_for_checkpoint(number, on_disk, leaving),
            Action::Balance => self.ask_for_balance(number),
            Action::Places(places) => *process.lives.places.borrow_mut() = places,
            Action::Resume(order) => self.resume(number, *order),
            Action::LinesSeen { version, node, piece } => process.job.lines_seen(version, node, piece),
            // All disks can be read by all; and nobody logs in a world.
            Action::Fetched { .. } | Action::Logging(_) => {}
            // Nobody looks.
            Action::Look => {}
            Action::Leave if self.disk_hangs_until(number) > self.now() => {
                self.plan(self.now(), Event::Leave(number));
            }
            Action::Leave => self.leave(number),
            Action::Exit => self.exit_soon(number, 0),
            Action::Fence => self.fence_launcher(),
            Action::Introduce => {
                let follower = Box::new(self.follower(process));
                self.tell_launcher(number, ToLauncher::Follow(follower));
                self.follow(process);
            }
            // Its connection with the launcher ends in a way of its own.
            Action::Die | Action::Seek => self.kill(number),
        }
    }

    pub(super) fn fail(&self, number: u32, why: String) {
        self.tell_launcher(number, ToLauncher::Failed(why));
        let end = match How::of_failed(self.survives()) {
            How::Exited(status) => Event::Exit(number, status),
            _ => Event::Killed(number),
        };
        self.end_soon(number, end);
    }

    /// It knows what it is: it listens, and says so.
    fn take_task(&self, number: u32, task: Arc<Task>) {
        let process = &self.nodes[number as usize];
        if let Some(why) = process.lives.homeless.take() {
            return self.fail(number, format!("cannot keep checkpoints: {why}"));
        }
        *process.identity.borrow_mut() = Some(Arc::new(identity(&task, LIFE + task.life)));
        *process.met.borrow_mut() = PeerIncarnations::new(&task);
        process.life.set(task.life);
        process.steps.watch(&task.watched);
        let connecting = Connecting::new(&task);
        let address = connecting.lacks_any().then(|| ([127, 0, 0, 1], number as u16 + 1).into());
        *process.connecting.borrow_mut() = Some(connecting);
        self.network.borrow_mut().listening(number, true);
        self.tell_launcher(number, ToLauncher::Ready(address));
        self.write_diary(number);
    }

    /// It writes what it did; whether that was kept changes nothing for it.
    pub(super) fn write_diary(&self, number: u32) {
        let fault = self.nodes[number as usize].diary.borrow_mut().write();
        fault.into_iter().for_each(|kind| self.count(kind));
    }

    /// Its connections want something, or have something to say.
    pub(super) fn with_connecting(&self, number: u32, f: impl FnOnce(&mut Connecting) -> Vec<Action>) {
        let process = &self.nodes[number as usize];
        let (actions, next) = {
            let mut connecting = process.connecting.borrow_mut();
            let Some(connecting) = connecting.as_mut().filter(|_| process.is_up()) else { return };
            (f(connecting), connecting.next_time())
        };
        if let Some(next) = next {
            self.plan((next.as_nanos() as u64).max(self.now() + 1), Event::Dial(number));
        }
        for action in actions {
            match action {
                Action::Dial(dial) => self.dial(number, dial),
                Action::Lose(peer, why) => self.lose_connection(number, peer, why),
                Action::AllThere => self.link(number),
                Action::GiveUp(why) => self.fail(number, why),
                Action::Tried { inquiry, missed } => {
                    self.tell_launcher(number, ToLauncher::Tried { inquiry, missed });
                }
            }
        }
    }

    pub(super) fn on_dial(&self, number: u32) {
        let now = self.duration();
        let process = &self.nodes[number as usize];
        let is_due =
            process.connecting.borrow().as_ref().and_then(Connecting::next_time).is_some_and(|at| at <= now);
        if is_due {
            self.with_connecting(number, |connecting| connecting.on_time(now));
        }
    }

    fn lose_connection(&self, number: u32, peer: Peer, why: String) {
        let process = &self.nodes[number as usize];
        self.say(Who::Node(number), &why);
        match process.lives.have_begun() {
            true => {
                process.job.lose(peer.node, UNRECOVERABLE, why);
                self.after_turn(number);
            }
            // It stays until it is told to stop, or has waited for long enough.
            false => self.tell_launcher(number, ToLauncher::Failed(why)),
        }
    }

    /// All first connections are there: its PEs are made.
    fn link(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if self.survives() {
            process.job.survive();
        }
        process.clock.set(self.now());
        let inboxes: Vec<Arc<Inbox>> = (0..self.plan.pes_per_node).map(|_| Arc::default()).collect();
        let reconnect = |lane: u32| {
            let missed = process.missed.clone();
            let ask = move |peer| missed.lock().unwrap_or_else(PoisonError::into_inner).push(peer);
            Reconnect::new(inboxes[lane as usize].clone(), ask)
        };
        let (streams, unsent_max) = (process.streams.take(), self.plan.limits.unsent_bytes);
        if process.is_late {
            // The others are there already: whom it is linked with, and how it begins, it is told later.
            let nets = turns::nets(self.shape(), streams, reconnect, unsent_max);
            *process.lives.nets.borrow_mut() = nets.expect("the system has no part in it");
        } else {
            let first = first_order(&self.tasks[number as usize]);
            let node = self.node_in(number, View::new(first.view, self.plan.pes_per_node));
            let pes = turns::pes(&node, &process.clock.clock(), streams, reconnect, unsent_max);
            self.run_on(number, pes.expect("the system has no part in it"));
        }
        *process.lives.inboxes.borrow_mut() = inboxes;
        process.join_the_others();
        self.tell_launcher(number, ToLauncher::Linked);
    }

    /// The program begins.
    fn go(&self, number: u32) {
        let process = &self.nodes[number as usize];
        process.clock.set(self.now());
        process.went.set(true);
        if process.is_late {
            return;
        }
        self.begin_by(number, &first_order(&self.tasks[number as usize]));
    }

    /// The job is over, as the launcher says.
    fn stop_node(&self, number: u32, Stop { status, message }: Stop) {
        let process = &self.nodes[number as usize];
        process.job.end_here(End { status, message });
        match process.running() {
            Some(_) => self.after_turn(number),
            None if self.survives() => self.stopped(number),
            None => self.exit_soon(number, 0),
        }
    }

    /// The job is over: the PEs say goodbye to the others, and the process exits.
    pub(super) fn finish(&self, number: u32, running: &Running) {
        let process = &self.nodes[number as usize];
        process.stage.set(Stage::Leaving);
        process.clock.set(self.now());
        running.pes.iter().for_each(Turns::end);
        self.collect();
        let report = NodeReport {
            totals: running.pes.iter().map(|turns| turns.pe.stats.totals()).collect(),
            results: process.job.results(),
            steps: process.job.progress(),
            wall: running.pes[0].pe.clock.now(),
            balancing: process.job.balancing(),
            checkpoints: process.job.checkpoints(),
            kept: None,
            leftovers: process.job.leftovers(),
            loads: process.job.loads(),
        };
        self.hand_over_what_was_said(number);
        self.tell_launcher(number, ToLauncher::Done(report.into()));
        self.plan(self.now() + self.between(EXIT_NS), Event::Exit(number, 0));
    }

    /// All have stopped. After an end in order nobody goes back to anything.
    pub(super) fn leave(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if !process.is_up() {
            // It was killed while it waited for its disk.
            return;
        }
        if let Some(node_disk) = &process.lives.node_disk
            && process.job.how_it_ended().is_some_and(|end| end.status == 0)
        {
            process.lives.store.clear(Vec::new());
            node_disk.clear();
        }
        if process.job.how_it_ended().is_none() {
            self.end_life(number);
            // The others go on without it, and do again what was said since the cut that they go on from.
            self.tell_launcher(number, ToLauncher::Done(process.report(Results::default()).into()));
        }
        self.exit_soon(number, 0);
    }

    /// A checkpoint is wanted: the PE that looks next sees to it.
    fn ask_for_checkpoint(&self, number: u32, on_disk: bool, leaving: Vec<u32>) {
        let process = &self.nodes[number as usize];
        process.job.ask_for_checkpoint(on_disk, leaving);
        self.wake_first_pe(number);
    }

    /// A step of load balancing is wanted, likewise.
    fn ask_for_balance(&self, number: u32) {
        self.nodes[number as usize].job.ask_for_balance();
        self.wake_first_pe(number);
    }

    fn wake_first_pe(&self, number: u32) {
        let process = &self.nodes[number as usize];
        process.lives.inboxes.borrow().iter().take(1).for_each(|inbox| inbox.notify());
        self.wake(number, 0, self.now());
    }

    fn exit_soon(&self, number: u32, status: i32) {
        self.end_soon(number, Event::Exit(number, status));
    }

    fn end_soon(&self, number: u32, end: Event) {
        let process = &self.nodes[number as usize];
        if process.stage.get() == Stage::Up {
            process.stage.set(Stage::Leaving);
            self.plan(self.now() + self.between(EXIT_NS), end);
        }
    }

    pub(super) fn exit(&self, number: u32, status: i32) {
        self.end_process(number, How::Exited(status));
    }

    /// SIGKILL.
    pub(super) fn kill(&self, number: u32) {
        self.end_process(number, How::Signalled(9));
    }

    /// The same, and nothing of what is under way from it or to it arrives.
    pub(super) fn break_down(&self, number: u32) {
        self.break_ends_of(number);
        self.kill(number);
    }

    /// SIGTERM: nobody has said yet what to do about it in a process that has not been told its task.
    pub(super) fn terminate(&self, number: u32) {
        let process = &self.nodes[number as usize];
        let has_joined = process.identity.borrow().is_some();
        match process.is_up() {
            true if has_joined => {
                let action = process.node_session.borrow().on_terminated();
                self.carry_out(number, action);
            }
            true => {
                self.cut_short(number);
                self.end_process(number, How::Signalled(15));
            }
            false => {}
        }
    }

    fn end_process(&self, number: u32, how: How) {
        let has_ended = matches!(how, How::Exited(_)) && self.has_ended(number);
        self.close_ends_of(number);
        if self.vanish(number, if has_ended { Death::Exited } else { Death::Killed }) {
            self.with_network(|network, now, planned| network.crash(now, number, planned));
            self.listen_as_impostor(number);
            if !has_ended {
                self.nodes[number as usize].diary.borrow_mut().die();
            }
            self.tell(number, event::Event::Ended(how));
            match has_ended {
                true => self.lead_without(number),
                false => self.lose_leader(number),
            }
        }
    }

    /// Whether the PEs of a process have ended, if there were any.
    fn has_ended(&self, number: u32) -> bool {
        let process = &self.nodes[number as usize];
        process.running().is_none() || process.stage.get() == Stage::Leaving && process.job.is_over()
    }

    /// A process is no more; whether it was there. What it has in memory goes with it.
    pub(super) fn vanish(&self, number: u32, death: Death) -> bool {
        let process = &self.nodes[number as usize];
        if process.is_gone() {
            return false;
        }
        self.say(Who::Node(number), "is gone");
        process.stage.set(Stage::Gone);
        // Whoever of its PEs waits for room stops waiting.
        process.job.end_here(End { status: 137, message: None });
        // Whoever waits has no PEs.
        if death == Death::Killed && number < self.tasks[0].nodes {
            witness::see(|| Seen::NodeGone { pes: self.pes_of(number) });
        }
        self.forget_ends_of(number);
        let running = process.running.borrow_mut().take();
        drop(running);
        process.lives.end();
        process.lives.node_disk.iter().for_each(NodeDisk::die);
        self.close_door(number);
        true
    }

    /// The system or an agent tells the launcher something of a node.
    pub(super) fn tell(&self, number: u32, event: event::Event) {
        let host = self.nodes[number as usize].host;
        if self.plan.passes_on() {
            if self.has_agent(host) {
                self.tell_of_host(host, number, event);
            }
        } else if self.has_agent(host) {
            self.post(Letter::Happened(host, number, event));
        }
    }

    pub(super) fn tell_launcher(&self, number: u32, message: ToLauncher) {
        if matches!(message, ToLauncher::Ended(_)) {
            self.plan_faults_after_end();
        }
        if message != ToLauncher::Alive {
            self.say(Who::Node(number), format_args!("says {}", words(&message)));
        }
        self.tell(number, event::Event::Said(message));
    }

    /// What PEs have to say to the launcher.
    pub(super) fn hand_over_what_was_said(&self, number: u32) {
        let said = {
            let said = &self.nodes[number as usize].said;
            std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner))
        };
        said.into_iter().for_each(|message| self.tell_launcher(number, message));
    }

    pub(super) fn duration(&self) -> Duration {
        Duration::from_nanos(self.now())
    }
}

/// A node of this job in one of its lives.
pub(super) fn identity(task: &Task, incarnation: u64) -> Identity {
    // Everybody knows from the start which lives count: else whoever came first would be let in.
    let known = Incarnations::new(task.nodes);
    (0..task.nodes).for_each(|node| known.raise(node, LIFE));
    Identity {
        job: task.job.into(),
        build: task.build.into(),
        shape: handshake::Shape { nodes: task.nodes, pes: task.pes },
        secret: task.secret.clone(),
        tls: None,
        node: task.number,
        incarnation,
        known,
    }
}

fn words(message: &ToLauncher) -> String {
    match message {
        ToLauncher::Done(_) => "that it has stopped".into(),
        other => format!("{other:?}"),
    }
}
