//! What oracles knew at the cuts to which a job may go back.
//!
//! When PEs are made anew from a checkpoint, what has happened since its cut has not happened. So what every oracle knows is kept at
//! each cut, and put back when the first PE of a new epoch begins. A message or object of the time that is left out is unknown
//! from then on: who delivers it is found by the oracles themselves. What PEs of an earlier epoch still do, on a node that does
//! not know yet that it is lost, is not looked at.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use talisman::ids::PeId;
use talisman::witness::Seen;

use super::Oracle;

/// What goes back with a job and is no oracle, such as the books that a program keeps beside the runtime.
pub trait Book {
    /// What is in it.
    fn keep(&self) -> Box<dyn Any>;

    /// What was kept of it is in it again, in this epoch.
    fn put_back(&self, kept: &dyn Any, epoch: u32);

    /// These PEs are in this process of their node, counted from 0.
    fn live_in(&self, pes: &Range<PeId>, life: u32);
}

/// The cuts to which a job may go back, and who lives now.
pub struct Past {
    book: Option<Box<dyn Book>>,
    /// By version; without one, the beginning.
    cuts: BTreeMap<Option<u64>, Cut>,
    /// The newest version that was committed. The job may go back to the one before: if those that have heard of it are lost with
    /// what they held, the others still have that.
    committed: Option<u64>,
    epoch: u32,
    /// What was gone back to last.
    gone_back: Option<u64>,
    /// Versions behind which the job has gone back, and the epochs in which they were taken. They are of a past that does not count, but may be whole
    /// on disks that were about to forget them, or of nodes that were lost, for a job that is started again.
    left: BTreeMap<(u64, u32), Cut>,
    /// PEs of this epoch. Of the first one nobody says who they are.
    living: Option<BTreeSet<PeId>>,
}

/// What was known at a cut.
struct Cut {
    /// In which it was taken.
    epoch: u32,
    oracles: Vec<Box<dyn Oracle>>,
    book: Option<Box<dyn Any>>,
    /// PEs that have taken their part.
    parts: BTreeSet<PeId>,
    /// Those that had to, if that is known.
    expected: Option<BTreeSet<PeId>>,
}

impl Past {
    /// Before anything has happened.
    pub fn new(oracles: &mut [Box<dyn Oracle>], book: Option<Box<dyn Book>>) -> Self {
        let mut past = Past {
            book,
            cuts: BTreeMap::new(),
            committed: None,
            epoch: 0,
            gone_back: None,
            left: BTreeMap::new(),
            living: Some(BTreeSet::new()),
        };
        past.keep(None, oracles);
        past.living = None;
        past
    }

    /// Whether something that happens in this epoch is of the life that counts.
    pub fn counts(&self, epoch: Option<u32>, seen: &Seen) -> bool {
        let is_outdated = epoch.is_some_and(|epoch| epoch < self.epoch);
        match seen {
            Seen::NodeGone { pes } => self.lives(pes),
            Seen::StartedAgain { .. } => true,
            _ => !is_outdated,
        }
    }

