//! Runs examples as their users do: by the words of a command line.

use talisman::simulation::{Plan, run_program};

use super::Checked;

/// Runs the example in a module. `checks`: what its errors say when it finds its own result wrong.
pub fn run(module: &str, words: &[&str], checks: &[&str], plan: &Plan, logging: bool) -> Checked {
    let ran = run_program(module, words, plan, logging).expect("the words are those of the example");
    Checked::by_itself(ran, checks)
}
