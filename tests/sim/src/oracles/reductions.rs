//! Every element contributes once to each reduction, and the result comes once, with all contributions in it.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::ids::{CollectionId, ObjId, SectionId};
use talisman::witness::{Reduction, Seen};

use super::Oracle;

/// Counts contributions, element by element.
#[derive(Clone, Default)]
pub struct Reductions {
    collections: FxHashMap<CollectionId, Collection>,
    /// Who contributed to what is not complete yet, and how often; other than to reductions of whole collections.
    open: FxHashMap<(CollectionId, Reduction), FxHashMap<ObjId, u64>>,
    /// How many elements there have been of each name: every one of them may receive a broadcast, and answer it.
    lives: FxHashMap<ObjId, u64>,
    complete: FxHashSet<(CollectionId, Reduction)>,
    /// Members, as far as a multicast told.
    sections: FxHashMap<SectionId, usize>,
    made: FxHashSet<SectionId>,
    /// Members of groups that were made when these sections were there: another had the name, and of what they contribute nothing counts.
    strangers: FxHashSet<(SectionId, ObjId)>,
    /// The job has gone back: members of groups may be lost, and are not waited for.
    went_back: bool,
    /// A node has died or gone back: contributions are lost or made again.
    blind: bool,
}

#[derive(Clone, Default)]
struct Collection {
    /// The next reduction of each element.
    next: FxHashMap<ObjId, u32>,
    /// How many elements have which as their next.
    waiting: BTreeMap<u32, usize>,
    /// Contributions to each that is not complete.
    made: BTreeMap<u32, u64>,
    /// How many are complete.
    complete: u32,
}

impl Collection {
    fn waits(&mut self, number: u32) {
        *self.waiting.entry(number).or_default() += 1;
    }

    fn waits_no_more(&mut self, number: u32) {
        if let Some(count) = self.waiting.get_mut(&number) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&number);
            }
        }
    }

    fn born(&mut self, id: ObjId, number: u32) -> Result<(), String> {
        if number < self.complete {
            return Err(format!("{id:?} is to take part in reduction {number}, which is complete"));
        }
        self.waits(number);
        self.next.insert(id, number);
        Ok(())
    }

    fn removed(&mut self, id: ObjId) {
        if let Some(number) = self.next.remove(&id) {
            self.waits_no_more(number);
        }
    }

    fn contributed(&mut self, id: ObjId, number: u32) -> Result<(), String> {
        let Some(next) = self.next.get_mut(&id) else {
            return Err(format!("{id:?} contributes to reduction {number}, and does not exist"));
        };
        if *next != number {
            return Err(format!("{id:?} contributes to reduction {number}, and its next is {next}"));
        }
        *next += 1;
        self.waits_no_more(number);
        self.waits(number + 1);
        *self.made.entry(number).or_default() += 1;
        Ok(())
    }

    fn reduced(&mut self, number: u32, contributions: u64) -> Result<(), String> {
        if number != self.complete {
            return Err(format!("reduction {number} is complete, and {} was to be next", self.complete));
        }
        self.complete += 1;
        let made = self.made.remove(&number).unwrap_or(0);
        if made != contributions {
            return Err(format!("reduction {number} has {contributions} contributions of {made}"));
        }
        match self.waiting.first_key_value() {
            Some((least, count)) if *least <= number => {
                Err(format!("reduction {number} is complete, and {count} elements have yet to contribute"))
            }
            _ => Ok(()),
        }
    }
}

impl Reductions {
    fn contributed(&mut self, id: ObjId, reduction: Reduction) -> Result<(), String> {
        match reduction {
            Reduction::All(number) => return self.collection(id.collection).contributed(id, number),
            Reduction::Section(section, _) if self.strangers.contains(&(section, id)) => return Ok(()),
            _ => {}
        }
        let key = (id.collection, reduction);
        if self.complete.contains(&key) {
            return Err(format!("{id:?} contributes to {reduction:?}, which is complete"));
        }
        let lives = match reduction {
            Reduction::Answers(_) => self.lives.get(&id).copied().unwrap_or(0),
            _ => 1,
        };
        let times = self.open.entry(key).or_default().entry(id).or_default();
        *times += 1;
        match *times {
            1 => Ok(()),
            times if times <= lives => Ok(()),
            times => Err(format!("{id:?} contributes to {reduction:?} {times} times, in {lives} lives")),
        }
    }