    /// Something happens that oracles may have to go back for, or to be kept.
    ///
    /// # Errors
    /// If it must not.
    pub fn see(&mut self, seen: &Seen, oracles: &mut [Box<dyn Oracle>]) -> Result<(), String> {
        match *seen {
            Seen::Captured { pe, version } => self.captured(pe, version, oracles),
            Seen::Committed { version } => self.committed(version),
            Seen::Begun { epoch, version, ref pes, life } => {
                if epoch > self.epoch {
                    self.go_back(epoch, version, oracles)?;
                }
                self.book.iter().for_each(|book| book.live_in(pes, life));
                if epoch == self.epoch {
                    self.living.get_or_insert_default().extend(pes.clone());
                }
                Ok(())
            }
            Seen::StartedAgain { version, epoch, ref pes } => {
                self.start_again((version, epoch), oracles)?;
                self.living = Some(pes.clone().collect());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn lives(&self, pes: &Range<PeId>) -> bool {
        self.living.as_ref().is_none_or(|living| pes.clone().any(|pe| living.contains(&pe)))
    }

    fn captured(&mut self, pe: PeId, version: u64, oracles: &mut [Box<dyn Oracle>]) -> Result<(), String> {
        if self.committed.is_some_and(|committed| version <= committed) {
            return Err(format!("PE {pe} takes its part of version {version}, which is committed"));
        }
        if !self.cuts.contains_key(&Some(version)) {
            self.forget_given_up();
            self.keep(Some(version), oracles);
        }
        let cut = self.cuts.get_mut(&Some(version)).expect("kept just now, or before");
        match cut.parts.insert(pe) {
            true => Ok(()),
            false => Err(format!("PE {pe} takes its part of version {version} twice")),
        }
    }

    /// A version begins, so that the one before it was committed or given up, everywhere. What of it is on disks goes before anything of the next
    /// one is written there: whatever was given up before that is nowhere any more. What was there when the job went back may be on disks that have not
    /// come to forget it.
    fn forget_given_up(&mut self) {
        let last = self.cuts.keys().next_back().copied();
        let before = self.committed.max(self.gone_back);
        self.cuts.retain(|version, _| *version <= before || Some(*version) == last);
    }

    fn committed(&mut self, version: u64) -> Result<(), String> {
        let cut = self.cuts.get(&Some(version));
        let cut = cut.ok_or_else(|| format!("version {version} is committed, and was never taken"))?;
        cut.is_whole(version)?;
        let before = self.committed.replace(version);
        self.cuts.retain(|kept, _| *kept >= before);
        self.left.retain(|(left, _), _| *left > version);
        Ok(())
    }

    fn keep(&mut self, version: Option<u64>, oracles: &mut [Box<dyn Oracle>]) {
        let cut = Cut {
            epoch: self.epoch,
            oracles: oracles.iter_mut().map(|oracle| oracle.keep()).collect(),
            book: self.book.as_ref().map(|book| book.keep()),
            parts: BTreeSet::new(),
            expected: self.living.clone(),
        };
        self.cuts.insert(version, cut);
    }

    fn go_back(
        &mut self,
        epoch: u32,
        version: Option<u64>,
        oracles: &mut [Box<dyn Oracle>],
    ) -> Result<(), String> {
        let Some(cut) = self.cuts.get_mut(&version) else {
            let committed = self.committed;
            return Err(match version {
                None => format!("the program begins anew, though version {committed:?} was committed"),
                Some(_) => {
                    format!("the job goes back to version {version:?}, and to {committed:?} at least it can")
                }
            });
        };
        if let Some(version) = version {
            cut.is_whole(version)?;
        }
        for (oracle, kept) in
            oracles.iter_mut().zip(&mut cut.oracles).filter(|(oracle, _)| !oracle.outlasts())
        {
            *oracle = kept.keep();
            oracle.go_back();
        }
        if let (Some(book), Some(kept)) = (&self.book, &cut.book) {
            book.put_back(&**kept, epoch);
        }
        // What comes of going on from there is another version, whatever its number.
        let later = self.cuts.split_off(&version.map_or(Some(0), |version| Some(version + 1)));
        self.left.extend(later.into_iter().filter_map(|(version, cut)| Some(((version?, cut.epoch), cut))));
        (self.epoch, self.living, self.gone_back) = (epoch, Some(BTreeSet::new()), version);
        Ok(())
    }
}

impl Past {
    /// All are gone, whatever epoch they were in: from that of this version that was taken in this one.
    fn start_again(
        &mut self,
        (version, epoch): (u64, u32),
        oracles: &mut [Box<dyn Oracle>],
    ) -> Result<(), String> {
        let is_it = |cut: &Cut| cut.epoch == epoch;
        if !self.cuts.get(&Some(version)).is_some_and(is_it) {
            let left = self.left.remove(&(version, epoch));
            let none = || {
                format!("the job is started again from version {version} of epoch {epoch}: none was taken")
            };
            self.cuts.insert(Some(version), left.ok_or_else(none)?);
        }
        self.go_back(0, Some(version), oracles)
    }
}

impl Cut {
    fn is_whole(&self, version: u64) -> Result<(), String> {
        let missing = self.expected.as_ref().and_then(|all| all.difference(&self.parts).next());
        match missing {
            None => Ok(()),
            Some(pe) => Err(format!("version {version} has no part of PE {pe}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::Bounds;
    use super::super::told::{delivered, sent};
    use super::super::{Watch, delivery::Delivery};
    use super::*;

    fn watch() -> Watch {
        Watch::new(vec![Box::new(Delivery::new(true)), Box::<Bounds>::default()], None)
    }

    fn told(story: &[(u32, Seen)]) -> Option<String> {
        let mut watch = watch();
        story.iter().for_each(|(epoch, seen)| watch.see(Some(*epoch), seen));
        watch.violation.map(|violation| violation.what)
    }

    fn begun(epoch: u32, version: Option<u64>) -> (u32, Seen) {
        (epoch, Seen::Begun { epoch, version, pes: 0..2, life: 0 })
    }

    fn captured(epoch: u32, pe: PeId, version: u64) -> (u32, Seen) {
        (epoch, Seen::Captured { pe, version })
    }

    fn queued(message: u64) -> Seen {
        Seen::Queued { message, pe: 0 }
    }

    /// A message is in the queue at the cut, and delivered after it; another one is sent then.
    fn past() -> Vec<(u32, Seen)> {
        vec![
            (0, sent(1, 0, 5, 6)),
            (0, queued(1)),
            captured(0, 0, 1),
            captured(0, 1, 1),
            (0, delivered(1, 0, 6)),
            (0, sent(2, 0, 6, 7)),
            (0, queued(2)),
        ]
    }

    fn then(more: &[(u32, Seen)]) -> Option<String> {
        told(&past().into_iter().chain(more.iter().cloned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_was_in_a_queue_at_the_cut_is_delivered_again() {
        let again = [begun(1, Some(1)), (1, Seen::Queued { message: 1, pe: 3 }), (1, delivered(1, 3, 6))];
        assert_eq!(then(&again), None);
        let found = then(&[begun(2, None), (2, delivered(1, 3, 6))]).expect("it was never sent");
        assert!(found.contains("never made"), "{found}");
    }

    #[test]
    fn a_message_of_a_life_that_did_not_count_is_delivered_to_nobody() {
        let found = then(&[begun(1, Some(1)), (1, delivered(2, 0, 7))]).expect("it was sent after the cut");
        assert!(found.contains("never made"), "{found}");
        assert_eq!(then(&[begun(1, Some(1)), (0, delivered(2, 0, 7))]), None, "who is lost does as it likes");
    }

    #[test]
    fn a_version_is_whole_and_none_before_the_committed_one() {
        let found = then(&[begun(1, Some(2))]).expect("there is none");
        assert!(found.contains("goes back to version"), "{found}");
        let second = [begun(1, Some(1)), captured(1, 0, 2), begun(2, Some(2))];
        assert!(then(&second).expect("a part is missing").contains("no part of PE 1"));
        let committed = (1, Seen::Committed { version: 2 });
        let second = [begun(1, Some(1)), captured(1, 0, 2), captured(1, 1, 2), committed];
        assert_eq!(then(&second), None);
        let first = [begun(1, Some(1)), (1, Seen::Committed { version: 1 })];
        for (version, is_wrong) in [(None, true), (Some(1), false), (Some(2), false)] {
            let back = first.iter().chain(&second[1..]).cloned().chain([begun(2, version)]);
            assert_eq!(then(&back.collect::<Vec<_>>()).is_some(), is_wrong, "{version:?}");
        }
    }

    #[test]
    fn what_was_given_up_is_gone_when_the_next_but_one_begins() {
        let taken = |version| [captured(1, 0, version), captured(1, 1, version)];
        let after = |last: u64| [vec![begun(1, Some(1))], (2..=last).flat_map(taken).collect()].concat();
        let back = |last, version| then(&[after(last), vec![begun(2, Some(version))]].concat());
        for (last, version, is_there) in
            [(2, 2, true), (3, 2, true), (4, 2, false), (4, 3, true), (4, 1, true)]
        {
            assert_eq!(back(last, version).is_none(), is_there, "{version} of {last}");
        }
    }

    #[test]
    fn a_job_that_is_started_again_goes_on_from_any_cut_that_may_be_on_disks() {
        let again_in = |epoch, version| (0, Seen::StartedAgain { version, epoch, pes: 0..4 });
        let again = |version| again_in(0, version);
        let delivered = |message, object| (0, delivered(message, 3, object));
        let first = [begun(3, Some(1)), again(1), (0, Seen::Queued { message: 1, pe: 3 }), delivered(1, 6)];
        assert_eq!(then(&first), None, "epochs are counted anew");
        let found = then(&[begun(3, Some(1)), again(1), delivered(2, 7)]).expect("it was sent after the cut");
        assert!(found.contains("never made"), "{found}");
        let taken_back = [captured(0, 0, 2), captured(0, 1, 2), begun(1, Some(1)), again(2)];
        assert_eq!(then(&taken_back), None, "it may not have been removed yet");
        let taken_again = [&taken_back[..3], &[captured(1, 0, 2)]].concat();
        let from = |epoch| then(&[&taken_again[..], &[again_in(epoch, 2)]].concat());
        assert_eq!(from(0), None, "a node that was lost may have all of it");
        assert!(from(1).expect("a part is missing").contains("no part of PE 1"));
        assert!(from(2).expect("there is none").contains("of epoch 2: none was taken"));
        assert!(then(&[again(3)]).expect("there is none").contains("none was taken"));
        // Of those of one number and epoch, the last one counts: the one before was not whole, or it would have been gone on from.
        let in_two_lives =
            [captured(0, 0, 2), again(1), captured(0, 0, 2), captured(0, 1, 2), captured(0, 2, 2)];
        let in_two_lives = [&in_two_lives[..], &[captured(0, 3, 2), again(2)]].concat();
        assert_eq!(then(&in_two_lives), None);
        let small = [again(1), captured(0, 0, 2), (0, Seen::Committed { version: 2 })];
        assert!(then(&small).expect("a part is missing").contains("no part of PE 1"));
    }
}
