//! Running a job in this process: on threads, or simulated in one.

use talisman_core::chare::{Args, MainChare};
use talisman_core::main_chare::create_main;
pub use talisman_job::Measures;
use talisman_job::RunArgs;
pub use talisman_node::{Outcome, Stopper, Watch};
use talisman_simulator::messages::run_simulated;

/// Runs a program's main chare with its arguments until the job ends.
pub fn run<C: MainChare, A: Args + Send>(args: A, options: &RunArgs, watch: Watch) -> Outcome {
    match options.simulate {
        true => run_simulated::<C, A>(args, options, &watch),
        false => talisman_node::run(options, watch, |pe| create_main::<C, A>(pe, args)),
    }
}
