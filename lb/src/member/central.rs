//! The members of a strategy that sees everything: what the PEs know goes up a tree, moves come down.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::gathered::Gathered;
use super::place::Place;
use super::{Action, Decided, Event, Local, Member, tree};
use crate::snapshot::Key;
use crate::strategy::Strategy;
use talisman_pup::{Pup, Purpose, Unpacker, from_bytes, to_bytes};

/// A PE's part in a step in which PE 0 decides.
pub struct Central {
    pe: u32,
    pes: u32,
    /// At PE 0 only.
    strategy: Option<Box<dyn Strategy>>,
    keys: Vec<Key>,
    /// Seconds its PE needs if nothing moves.
    seconds: f64,
    /// PEs right below that have not told yet.
    waiting: Vec<u32>,
    heard: Heard,
    phase: Phase,
    refused: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Before,
    Gathering,
    Telling,
    Over,
}

/// What a PE and those below it know, packed. It is not looked at before it is on top.
#[derive(Debug, Default, Pup)]
struct Heard {
    objects: u64,
    /// One [`Local`] after the other.
    packed: Vec<u8>,
}

#[derive(Debug, Pup)]
enum Note {
    Up(Heard),
    /// What was decided for the receiver and those below it; who is not named keeps everything.
    Down(Vec<Share>),
}

/// What was decided for a PE.
#[derive(Debug, Default, Pup)]
struct Share {
    pe: u32,
    predicted: f64,
    /// Numbers of objects there, and where they go.
    moves: Vec<(u32, u32)>,
}

impl Central {
    /// The member of PE `pe` of `pes`. Only that of PE 0 uses the strategy.
    pub fn new(strategy: Box<dyn Strategy>, pe: u32, pes: u32) -> Self {
        Central {
            pe,
            pes,
            strategy: Some(strategy).filter(|_| pe == 0),
            keys: Vec::new(),
            seconds: 0.0,
            waiting: tree::children(pe, pes).collect(),
            heard: Heard::default(),
            phase: Phase::Before,
            refused: None,
        }
    }

    fn begin(&mut self, local: Local, actions: &mut Vec<Action>) {
        if self.phase != Phase::Before {
            return self.complain("a step began twice");
        }
        self.phase = Phase::Gathering;
        self.keys = local.objects.iter().map(|object| object.key).collect();
        let load = local.objects.iter().map(|object| object.work()).sum();
        self.seconds = Place::from(&local.pe).seconds(load);
        self.heard.add(Heard { objects: local.objects.len() as u64, packed: to_bytes(&local) });
        self.tell_if_complete(actions);
    }

    fn note(&mut self, from: u32, note: &[u8], actions: &mut Vec<Action>) {
        match from_bytes(note) {
            Ok(Note::Up(heard)) => self.up(from, heard, actions),
            Ok(Note::Down(shares)) => self.down(from, shares, actions),
            Err(error) => self.complain(&format!("a note of PE {from}: {error}")),
        }
    }

    fn up(&mut self, from: u32, heard: Heard, actions: &mut Vec<Action>) {
        let child = self.waiting.iter().position(|child| *child == from);
        let Some(child) = child.filter(|_| self.phase == Phase::Gathering) else {
            return self.complain(&format!("PE {from} was not to tell anything now"));
        };
        self.waiting.swap_remove(child);
        self.heard.add(heard);
        self.tell_if_complete(actions);
    }

    fn tell_if_complete(&mut self, actions: &mut Vec<Action>) {
        if !self.waiting.is_empty() {
            return;
        }
        self.phase = Phase::Telling;
        let heard = std::mem::take(&mut self.heard);
        match tree::parent(self.pe) {
            Some(parent) => actions.push(Action::Send { to: parent, note: to_bytes(&Note::Up(heard)) }),
            None => self.decide(heard, actions),
        }
    }

