//! Running a program inside a test.
//!
//! ```
//! use talisman::prelude::*;
//! use talisman::testing::Test;
//!
//! #[talisman::main]
//! async fn main(cx: &mut Cx) {
//!     writeln!(cx.output(), "hello from {} PEs", cx.pes());
//! }
//!
//! # fn test() {
//! let done = Test::new().pes(2).run::<__Main>(());
//! assert_eq!(done.output, ["hello from 2 PEs"]);
//! # }
//! # test();
//! ```

use std::ops::Deref;

use talisman_lb::member::Local;
use talisman_lb::strategy::Wants;

use crate::run::run;
use talisman_core::chare::{Args, MainChare};
use talisman_job::balancing::Every;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::options::TransportChoice;
use talisman_job::{Output, Progress, RunArgs};
use talisman_kernel::pe::current;
use talisman_node::{Outcome, Watch};
use talisman_simulator::messages::back::Back;
use talisman_simulator::messages::logged::{Blow, Strike, WentBack, When};
use talisman_simulator::messages::{run_going_back, run_logging, run_without};

#[doc(hidden)]
pub use talisman_cluster::probe::main as probe;
#[doc(hidden)]
pub use talisman_core::lab;
#[doc(hidden)]
pub use talisman_kernel::pe::turn::{committed, end_of_job, runs_again, world, world_bytes};

/// What this PE measured since the last call, and nothing of what was before, for benchmarks. To be called where no entry runs: in a
/// registered function.
#[doc(hidden)]
pub fn end_period() -> Local {
    current(|pe| {
        let local = pe.local(Wants { edges: true });
        pe.forget_pasts();
        local
    })
}

/// How a program is to be run in a test. Its output is kept rather than printed.
#[derive(Clone, Debug)]
pub struct Test {
    options: RunArgs,
    lost: Vec<u32>,
    backs: Vec<Back>,
    /// Of a job that logs its messages.
    strikes: Option<Vec<Strike>>,
}

/// What a program in a test left behind.
#[derive(Clone, Debug)]
pub struct Tested {
    outcome: Outcome,
    /// Which nodes ran again, of a job that logs its messages.
    #[doc(hidden)]
    pub went_back: WentBack,
    /// The lines of its output.
    pub output: Vec<String>,
}

impl Deref for Tested {
    type Target = Outcome;

    fn deref(&self) -> &Outcome {
        &self.outcome
    }
}

impl Default for Test {
    fn default() -> Self {
        Self::new()
    }
}

impl Test {
    /// On one PE.
    pub fn new() -> Self {
        let options = RunArgs { pes: Some(1), ..RunArgs::default() };
        Test { options, lost: Vec::new(), backs: Vec::new(), strikes: None }
    }

    /// On so many PEs (per node).
    pub fn pes(mut self, pes: u32) -> Self {
        self.options.pes = Some(pes);
        self
    }

    /// Simulated, on so many nodes.
    pub fn simulated(mut self, nodes: u32, seed: u64) -> Self {
        (self.options.simulate, self.options.nodes, self.options.seed) = (true, nodes, seed);
        self
    }

    /// On so many nodes, all in this process, on real links of this kind.
    pub fn nodes(mut self, nodes: u32, transport: impl Into<TransportChoice>) -> Self {
        (self.options.nodes, self.options.transport) = (nodes, transport.into());
        self
    }

    /// Packs every message.
    pub fn packing_messages(mut self) -> Self {
        self.options.pack_all = true;
        self
    }

    /// Packs every object and builds it anew after each of its messages.
    pub fn repacking_objects(mut self) -> Self {
        self.options.repack = true;
        self
    }

    /// Simulated, and every PE run again afterwards from what it was given: what it sends then has to be the same, or the job has failed.
    /// Messages within a node are packed, too.
    pub fn verifying_replay(mut self) -> Self {
        self.options.verify_replay = true;
        self
    }

    /// With objects balanced by these strategies, whenever `every` says.
    pub fn balancing(mut self, balancer: &str, every: Every) -> Self {
        (self.options.balancer, self.options.lb_every) = (balancer.into(), every);
        self
    }

    /// With other options changed.
    pub fn with_options(mut self, change: impl FnOnce(&mut RunArgs)) -> Self {
        change(&mut self.options);
        self
    }

    /// Where these nodes, of those that are simulated, are lost from the start.
    #[doc(hidden)]
    pub fn without(mut self, lost: &[u32]) -> Self {
        self.lost = lost.to_vec();
        self
    }

    /// After so many events it goes back to a checkpoint that is taken then, on fresh PEs without these nodes. May be said again.
    #[doc(hidden)]
    pub fn going_back(mut self, after: u64, lost: &[u32]) -> Self {
        self.backs.push(Back { after, lost: lost.to_vec(), back: Vec::new() });
        self
    }

    /// The same with these nodes again, which had been lost.
    #[doc(hidden)]
    pub fn growing(mut self, after: u64, back: &[u32]) -> Self {
        self.backs.push(Back { after, lost: Vec::new(), back: back.to_vec() });
        self
    }

    /// Where nodes log their messages, simulated, with one PE each: who is lost goes back, and nobody else.
    #[doc(hidden)]
    pub fn logging(mut self) -> Self {
        self.strikes.get_or_insert_default();
        self
    }

