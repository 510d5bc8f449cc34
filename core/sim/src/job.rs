//! A job put into a world, and what it left behind there.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::disk_log::Diary;
use super::disks::NodeDisk;
use super::disks_after::Remains;
use super::launcher::Launcher;
use super::lives::Lives;
use super::process::{Process, Stage};
use super::world::{Main, World};
use super::{Plan, Ran};
use talisman_base::auth::Secret;
use talisman_base::rng::Rng;
use talisman_base::topology::Shape;
use talisman_control::coordinator::Coordinator;
use talisman_control::kills::Kills;
use talisman_control::node_session::NodeSession;
use talisman_control::outcome::merge;
use talisman_control::plan;
use talisman_job::job::Job;
use talisman_job::options::Transport;
use talisman_job::{Output, RunArgs};
use talisman_kernel::panics;
use talisman_kernel::pe::Pe;
use talisman_node::Outcome;
use talisman_observe::sometimes::sometimes;
use talisman_store::readable::Readable;
use talisman_store::restart::Restart;
use talisman_store::versions::Store;

/// Disks draw from a generator of their own.
const DISKS: u64 = 0xd15c;
/// So does who may read whose memory.
const READABLE: u64 = 0x1e57;
/// The exit status that a shell gives for a launcher that was killed.
const LAUNCHER_KILLED: i32 = 137;

pub(super) fn run(plan: &Plan, main: impl Fn(&Pe) + 'static, logging: bool) -> Ran {
    run_on(plan, None, &(Rc::new(main) as Main), &Job::new(Output::capture()), logging)
}

/// A job that was started with `--simulate` and is to lose nodes. It prints where `watched` does, and ends early when that is
/// over. All nodes are on one host, as with `--nodes`.
pub fn run_for_user(options: &RunArgs, main: impl Fn(&Pe) + 'static, watched: &Arc<Job>) -> Outcome {
    let nodes = options.nodes;
    let plan = Plan {
        hosts: vec![nodes],
        silence: options.silence,
        kills: options.kill.clone(),
        chaos: options.chaos,
        options: Box::new(options.clone()),
        // It is for people to say when they have waited for long enough.
        patience_ns: u64::MAX,
        events_max: u64::MAX,
        ..Plan::calm(options.seed, nodes, options.pes_per_node())
    };
    let Ran { mut outcome, flaws, .. } = run_on(&plan, None, &(Rc::new(main) as Main), watched, false);
    if outcome.status == 0 && !flaws.is_empty() {
        (outcome.status, outcome.message) = (1, Some(flaws.join("; ")));
    }
    outcome
}

/// From its beginning, or from what a former job has left.
fn run_on(plan: &Plan, former: Option<&Remains>, main: &Main, watched: &Arc<Job>, logging: bool) -> Ran {
    panics::listen();
    let output = watched.output.clone();
    let kills = Kills::new(&plan.kills, plan.chaos);
    let led = led(plan, former.map(|remains| remains.restart(plan.shape())), kills.watched());
    let shape = Shape { nodes: led.nodes, ..plan.shape() };
    let build = led.build;
    let coordinator = Coordinator::new(led.clone(), kills);
    let tasks = (0..led.nodes).map(|node| led.task(node)).collect();
    let mut disks = Rng::new(plan.seed ^ DISKS);
    let mut readable = Readable::by_chance(plan.numbered(), &mut Rng::new(plan.seed ^ READABLE));
    let node = |number| {
        let diary = Diary::new(number, plan.disk, &mut disks);
        let store = Arc::<Store>::default();
        readable.next().into_iter().for_each(|readable| store.be_readable(readable));
        former.iter().for_each(|remains| remains.bring(&store, plan.shape()));
        let node_disk = NodeDisk::below(&store, plan, former, (number, shape), &mut disks);
        let (job, place) = (Job::new(output.clone()), (number, plan.host_of(number)));
        let diary = Rc::new(RefCell::new(diary));
        Process::new(place, job, NodeSession::new(build), diary, Lives::of(store, node_disk))
    };
    let mut nodes: Vec<Process> = (0..plan.nodes()).map(node).collect();
    for number in plan.nodes()..led.nodes + led.spares {
        let (store, diary) = (Arc::<Store>::default(), Diary::new(number, plan.disk, &mut disks));
        readable.next().into_iter().for_each(|readable| store.be_readable(readable));
        let (place, lives) = ((number, plan.host_of(number)), Lives::of(store, None));
        let (job, diary) = (Job::new(output.clone()), Rc::new(RefCell::new(diary)));
        let process = Process::late(place, job, NodeSession::new(build), diary, lives);
        // Of the numbers that nodes may have, some have no process at the start.
        if number < led.nodes {
            process.stage.set(Stage::Gone);
        }
        nodes.push(process);
    }
    let world = World::new(
        plan,
        first_launcher(plan, &led, coordinator),
        nodes,
        tasks,
        main.clone(),
        watched.clone(),
        logging,
    );
    former.into_iter().for_each(|remains| remains.see_again(plan.shape()));
    world.run();
    world.read_diaries();
    let remains = world.read_shelves(former);
    world.judge_orphans();
    world.judge_unled();
    let Some(world) = Rc::into_inner(world) else { unreachable!("nobody else keeps the world") };
    let ran = ran(world, &output);
    Ran { again: again(plan, &ran, remains, main, logging), ..ran }
}

