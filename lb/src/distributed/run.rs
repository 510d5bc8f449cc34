//! A whole step in one thread, on a modelled network.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Distributed;
use super::locals::Locals;
use crate::member::{Action, Decided, Event, Member};
use crate::plan::{Move, Plan};
use crate::snapshot::Snapshot;
use crate::strategy::Wants;

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// All moves, in the order of objects.
    pub plan: Plan,
    /// Notes between members.
    pub notes: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Seconds from the beginning to the end of the last note, as modelled.
    pub simulated_s: f64,
    /// The most objects that any member had descriptions of at once.
    pub most_held: usize,
    /// Seconds of the slowest PE, as its member predicted.
    pub predicted_max: f64,
    /// The first reason why a member refused something.
    pub refused: Option<String>,
    /// Members that never said that they had decided: a mistake of the strategy.
    pub undecided: u32,
}

/// What notes and members cost in simulated seconds.
#[derive(Default)]
pub struct Model<'a> {
    /// A clock in seconds: what members really take is counted too. Without one it is modelled, and every run gives the same time.
    pub clock: Option<&'a mut dyn FnMut() -> f64>,
}

/// Runs a step of a distributed strategy: all members, in one thread, in a deterministic order.
///
/// A note takes 2 µs on its way beside 0.1 ns for each byte on the links of both PEs, and 1 µs to be taken.
pub fn run(strategy: &dyn Distributed, snapshot: &Snapshot, model: Model<'_>) -> Ran {
    let pes = snapshot.pes.len() as u32;
    run_members(snapshot, strategy.wants(), |pe| strategy.member(pe, pes), model)
}

/// Runs a step with any members, made by the number of the PE.
pub fn run_members(
    snapshot: &Snapshot,
    wants: Wants,
    member: impl FnMut(u32) -> Box<dyn Member>,
    model: Model<'_>,
) -> Ran {
    let locals = Locals::new(snapshot);
    let mut step = Step::new(&locals, (0..snapshot.pes.len() as u32).map(member).collect(), model);
    for pe in 0..snapshot.pes.len() as u32 {
        let local = locals.local(pe, wants.edges);
        let modelled = PER_OBJECT * local.objects.len() as u64;
        step.happens(pe, 0, modelled, Event::Begin(Box::new(local)));
    }
    while let Some(Reverse(arrival)) = step.arrivals.pop() {
        step.arrives(arrival);
    }
    step.ran()
}

/// Picoseconds: whole numbers are the same on every machine.
type Time = u64;

const MICROSECOND: Time = 1_000_000;

/// A note's way through a fast network of today.
const LATENCY: Time = 2 * MICROSECOND;

/// 10 GB/s, of a PE's link in each direction.
const PER_BYTE_SENT: Time = 100;

/// Whatever a note asks for, it is a message of the runtime, which allocates, sends and schedules.
const PER_NOTE: Time = MICROSECOND;

/// To read a byte of a note and do something about it: about what members take here.
const PER_BYTE_READ: Time = 1_000;

/// To look at an object when a step begins.
const PER_OBJECT: Time = 50_000;

struct Step<'a, 'm> {
    locals: &'a Locals<'a>,
    model: Model<'m>,
    members: Vec<Box<dyn Member>>,
    pes: Vec<Busy>,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    /// Notes under way, in places that are used again.
    notes: Vec<Vec<u8>>,
    free: Vec<u32>,
    actions: Vec<Action>,
    decided: Vec<bool>,
    end: Time,
    ran: Ran,
}

/// When a PE can do the next thing.
#[derive(Clone, Copy, Default)]
struct Busy {
    itself: Time,
    link_out: Time,
    link_in: Time,
}

/// In the order of time, and of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: Time,
    order: u64,
    from: u32,
    to: u32,
    note: u32,
}

impl<'a, 'm> Step<'a, 'm> {
    fn new(locals: &'a Locals<'a>, members: Vec<Box<dyn Member>>, model: Model<'m>) -> Self {
        Step {
            locals,
            model,
            pes: vec![Busy::default(); members.len()],
            decided: vec![false; members.len()],
            members,
            arrivals: BinaryHeap::new(),
            notes: Vec::new(),
            free: Vec::new(),
            actions: Vec::new(),
            end: 0,
            ran: Ran::default(),
        }
    }

    fn arrives(&mut self, arrival: Arrival) {
        let note = std::mem::take(&mut self.notes[arrival.note as usize]);
        self.free.push(arrival.note);
        let modelled = PER_BYTE_READ * note.len() as u64;
        self.happens(arrival.to, arrival.at, modelled, Event::Note { from: arrival.from, note });
    }

