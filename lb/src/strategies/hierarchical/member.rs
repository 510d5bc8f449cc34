//! A PE's part in a step.

use super::Hierarchical;
use super::bundles::{Bundle, Bundles};
use super::group::Report;
use super::lead::Lead;
use super::offers::{Flow, Offer};
use crate::distributed::alone::with_own_notes;
use crate::distributed::census::{Census, Known, Word};
use crate::distributed::level::Own;
use crate::member::{Action, Decided, Event, Local, Member};
use crate::snapshot::Key;
use talisman_pup::{Pup, from_bytes, to_bytes};

#[derive(Debug, Pup)]
pub(crate) enum Note {
    Census(Word),
    /// To the leader.
    Report(Report),
    /// Up the tree of leaders.
    Offers(Vec<Offer>),
    /// Down the tree of leaders.
    Flows(Vec<Flow>),
    /// From leader to leader: these are given.
    Bring(Vec<Bundle>),
    /// Back: where they go.
    Placed(Vec<Option<u32>>),
    /// From the leader.
    Orders(Orders),
}

/// What a PE is to do.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub(crate) struct Orders {
    /// Seconds that it will take.
    pub predicted: f64,
    /// Its bundles and the PEs they go to.
    pub moves: Vec<(u32, u32)>,
}

/// The state machine.
pub(crate) struct Grouped {
    strategy: Hierarchical,
    pe: u32,
    pes: u32,
    begun: Option<Box<Begun>>,
    /// If the PE leads a group.
    lead: Option<Box<Lead>>,
    refused: Option<String>,
}

struct Begun {
    census: Census,
    keys: Vec<Key>,
    bundles: Bundles,
    /// For the leader, when it is known how much room there is.
    report: Option<Report>,
    /// As long as nothing moves.
    seconds: f64,
    decided: bool,
}

impl Grouped {
    pub fn new(strategy: Hierarchical, pe: u32, pes: u32) -> Self {
        let leads = pe % strategy.group == 0;
        let lead = leads.then(|| Box::new(Lead::new(strategy, pe / strategy.group, pes)));
        Grouped { strategy, pe, pes, begun: None, lead, refused: None }
    }

    fn begin(&mut self, local: &Local, actions: &mut Vec<Action>) -> Result<(), String> {
        if self.begun.is_some() {
            return Err("a step began twice".to_owned());
        }
        let begun = self.begun.insert(Box::new(Begun::new(self.strategy, self.pe, self.pes, local)));
        let mut say = Vec::new();
        let known = begun.census.begin(&mut say);
        self.say(say, known, actions)
    }

    fn note(&mut self, from: u32, note: &[u8], actions: &mut Vec<Action>) -> Result<(), String> {
        let note = from_bytes(note).map_err(|error| error.to_string())?;
        let begun = self.begun.as_mut().ok_or("the step has not begun")?;
        match note {
            Note::Census(word) => {
                let mut say = Vec::new();
                let known = begun.census.hear(from, word, &mut say)?;
                self.say(say, known, actions)
            }
            Note::Orders(orders) => self.obey(from, orders, actions),
            _ => {
                let lead = self.lead.as_mut().ok_or("this PE leads no group")?;
                match note {
                    Note::Report(report) => lead.report(from, report, actions),
                    Note::Offers(offers) => lead.offers(from, offers, actions),
                    Note::Flows(flows) => lead.flows(from, flows, actions),
                    Note::Bring(bundles) => lead.bring(from, bundles, actions),
                    Note::Placed(places) => lead.placed(from, places, actions),
                    Note::Census(_) | Note::Orders(_) => Ok(()),
                }
            }
        }
    }

    fn say(
        &mut self,
        words: Vec<(u32, Word)>,
        known: Option<Known>,
        actions: &mut Vec<Action>,
    ) -> Result<(), String> {
        words.into_iter().for_each(|(to, word)| send(to, &Note::Census(word), actions));
        match known {
            Some(known) if known.is_calm(self.strategy.tolerance) => {
                self.decide(None, actions);
                Ok(())
            }
            Some(known) => self.report(&known, actions),
            None => Ok(()),
        }
    }

    fn report(&mut self, known: &Known, actions: &mut Vec<Action>) -> Result<(), String> {
        let report = self.begun.as_mut().and_then(|begun| begun.report.take());
        if let Some(report) = report {
            let note = Note::Report(Report { room: known.room, ..report });
            send(self.leader(), &note, actions);
        }
        match &mut self.lead {
            Some(lead) => lead.begin(known.level, actions),
            None => Ok(()),
        }
    }

