//! Programs with a result that can be checked.

use talisman_core::prelude::*;
use talisman_core::simulation::{Plan, Ran, simulate};

/// How large a program is; 1 is smallest.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u32);

/// A run of a program, and what it says of itself.
pub struct Checked {
    /// What the job left behind.
    pub ran: Ran,
    /// What must be the same in every run.
    pub result: Vec<String>,
    /// What was wrong.
    pub wrong: Vec<String>,
}

/// All programs.
pub const NAMES: &[&str] = &["ring"];

/// Runs one of them.
pub fn run(_name: &str, _seed: u64, size: Size, plan: &Plan, logging: bool) -> Checked {
    let ran = simulate::<Main>((Laps { laps: size.0 },), plan, logging);
    Checked { result: ran.output.clone(), wrong: Vec::new(), ran }
}

#[derive(Pup)]
struct Member;

#[chare(array1d)]
impl Member {
    #[init]
    fn new() -> Self {
        Member
    }

    #[entry]
    fn token(&mut self, cx: &mut Cx<Self>, hops: u64, left: u64, home: Callback<u64>) {
        match left {
            0 => home.send(hops),
            _ => cx.array().at((cx.index() + 1) % 10).token(hops + 1, left - 1, home),
        }
    }
}

#[derive(Pup, clap::Parser)]
struct Laps {
    laps: u32,
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, laps: Laps) -> Self {
        let ring = Member::array(10).new();
        ring.at(0).token(0, 100 * laps.laps as u64, cx.callback(Self::home));
        Main
    }

    #[entry]
    fn home(&mut self, cx: &mut Cx<Self>, hops: u64) {
        writeln!(cx.output(), "{hops} hops");
        cx.exit();
    }
}
