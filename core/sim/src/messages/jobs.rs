//! Jobs of a program, simulated message by message, as their options ask.

use std::time::Duration;

use super::back::{self, Back};
use super::logged::{self, Strike, WentBack};
use super::losing::{self, Losses};
use super::{Machine, run};
use crate::run_for_user;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::chare::{Args, MainChare};
use talisman_core::main_chare::{beginning, create_main};
use talisman_job::RunArgs;
use talisman_job::checkpoints::FaultTolerance;
use talisman_kernel::node::Config;
use talisman_kernel::panics;
use talisman_kernel::pe::Pe;
use talisman_node::{Outcome, Watch, in_turn, outcome};

/// Runs a program's main chare with its arguments until the job ends: `--simulate`. Entries that do not return are told of.
pub fn run_simulated<C: MainChare, A: Args + Send>(args: A, options: &RunArgs, watch: &Watch) -> Outcome {
    in_turn::watched(watch.job(), || match options.loses_simulated_nodes() {
        true => {
            panics::listen();
            run_for_user(options, beginning::<C, A>(args), watch.job())
        }
        false => run_on::<C, A>(args, options, watch, None),
    })
}

/// The same without an eye on entries, perhaps on the model of a machine.
pub fn run_on<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    machine: Option<&Machine>,
) -> Outcome {
    in_view::<C, A>(args, options, watch, machine, View::whole(shape_of(options)))
}

/// The same where these nodes are lost from the start.
pub fn run_without<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    lost: &[u32],
) -> Outcome {
    in_view::<C, A>(args, options, watch, None, View::without(shape_of(options), lost))
}

/// The same where the job goes back to checkpoints, and loses nodes then.
pub fn run_going_back<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    backs: &[Back],
) -> Outcome {
    panics::listen();
    let options = RunArgs { ft: FaultTolerance::Double, ..options.clone() };
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let done = back::run(shape_of(&options), &Config::of(&options), watch.job(), backs, main);
    outcome(watch.job(), done)
}

/// The same where nodes log their messages, and only those that are lost go back; who did. Perhaps on the model of a machine, where it
/// takes so long until a process is there in a lost one's place.
pub fn run_logging<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    machine: Option<(&Machine, Duration)>,
    strikes: &[Strike],
) -> (Outcome, WentBack) {
    panics::listen();
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let config = Config::of(options);
    let of = (shape_of(options), options.ft);
    let (done, went_back) = logged::run(of, &config, watch.job(), machine, strikes, main);
    (outcome(watch.job(), done), went_back)
}

/// The same on the model of a machine that loses nodes.
pub(super) fn run_losing<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    machine: &Machine,
    losses: &Losses,
) -> Outcome {
    panics::listen();
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let done = losing::run(shape_of(options), &Config::of(options), watch.job(), machine, losses, main);
    outcome(watch.job(), done)
}

fn in_view<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    machine: Option<&Machine>,
    view: View,
) -> Outcome {
    panics::listen();
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let done = run(view, shape_of(options), Config::of(options), watch.job(), machine, main);
    outcome(watch.job(), done)
}

fn shape_of(options: &RunArgs) -> Shape {
    Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() }
}