    fn reduced(&mut self, of: CollectionId, reduction: Reduction, contributions: u64) -> Result<(), String> {
        let what = |what| format!("of {of:?}: {what}");
        if let Reduction::All(number) = reduction {
            return self.collection(of).reduced(number, contributions).map_err(what);
        }
        if !self.complete.insert((of, reduction)) {
            return Err(what(format!("{reduction:?} is complete twice")));
        }
        let made = self.open.remove(&(of, reduction)).map_or(0, |made| made.values().sum());
        let members = match reduction {
            Reduction::Section(section, _) | Reduction::SectionAnswers(section, _) => {
                self.sections.get(&section).map_or(made, |members| *members as u64)
            }
            _ => made,
        };
        let all = made == members || self.went_back && made < members;
        if contributions != made || !all {
            return Err(what(format!(
                "{reduction:?} has {contributions} contributions, {made} of {members} were made"
            )));
        }
        Ok(())
    }

    fn received(&self, id: ObjId, number: u32) -> Result<(), String> {
        match self.complete.contains(&(id.collection, Reduction::Answers(number))) {
            true => Err(format!("{id:?} receives broadcast {number}, whose answers are complete")),
            false => Ok(()),
        }
    }

    fn collection(&mut self, id: CollectionId) -> &mut Collection {
        self.collections.entry(id).or_default()
    }
}