    /// On top: runs the strategy. Whatever it does wrong, all are told that nothing moves.
    fn decide(&mut self, heard: Heard, actions: &mut Vec<Action>) {
        let Some(mut strategy) = self.strategy.take() else { return };
        let shares = heard.gathered(self.pes).and_then(|gathered| shares(&mut *strategy, &gathered));
        let shares = shares.unwrap_or_else(|why| {
            self.complain(&format!("strategy {}: {why}", strategy.name()));
            Vec::new()
        });
        self.take(shares, actions);
    }

    fn down(&mut self, from: u32, shares: Vec<Share>, actions: &mut Vec<Action>) {
        if tree::parent(self.pe) != Some(from) || self.phase != Phase::Telling {
            return self.complain(&format!("PE {from} has nothing to decide here now"));
        }
        self.take(shares, actions);
    }

    /// Passes on what is for those below, and carries out its own.
    fn take(&mut self, shares: Vec<Share>, actions: &mut Vec<Action>) {
        let mut own = Share { pe: self.pe, predicted: self.seconds, moves: Vec::new() };
        let mut below: Vec<(u32, Vec<Share>)> =
            tree::children(self.pe, self.pes).map(|child| (child, Vec::new())).collect();
        for share in shares {
            let child = tree::toward(self.pe, share.pe);
            match below.iter_mut().find(|(of, _)| Some(*of) == child) {
                Some((_, theirs)) => theirs.push(share),
                None if share.pe == self.pe => own = share,
                None => self.complain(&format!("PE {} is not below", share.pe)),
            }
        }
        for (to, shares) in below {
            actions.push(Action::Send { to, note: to_bytes(&Note::Down(shares)) });
        }
        self.carry_out(own, actions);
    }

    fn carry_out(&mut self, own: Share, actions: &mut Vec<Action>) {
        for (number, to) in own.moves {
            match self.keys.get(number as usize) {
                Some(object) if to < self.pes => actions.push(Action::Move { object: *object, to }),
                _ => self.complain(&format!("object {number} was to go to PE {to}")),
            }
        }
        self.phase = Phase::Over;
        self.keys = Vec::new();
        let refused = self.refused.take();
        actions.push(Action::Decided(Decided { predicted: own.predicted, refused }));
    }

    /// Keeps the first reason: later ones may be its consequences.
    fn complain(&mut self, why: &str) {
        self.refused.get_or_insert_with(|| why.to_owned());
    }
}

impl Member for Central {
    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Begin(local) => self.begin(*local, actions),
            Event::Note { from, note } => self.note(from, &note, actions),
        }
    }

    fn held(&self) -> usize {
        self.keys.len().max(self.heard.objects as usize)
    }
}

impl Heard {
    fn add(&mut self, mut other: Heard) {
        self.objects = self.objects.saturating_add(other.objects);
        if self.packed.is_empty() {
            self.packed = other.packed;
        } else {
            self.packed.append(&mut other.packed);
        }
    }

    fn gathered(self, pes: u32) -> Result<Gathered, String> {
        let mut locals = Vec::new();
        let mut unpacker = Unpacker::new(&self.packed, Purpose::Message);
        while unpacker.left() > 0 {
            locals.push(Local::unpack(&mut unpacker).map_err(|error| error.to_string())?);
        }
        Gathered::new(locals, pes).map_err(|misfit| misfit.to_string())
    }
}

