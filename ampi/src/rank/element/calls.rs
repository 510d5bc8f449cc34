//! What a rank asks of the runtime while an entry of its element runs.

use std::ptr::NonNull;
use std::time::Duration;

use talisman_core::cx::{Cx, Heard, Hearing, Rest, Seat};
use talisman_core::proxy::Proxy;
use talisman_core::record::runs_alone;

use super::{Launch, RankElement};
use crate::comm::World;
use crate::engine::{Frame, Payload, Rank as Number, Whole};
use crate::rank::sending;
use crate::rank::{Birth, Command, Outgoing, Outside, Program, Said, Wish};

/// What a rank can ask of the runtime while its entry runs.
pub(super) struct Calls<'a, P: Program> {
    pub(super) cx: &'a mut Cx<RankElement<P>>,
    /// The element whose rank runs.
    pub(super) at: &'a mut NonNull<RankElement<P>>,
    pub(super) launch: Option<Proxy<Launch<P>>>,
    pub(super) said: &'a mut u64,
    /// Since when it has heard what comes for it, if it does where it waits.
    pub(super) hearing: Option<Hearing>,
}

impl<P: Program> Calls<'_, P> {
    /// A rank that has not begun says nothing.
    fn say(&mut self, said: Said) {
        if runs_alone() {
            self.show(&said);
        }
        if let Some(launch) = self.launch {
            launch.said(self.cx.index() as u32, *self.said, said);
            *self.said += 1;
        }
    }

    /// Whoever gives on what ranks say may be on another PE, which does not run.
    fn show(&mut self, said: &Said) {
        match said {
            Said::Lines(text) => write!(self.cx.output(), "{text}"),
            Said::Errors(text) => write!(self.cx.errors(), "{text}"),
            Said::End { status, why } => self.cx.fail_with(*status, why),
        }
    }
}

impl<P: Program> Outside for Calls<'_, P> {
    fn print(&mut self, text: &str) {
        self.say(Said::Lines(text.to_owned()));
    }

    fn print_errors(&mut self, text: &str) {
        match self.cx.survives() {
            true => self.say(Said::Errors(text.to_owned())),
            // Nothing is done again: it comes at once.
            false => write!(self.cx.errors(), "{text}"),
        }
    }

    fn may_have_come(&self) -> bool {
        self.cx.may_have_come()
    }

    fn now(&self) -> Duration {
        self.cx.now_in_entry()
    }

    fn pe(&self) -> (u32, u32) {
        (self.cx.pe(), self.cx.pes())
    }

    fn trace_call(&mut self, call: Option<&str>) {
        self.cx.trace_rank(self.cx.index() as u32, call);
    }

    fn send_now(&mut self, sent: &mut Vec<Outgoing>) {
        sending::send_now(self.cx, sent);
    }

    fn give_now(
        &mut self,
        to: Number,
        frame: Frame<Payload>,
        led_to: &mut Vec<Outgoing>,
    ) -> Result<(), Frame<Payload>> {
        sending::give_now(self.cx, to, frame, led_to)
    }

    fn send_at_once(&self, to: Number, whole: &Whole<'_>) -> bool {
        sending::send_at_once(self.cx, to, whole)
    }

    fn hear(&mut self, waits: bool, take: &mut dyn FnMut(&[u8], &Rest<'_>) -> bool) -> Heard {
        let Some(hearing) = &mut self.hearing else { return Heard::Other };
        self.cx.hear_in_place(RankElement::<P>::frame, hearing, waits, take)
    }

    unsafe fn pass_turn(&mut self, to: Seat) -> bool {
        // One that is to move whenever it waits is to be seen to do so.
        if self.hearing.is_none() {
            return false;
        }
        // SAFETY: the caller's promise: its seat is where it is as long as it is found.
        let Some(next) = (unsafe { self.cx.pass_turn(to, RankElement::<P>::go_on) }) else { return false };
        *self.at = next;
        // SAFETY: an element of this PE of which no entry runs but this one.
        self.said = unsafe { &mut (*next.as_ptr()).said };
        self.hearing = Some(Hearing::default());
        true
    }

    fn step(&mut self, step: u64) {
        self.cx.step(step);
    }

    fn result(&mut self, name: &str, value: f64) {
        self.cx.result(name, value);
    }

    fn mailbox(&self) -> Vec<u8> {
        talisman_pup::to_bytes(&self.cx.callback(RankElement::<P>::post))
    }

    fn bear(&mut self, world: World, commands: Vec<Command>) -> Result<(), String> {
        let (array, pes, asker) = (self.cx.array(), self.cx.pes(), self.cx.index() as u32);
        // SAFETY: the element whose entry runs; what calls borrow of it are other parts.
        let element = unsafe { self.at.as_ref() };
        let (mut first, mut programs) = (world.first, Vec::with_capacity(commands.len()));
        for (command, number) in commands.iter().zip(0..) {
            let (ranks, size) = (command.ranks, world.size);
            let birth = Birth { first, ranks, number, world: world.first, size };
            programs
                .push((birth, talisman_pup::to_bytes(&element.memory.program().another(command, birth)?)));
            first += ranks;
        }
        for (Birth { first, ranks, .. }, program) in programs {
            for rank in first..first + ranks {
                let program = talisman_pup::from_bytes(&program).map_err(|error| error.to_string())?;
                let memory = element.memory.of_another(program);
                // In turns, wherever the others are.
                let made = array.insert(rank as i32).on(rank % pes);
                made.born(world.clone(), memory, element.moves_always).settle(asker, 0);
            }
        }
        self.launch.iter().for_each(|launch| launch.grows(world.size));
        Ok(())
    }

    fn begin(&mut self, first: Number, ranks: u32, begins: bool) {
        // SAFETY: as above.
        let element = unsafe { self.at.as_ref() };
        // It has begun, and has not ended.
        let (Some(launch), Some(done)) = (self.launch, &element.done) else { return };
        for rank in first..first + ranks {
            let rank = element.ranks.at(rank as i32);
            match begins {
                true => rank.start(launch, done.clone(), element.rank.process().ports.mark()),
                false => rank.vanish(launch),
            }
        }
    }

    fn end_job(&mut self, status: u8, why: &str) {
        self.say(Said::End { status, why: why.to_owned() });
    }

    fn ask(&mut self, wish: Wish) {
        match wish {
            Wish::Move(pe) => self.cx.migrate_to(pe),
            Wish::Balance => self.cx.at_sync_then(RankElement::<P>::release),
            Wish::Checkpoint => {
                let released = self.cx.array().callback(RankElement::<P>::release);
                self.cx.checkpoint(released);
            }
        }
    }
}