impl Oracle for Reductions {
    fn name(&self) -> &'static str {
        "reductions"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        if self.blind {
            return Ok(());
        }
        match *seen {
            Seen::Born { object, reduction, late, .. } => {
                *self.lives.entry(object).or_default() += 1;
                let sections = self.made.iter().filter(|_| late);
                self.strangers.extend(sections.map(|section| (*section, object)));
                self.collection(object.collection).born(object, reduction)
            }
            Seen::Removed { object, .. } => {
                self.collection(object.collection).removed(object);
                Ok(())
            }
            Seen::Contributed { object, reduction, .. } => self.contributed(object, reduction),
            Seen::Reduced { collection, reduction, contributions } => {
                self.reduced(collection, reduction, contributions)
            }
            Seen::Received { object, number, .. } => self.received(object, number),
            Seen::Sectioned { section } => {
                self.made.insert(section);
                Ok(())
            }
            Seen::Multicast { section, members, .. } => {
                self.sections.insert(section, members);
                Ok(())
            }
            Seen::NodeGone { .. } | Seen::RolledBack { .. } => {
                *self = Reductions { blind: true, ..Reductions::default() };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        self.went_back = true;
    }

    fn end(&mut self, _: bool) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use talisman::witness::section;

    use super::super::told::{born, element, finds, tell};
    use super::*;

    fn contributes(index: u128, reduction: Reduction) -> Seen {
        Seen::Contributed { object: element(index), pe: 0, reduction }
    }

    fn reduced(reduction: Reduction, contributions: u64) -> Seen {
        Seen::Reduced { collection: element(0).collection, reduction, contributions }
    }

    fn two_elements(more: &[Seen]) -> Vec<Seen> {
        [born(1, 0), born(2, 0), contributes(1, Reduction::All(0))]
            .into_iter()
            .chain(more.iter().cloned())
            .collect()
    }

    #[test]
    fn all_contribute_once_and_the_result_comes_once() {
        let goes = Seen::Removed { object: element(2), pe: 0 };
        let story = two_elements(&[
            contributes(1, Reduction::All(1)),
            contributes(2, Reduction::All(0)),
            reduced(Reduction::All(0), 2),
            goes,
            reduced(Reduction::All(1), 1),
        ]);
        assert_eq!(tell(&mut Reductions::default(), &story), Ok(()));
    }

    #[test]
    fn a_result_without_all_or_with_more_or_again_is_found() {
        let second = contributes(2, Reduction::All(0));
        let first = Reduction::All(0);
        finds(Reductions::default(), &two_elements(&[reduced(first, 1)]), "1 elements have yet");
        finds(
            Reductions::default(),
            &two_elements(&[second.clone(), reduced(first, 1)]),
            "1 contributions of 2",
        );
        finds(
            Reductions::default(),
            &two_elements(&[second.clone(), reduced(first, 3)]),
            "3 contributions of 2",
        );
        let again = [second, reduced(first, 2), reduced(first, 2)];
        finds(Reductions::default(), &two_elements(&again), "1 was to be next");
    }

    #[test]
    fn nobody_contributes_twice_or_too_late() {
        finds(Reductions::default(), &two_elements(&[contributes(1, Reduction::All(0))]), "its next is 1");
        let late = [contributes(2, Reduction::All(0)), reduced(Reduction::All(0), 2), born(3, 0)];
        finds(Reductions::default(), &two_elements(&late), "which is complete");
        let answers = Reduction::Answers(4);
        finds(Reductions::default(), &[contributes(1, answers), contributes(1, answers)], "2 times");
        let late = [contributes(1, answers), reduced(answers, 1), contributes(2, answers)];
        finds(Reductions::default(), &late, "which is complete");
    }

    #[test]
    fn answers_wait_for_all_who_receive_the_broadcast() {
        let late = Seen::Received { object: element(2), pe: 0, number: 4 };
        let answers = Reduction::Answers(4);
        finds(
            Reductions::default(),
            &[contributes(1, answers), reduced(answers, 1), late],
            "receives broadcast 4",
        );
    }

    #[test]
    fn of_two_lives_each_may_answer() {
        let (goes, answer) =
            (Seen::Removed { object: element(1), pe: 0 }, contributes(1, Reduction::Answers(4)));
        let story = [born(1, 0), answer.clone(), goes, born(1, 1), answer.clone()];
        assert_eq!(tell(&mut Reductions::default(), &story), Ok(()));
        finds(Reductions::default(), &[&story[..], &[answer]].concat(), "3 times, in 2 lives");
    }

    #[test]
    fn all_members_of_a_section_contribute() {
        let part = section(0, 3);
        let cast = Seen::Multicast { section: part, number: 0, members: 2 };
        let of = Reduction::Section(part, 0);
        let story = [cast, contributes(1, of), reduced(of, 1)];
        finds(Reductions::default(), &story, "1 of 2");
        let mut after_a_loss = Reductions::default();
        after_a_loss.go_back();
        assert_eq!(tell(&mut after_a_loss, &story), Ok(()));
    }

    #[test]
    fn who_is_made_again_has_no_part_in_sections_that_were_there() {
        let part = section(0, 3);
        let (of, made) = (Reduction::Section(part, 0), Seen::Sectioned { section: part });
        let Seen::Born { object, pe, home, moves, reduction, broadcast, .. } = born(2, 0) else {
            unreachable!()
        };
        let again = Seen::Born { object, pe, home, moves, reduction, broadcast, late: true };
        let both = [contributes(1, of), contributes(2, of)];
        let story = |first: &[Seen], counted| [first, &both, &[reduced(of, counted)]].concat();
        let before = story(&[made.clone(), again.clone()], 1);
        assert_eq!(tell(&mut Reductions::default(), &before), Ok(()));
        finds(Reductions::default(), &story(&[made.clone(), again.clone()], 2), "2 contributions, 1 of");
        assert_eq!(tell(&mut Reductions::default(), &story(&[again.clone(), made.clone()], 2)), Ok(()));
        finds(Reductions::default(), &story(&[again, made], 1), "1 contributions, 2 of");
    }
}