    /// The same, logging in this way.
    #[doc(hidden)]
    pub fn logging_as(self, ft: FaultTolerance) -> Self {
        self.with_options(|options| options.ft = ft).logging()
    }

    /// The same, where this node is lost after so many events from when all are live. May be said again.
    #[doc(hidden)]
    pub fn losing_at_rest(mut self, after: u64, node: u32) -> Self {
        let strike = Strike { when: When::AtRest(after), what: Blow::Lose(vec![node]) };
        self.strikes.get_or_insert_default().push(strike);
        self
    }

    /// The same, where after so many events these nodes are lost at once. May be said again.
    #[doc(hidden)]
    pub fn losing(mut self, after: u64, nodes: &[u32]) -> Self {
        let what = Blow::Lose(nodes.to_vec());
        self.strikes.get_or_insert_default().push(Strike { when: When::Events(after), what });
        self
    }

    /// The same, where whoever leads is lost, and these nodes at once; another takes its place.
    #[doc(hidden)]
    pub fn losing_leader(mut self, after: u64, nodes: &[u32]) -> Self {
        let what = Blow::LoseLeader(nodes.to_vec());
        self.strikes.get_or_insert_default().push(Strike { when: When::Events(after), what });
        self
    }

    /// The same, where after so many events a checkpoint is taken, behind which nobody goes back; what is said next counts from then.
    /// May be said again.
    #[doc(hidden)]
    pub fn cutting(self, after: u64) -> Self {
        self.struck_by_cut(after, Blow::Cut)
    }

    /// The same, where what is said next counts from when the first node has begun the next line.
    #[doc(hidden)]
    pub fn cutting_until_one_begins(self, after: u64) -> Self {
        self.struck_by_cut(after, Blow::CutUntilOneBegins)
    }

    /// The same, where what is said next counts from when so many nodes hold their parts of it, and the others do not.
    #[doc(hidden)]
    pub fn cutting_until_held_by(self, nodes: u32, after: u64) -> Self {
        self.struck_by_cut(after, Blow::CutUntilHeldBy(nodes))
    }

    /// The same, where what is said next counts from when it is asked for.
    #[doc(hidden)]
    pub fn asking_for_cut(self, after: u64) -> Self {
        self.struck_by_cut(after, Blow::AskForCut)
    }

    /// The same, where after so many events somebody wants these nodes released, which they are at a cut; what is said next counts from then.
    #[doc(hidden)]
    pub fn releasing(self, after: u64, nodes: &[u32]) -> Self {
        self.struck_by_cut(after, Blow::Release(nodes.to_vec()))
    }

    /// The same, where somebody wants those of these nodes to be there that are not, which they are from a cut on.
    #[doc(hidden)]
    pub fn adding(self, after: u64, nodes: &[u32]) -> Self {
        self.struck_by_cut(after, Blow::Add(nodes.to_vec()))
    }

    /// The same, where after so many events, and a cut, all nodes are lost, and so many others go on from what those have on disk. Lines that
    /// were printed since the cut come again.
    #[doc(hidden)]
    pub fn started_again(self, after: u64, nodes: u32) -> Self {
        self.struck_by_cut(after, Blow::StartAgain(nodes))
    }

    /// The same, whose nodes have so many times no memory for the parts of those whose keepers they are.
    #[doc(hidden)]
    pub fn refusing_rooms(mut self, times: u32) -> Self {
        let refuses = Strike { when: When::Events(0), what: Blow::RefuseRooms(times) };
        self.strikes.get_or_insert_default().insert(0, refuses);
        self
    }

    /// The same, whose nodes have no twins when they come from one line to the next.
    #[doc(hidden)]
    pub fn without_twins(mut self) -> Self {
        let without = Strike { when: When::Events(0), what: Blow::WithoutTwins };
        self.strikes.get_or_insert_default().insert(0, without);
        self
    }

    fn struck_by_cut(mut self, after: u64, what: Blow) -> Self {
        self.strikes.get_or_insert_default().push(Strike { when: When::Events(after), what });
        if !self.options.ft.logs() {
            self.options.ft = FaultTolerance::Logging;
        }
        self
    }

    /// Whether other nodes go on from what those of the job have on disk.
    #[doc(hidden)]
    pub fn is_started_again(&self) -> bool {
        let strikes = self.strikes.iter().flatten();
        strikes.into_iter().any(|strike| matches!(strike.what, Blow::StartAgain(_)))
    }

    /// Runs a program to its end, with what its `main` takes beside `cx`: `()` if that is nothing, else a tuple, such as
    /// `(Options { steps: 10 },)`.
    pub fn run<C: MainChare>(&self, args: impl Args + Send) -> Tested {
        let output = Output::capture();
        let watch = Watch::new(output.clone(), Progress::off());
        if let Some(strikes) = &self.strikes {
            let (outcome, went_back) = run_logging::<C, _>(args, &self.options, &watch, None, strikes);
            return Tested { outcome, went_back, output: output.captured() };
        }
        let outcome = match self.lost.is_empty() {
            _ if !self.backs.is_empty() => run_going_back::<C, _>(args, &self.options, &watch, &self.backs),
            true => run::<C, _>(args, &self.options, watch),
            false => run_without::<C, _>(args, &self.options, &watch, &self.lost),
        };
        Tested { outcome, went_back: WentBack::default(), output: output.captured() }
    }
}