/// What the strategy decides, by PE in order.
fn shares(strategy: &mut dyn Strategy, gathered: &Gathered) -> Result<Vec<Share>, String> {
    let snapshot = &gathered.snapshot;
    let plan = catch_unwind(AssertUnwindSafe(|| strategy.plan(snapshot)))
        .map_err(|panic| format!("it panicked: {}", message(&*panic)))?;
    plan.check(snapshot).map_err(|nonsense| nonsense.to_string())?;
    let mut shares: Vec<_> =
        (0..).take(snapshot.pes.len()).map(|pe| Share { pe, ..Share::default() }).collect();
    let mut places: Vec<_> = snapshot.objects.iter().map(|object| object.pe).collect();
    for step in &plan.moves {
        let at = std::mem::replace(&mut places[step.object as usize], step.to);
        if at != step.to {
            shares[at as usize].moves.push((gathered.numbers[step.object as usize], step.to));
        }
    }
    for (object, pe) in snapshot.objects.iter().zip(places) {
        shares[pe as usize].predicted += object.work();
    }
    for (share, pe) in shares.iter_mut().zip(&snapshot.pes) {
        share.predicted = Place::from(pe).seconds(share.predicted);
    }
    Ok(shares)
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::jumble::{Jumbled, Strangers, jumbled_members, machine};
    use crate::plan::{Move, Plan};
    use crate::snapshot::Snapshot;
    use crate::strategies::{Greedy, Rotate};

    /// Decides whatever it is told to.
    struct Told(fn(&Snapshot) -> Plan);

    impl Strategy for Told {
        fn name(&self) -> &str {
            "told"
        }

        fn plan(&mut self, snapshot: &Snapshot) -> Plan {
            self.0(snapshot)
        }
    }

    fn decided(
        make: fn() -> Box<dyn Strategy>,
        snapshot: &Snapshot,
        seed: u64,
        strangers: Strangers,
    ) -> Jumbled {
        let pes = snapshot.pes.len() as u32;
        let members = (0..pes).map(|pe| Box::new(Central::new(make(), pe, pes)) as Box<dyn Member>);
        jumbled_members(members.collect(), snapshot, true, seed, strangers)
    }

    #[test]
    fn the_plan_is_that_of_the_strategy() {
        for seed in 0..100 {
            let snapshot = machine(1 + seed as u32 % 30, 200, seed);
            let makes: [fn() -> Box<dyn Strategy>; 2] = [|| Box::new(Greedy), || Box::new(Rotate)];
            for make in makes {
                let jumbled = decided(make, &snapshot, seed, Strangers::None);
                assert_eq!(jumbled.plan.moves, make().plan(&snapshot).moves);
                assert_eq!(jumbled.refused(), None);
            }
        }
    }

    #[test]
    fn what_pes_will_take_is_predicted() {
        let snapshot = crate::snapshot::tests::line(2, &[(0, 1.0), (0, 3.0)]);
        let make: fn() -> Box<dyn Strategy> =
            || Box::new(Told(|_| Plan { moves: vec![Move { object: 1, to: 1 }] }));
        let predicted = decided(make, &snapshot, 0, Strangers::None).decided;
        let predicted: Vec<_> = predicted.into_iter().flatten().map(|decided| decided.predicted).collect();
        assert_eq!(predicted, [1.0, 3.0]);
    }

    #[test]
    fn nonsense_and_panics_are_refused_by_name() {
        let snapshot = crate::snapshot::tests::line(9, &[(3, 1.0), (8, 3.0)]);
        let cases: [(fn() -> Box<dyn Strategy>, &str); 2] = [
            (
                || {
                    Box::new(Told(|_| Plan {
                        moves: vec![Move { object: 0, to: 7 }, Move { object: 5, to: 0 }],
                    }))
                },
                "strategy told: entry 1 of the plan moves object number 5; there are 2",
            ),
            (|| Box::new(Told(|_| panic!("no {}", "idea"))), "strategy told: it panicked: no idea"),
        ];
        for (make, why) in cases {
            let jumbled = decided(make, &snapshot, 1, Strangers::None);
            assert_eq!(jumbled.plan, Plan::default());
            let refusals = jumbled.decided.iter().flatten().filter_map(|decided| decided.refused.as_deref());
            assert_eq!(refusals.collect::<Vec<_>>(), [why]);
            assert_eq!(jumbled.decided[8].as_ref().map(|decided| decided.predicted), Some(3.0));
        }
    }

    #[test]
    fn notes_of_strangers_are_left_out_and_told_of() {
        let mut told = 0;
        for seed in 0..100 {
            let snapshot = machine(12, 100, seed);
            let make = || Box::new(Greedy) as Box<dyn Strategy>;
            let jumbled = decided(make, &snapshot, seed, Strangers::Garbage);
            assert_eq!(jumbled.plan.moves, Greedy.plan(&snapshot).moves);
            told += usize::from(jumbled.refused().is_some());
            decided(make, &snapshot, seed, Strangers::Copies);
        }
        assert!(told > 50, "{told}");
    }
}
