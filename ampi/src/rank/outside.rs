//! What a rank can ask of the runtime, besides MPI.

use std::time::Duration;

use talisman_core::cx::{Heard, Rest, Seat};

use super::{Command, Outgoing};
use crate::comm::World;
use crate::engine::{Frame, Payload, Rank as Number, Whole};

/// What the rank that runs may call. All of it is called on the process's heap.
pub trait Outside {
    /// Adds to the program's output.
    fn print(&mut self, text: &str);

    /// Adds to the program's standard error.
    fn print_errors(&mut self, text: &str);

    /// Time since the job started.
    fn now(&self) -> Duration;

    /// The PE that the rank is on, of so many.
    fn pe(&self) -> (u32, u32);

    /// The rank calls what has this name, or its call has ended: for a trace.
    fn trace_call(&mut self, _call: Option<&str>) {}

    /// Whether something may have come meanwhile that the rank would have to wait for to get it.
    fn may_have_come(&self) -> bool {
        false
    }

    /// Takes out what may leave while the rank runs on, and sends it.
    fn send_now(&mut self, sent: &mut Vec<Outgoing>) {
        let _ = sent;
    }

    /// Gives a frame at once to a rank that waits on this PE, or back if it is to be sent. What that leads to is added to `led_to`; what
    /// is for the rank that runs as well.
    ///
    /// # Errors
    /// The frame, if it is to be sent.
    fn give_now(
        &mut self,
        _to: Number,
        frame: Frame<Payload>,
        _led_to: &mut Vec<Outgoing>,
    ) -> Result<(), Frame<Payload>> {
        Err(frame)
    }

    /// Sends a whole message to a rank of another node at once, from where its bytes are. False if it is to be sent in a frame.
    fn send_at_once(&self, _to: Number, _whole: &Whole<'_>) -> bool {
        false
    }

    /// Gives `take` the next frame that comes for the rank, packed, where it runs: its start, and the rest where it is. What it does not take comes as any other. If it
    /// `waits`, that is for some microseconds.
    fn hear(&mut self, _waits: bool, _take: &mut dyn FnMut(&[u8], &Rest<'_>) -> bool) -> Heard {
        Heard::Other
    }

    /// The rank that runs has had its turn, and the one with this seat has the next, at once. False if this one is to give the PE back
    /// before: nothing has changed then.
    ///
    /// # Safety
    /// That rank waits on this PE, and is ready.
    unsafe fn pass_turn(&mut self, _to: Seat) -> bool {
        false
    }

    /// The program has finished this step, counted from 1.
    fn step(&mut self, step: u64);

    /// A result of the program, for `--report`.
    fn result(&mut self, name: &str, value: f64);

    /// A `Callback<Vec<u8>>` that calls the rank, packed.
    fn mailbox(&self) -> Vec<u8>;

    /// Makes ranks of a world that run these commands. Each says by a post whether it can begin.
    ///
    /// # Errors
    /// If a command cannot be run here.
    fn bear(&mut self, _world: World, _commands: Vec<Command>) -> Result<(), String> {
        Err("there is no runtime that could start ranks".into())
    }

    /// So many ranks from this one on, which were made, begin; or they go.
    fn begin(&mut self, _first: Number, _ranks: u32, _begins: bool) {}

    /// Ends the job with this exit status, and says why.
    fn end_job(&mut self, status: u8, why: &str);

    /// Asks for something that is done when the rank waits.
    fn ask(&mut self, wish: Wish);
}

/// Something that is done while a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To be on this PE.
    Move(u32),
    /// Ranks are balanced when all have asked for it; then each is released.
    Balance,
    /// A checkpoint of the job is taken; then all ranks are released.
    Checkpoint,
}

/// For ranks without a runtime, as in tests: nothing is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Outside for Alone {
    fn print(&mut self, text: &str) {
        print!("{text}");
    }

    fn print_errors(&mut self, text: &str) {
        eprint!("{text}");
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn pe(&self) -> (u32, u32) {
        (0, 1)
    }

    fn step(&mut self, _: u64) {}

    fn result(&mut self, _: &str, _: f64) {}

    fn mailbox(&self) -> Vec<u8> {
        Vec::new()
    }

    fn end_job(&mut self, status: u8, why: &str) {
        eprintln!("{why}");
        std::process::exit(status.into());
    }

    fn ask(&mut self, _: Wish) {}
}