    /// Lets a member take an event, and does what it wants done.
    fn happens(&mut self, pe: u32, at: Time, modelled: Time, event: Event) {
        let start = at.max(self.pes[pe as usize].itself);
        let took = PER_NOTE + self.take(pe, modelled, event);
        let done = start + took;
        self.pes[pe as usize].itself = done;
        self.end = self.end.max(done);
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send { to, note } => self.send(pe, to, done, note),
                Action::Move { object, to } => self
                    .ran
                    .plan
                    .moves
                    .extend(self.locals.number(pe, &object).map(|object| Move { object, to })),
                Action::Decided(decided) => self.decided(pe, decided),
            }
        }
        self.actions = actions;
    }

    /// What it takes.
    fn take(&mut self, pe: u32, modelled: Time, event: Event) -> Time {
        let member = &mut self.members[pe as usize];
        let begun = self.model.clock.as_mut().map(|clock| clock());
        member.step(event, &mut self.actions);
        let took = match (&mut self.model.clock, begun) {
            (Some(clock), Some(begun)) => ((clock() - begun) * 1e12) as Time,
            _ => modelled,
        };
        self.ran.most_held = self.ran.most_held.max(member.held());
        took
    }

    fn send(&mut self, from: u32, to: u32, done: Time, note: Vec<u8>) {
        self.ran.notes += 1;
        self.ran.bytes += note.len() as u64;
        if to as usize >= self.pes.len() {
            return;
        }
        let on_link = PER_BYTE_SENT * note.len() as u64;
        let sender = &mut self.pes[from as usize].link_out;
        *sender = (*sender).max(done) + on_link;
        let begins = *sender + LATENCY - on_link;
        let receiver = &mut self.pes[to as usize].link_in;
        *receiver = (*receiver).max(begins) + on_link;
        let arrival = Arrival { at: *receiver, order: self.ran.notes, from, to, note: self.place(note) };
        self.arrivals.push(Reverse(arrival));
    }

    fn place(&mut self, note: Vec<u8>) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.notes[place as usize] = note;
                place
            }
            None => {
                self.notes.push(note);
                self.notes.len() as u32 - 1
            }
        }
    }

    fn decided(&mut self, pe: u32, decided: Decided) {
        self.decided[pe as usize] = true;
        self.ran.predicted_max = self.ran.predicted_max.max(decided.predicted);
        self.ran.refused = self.ran.refused.take().or(decided.refused);
    }

    fn ran(mut self) -> Ran {
        self.ran.plan.moves.sort_unstable_by_key(|step| step.object);
        self.ran.simulated_s = self.end as f64 * 1e-12;
        self.ran.undecided = self.decided.iter().filter(|decided| !**decided).count() as u32;
        self.ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Decided;
    use crate::snapshot::tests::line;

    /// Each sends a note of 10,000 bytes to the next, and moves its objects there as soon as one comes.
    struct Onward {
        pe: u32,
        keys: Vec<crate::snapshot::Key>,
    }

    impl Member for Onward {
        fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
            match event {
                Event::Begin(local) => {
                    self.keys = local.objects.iter().map(|object| object.key).collect();
                    if self.pe == 0 {
                        actions.push(Action::Send { to: 1, note: vec![0; 10_000] });
                    }
                }
                Event::Note { from, note } => {
                    assert_eq!((from, note.len()), (0, 10_000));
                    actions.extend(self.keys.iter().map(|object| Action::Move { object: *object, to: 2 }));
                    actions.push(Action::Decided(Decided { predicted: 7.0, refused: Some("no".into()) }));
                }
            }
        }

        fn held(&self) -> usize {
            self.keys.len()
        }
    }

    fn ran(model: Model<'_>) -> Ran {
        let snapshot = line(3, &[(1, 1.0), (0, 1.0), (1, 1.0)]);
        run_members(&snapshot, Wants::default(), |pe| Box::new(Onward { pe, keys: vec![] }), model)
    }

    #[test]
    fn a_step_is_counted_and_modelled() {
        let ran = ran(Model::default());
        let moves = [0, 2].map(|object| Move { object, to: 2 });
        assert_eq!(ran.plan.moves, moves);
        assert_eq!((ran.notes, ran.bytes, ran.most_held, ran.undecided), (1, 10_000, 2, 2));
        assert_eq!((ran.predicted_max, ran.refused.as_deref()), (7.0, Some("no")));
        // To begin with an object, the bytes on the link, the way, to take the note and read it.
        let microseconds = 1.05 + 1.0 + 2.0 + 1.0 + 10.0;
        assert!((ran.simulated_s - microseconds * 1e-6).abs() < 1e-12, "{}", ran.simulated_s);
    }

    #[test]
    fn a_clock_tells_what_members_take() {
        let mut now = 0.0;
        let mut clock = || {
            now += 0.5;
            now
        };
        let ran = ran(Model { clock: Some(&mut clock) });
        let seconds = 0.5 + 0.5 + 5e-6;
        assert!((ran.simulated_s - seconds).abs() < 1e-9, "{}", ran.simulated_s);
    }
}