/// The process that was started first.
fn first_launcher(plan: &Plan, led: &plan::Plan, coordinator: Coordinator) -> Launcher {
    let launcher = Launcher::new(led, &plan.slots, coordinator);
    if plan.passes_on() { launcher.with_own_agent(led) } else { launcher }
}

/// A job that did not end well is started again from what it has left, if that is planned.
fn again(plan: &Plan, ran: &Ran, remains: Option<Remains>, main: &Main, logging: bool) -> Option<Box<Ran>> {
    let remains = remains.filter(|_| ran.outcome.status != 0 && ran.flaws.is_empty())?;
    let next = plan.again.as_ref()?;
    sometimes("a simulated job was started again from its disks");
    Some(Box::new(run_on(next, Some(&remains), main, &Job::new(Output::capture()), logging)))
}

/// What the launcher is told to lead, from where a former job was if there is one.
pub(super) fn led(plan: &Plan, restart: Option<Restart>, watched: Vec<u64>) -> plan::Plan {
    let options = RunArgs {
        nodes: plan.nodes(),
        pes: Some(plan.pes_per_node),
        transport: Transport::Tcp.into(),
        silence: plan.silence,
        ft: plan.options.ft,
        respawn: plan.options.respawn,
        spares: plan.spares.len() as u32,
        max_nodes: (plan.max_nodes > 0).then_some(plan.max_nodes),
        ..RunArgs::default()
    };
    let mut secrets = Rng::new(!plan.seed);
    let secret = Secret::from_bytes(std::array::from_fn(|_| secrets.next_u64() as u8));
    let mut first = 0;
    let hosts = plan.hosts.iter().map(|nodes| {
        first += nodes;
        (first - nodes..first).collect()
    });
    let mut led = plan::Plan::known(secrets.next_u64(), secret, hosts.collect(), &options);
    led.watched = watched;
    led.spare_hosts.clone_from(&plan.spares);
    led.keeping.restart = restart;
    led.number_those_from_before();
    led.names = (0..plan.hosts.len()).map(|host| (host > 0).then(|| format!("host{host}"))).collect();
    led
}

fn ran(world: World, output: &Output) -> Ran {
    let lasted_ns = world.now();
    let (hash, events) = (world.trace.borrow().hash(), world.trace.borrow().events());
    let launcher = world.launcher.into_inner();
    let over_ns = launcher.over_at.map(|at| at.as_nanos() as u64);
    let mut outcome = outcome(launcher, Duration::from_nanos(lasted_ns), world.plan.pes_per_node as usize);
    (outcome.trace, outcome.events) = (Some(hash), events);
    // What is left of the processes of a world that was given up goes now.
    drop(world.nodes);
    Ran {
        outcome,
        output: output.captured(),
        injected: world.injected.into_inner(),
        hurt: world.hurt.into_inner(),
        cut_short: world.cut_short.into_inner(),
        over_ns,
        lasted_ns,
        steps: world.steps.get(),
        recovered: world.recovered.get(),
        flaws: world.flaws.into_inner(),
        again: None,
        log: world.trace.into_inner().lines(),
    }
}

fn outcome(launcher: Launcher, now: Duration, pes: usize) -> Outcome {
    let killed = launcher.gone;
    let mut ended = merge(launcher.into_end(now), pes);
    if killed {
        (ended.status, ended.message) = (LAUNCHER_KILLED, Some("the launcher was killed".into()));
    }
    Outcome::of_cluster(ended)
}