    fn leader(&self) -> u32 {
        self.pe - self.pe % self.strategy.group
    }

    fn obey(&mut self, from: u32, orders: Orders, actions: &mut Vec<Action>) -> Result<(), String> {
        let pes = self.pes;
        let sound = from == self.leader() && orders.moves.iter().all(|(_, to)| *to < pes && *to != self.pe);
        let begun = self.begun.as_mut().filter(|begun| sound && begun.report.is_none() && !begun.decided);
        let begun = begun.ok_or("that PE has no orders now, or none that make sense")?;
        let mut moved = vec![false; begun.keys.len()];
        for (bundle, to) in &orders.moves {
            for number in begun.bundles.objects(*bundle) {
                if !std::mem::replace(&mut moved[number as usize], true) {
                    actions.push(Action::Move { object: begun.keys[number as usize], to: *to });
                }
            }
        }
        self.decide(Some(orders.predicted), actions);
        Ok(())
    }

    fn decide(&mut self, predicted: Option<f64>, actions: &mut Vec<Action>) {
        if let Some(begun) = &mut self.begun {
            begun.decided = true;
            begun.keys = Vec::new();
            begun.bundles = Bundles::default();
            let predicted = predicted.unwrap_or(begun.seconds);
            actions.push(Action::Decided(Decided { predicted, refused: self.refused.take() }));
        }
    }
}

impl Member for Grouped {
    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        with_own_notes(self.pe, event, actions, |event, actions| {
            let taken = match event {
                Event::Begin(local) => self.begin(&local, actions),
                Event::Note { from, note } => {
                    self.note(from, &note, actions).map_err(|why| format!("a note of PE {from}: {why}"))
                }
            };
            if let Err(why) = taken {
                self.refused.get_or_insert(why);
            }
        });
    }

    fn held(&self) -> usize {
        let own = self.begun.as_ref().map_or(0, |begun| begun.keys.len());
        own.max(self.lead.as_ref().map_or(0, |lead| lead.held()))
    }
}

impl Begun {
    fn new(strategy: Hierarchical, pe: u32, pes: u32, local: &Local) -> Self {
        let own = Own::new(local);
        let (bundles, described) = Bundles::new(local, strategy.bundles);
        let movable = described.iter().fold(0, |sum: u64, bundle| sum.saturating_add(bundle.bytes));
        let report = Report {
            place: own.place,
            node: local.pe.node,
            host: local.node.host,
            room: 0,
            fixed: own.fixed,
            fixed_bytes: own.bytes.saturating_sub(movable),
            bundles: described,
        };
        Begun {
            seconds: own.seconds(),
            census: Census::new(own, pe, pes),
            keys: local.objects.iter().map(|object| object.key).collect(),
            bundles,
            report: Some(report),
            decided: false,
        }
    }
}

pub(crate) fn send(to: u32, note: &Note, actions: &mut Vec<Action>) {
    actions.push(Action::Send { to, note: to_bytes(note) });
}

#[cfg(test)]
mod tests {
    use crate::distributed::jumble::{Strangers, jumbled, machine};
    use crate::strategies::Hierarchical;

    fn small(seed: u64) -> Hierarchical {
        Hierarchical { group: 1 + seed as u32 % 5, bundles: 10, ..Hierarchical::default() }
    }

    #[test]
    fn steps_end_with_a_valid_plan_in_any_order() {
        for seed in 0..300 {
            let snapshot = machine(1 + seed as u32 % 40, 200, seed);
            let plans = [1, 2].map(|order| {
                let jumbled = jumbled(&small(seed), &snapshot, order, Strangers::None);
                assert_eq!(jumbled.refused(), None);
                jumbled.plan
            });
            assert_eq!(plans[0], plans[1], "it does not depend on the order");
        }
    }

    #[test]
    fn notes_of_strangers_are_left_out_and_told_of() {
        let mut told = 0;
        for seed in 0..100 {
            let snapshot = machine(12, 100, seed);
            told +=
                usize::from(jumbled(&small(seed), &snapshot, seed, Strangers::Garbage).refused().is_some());
            jumbled(&small(seed), &snapshot, seed, Strangers::Copies);
        }
        assert!(told > 50, "{told}");
    }
}
