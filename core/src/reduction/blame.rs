//! Whose a contribution is that cannot be taken: a reduction over thousands of elements fails at one of them, and people want to know at which.

use super::{Contribution, ReductionKey};
use crate::collection::Collection;
use crate::pe::Pe;
use talisman_base::ids::PeId;
use talisman_pup::PupError;
use talisman_reduce::ReduceError;

/// Who has given a part of a reduction.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The element of this index.
    Element(u128),
    /// A PE, for elements on it and below it in the tree.
    Pe(PeId),
}

/// What is packed of a part of a reduction: its value is gone when that is refused.
#[derive(Clone, Copy)]
pub struct PartAbout {
    key: ReductionKey,
    contributions: u64,
}

impl Contribution {
    /// Who has given this part, which has come from a PE.
    pub(super) fn by(&self, from: PeId) -> By {
        match (self.key, self.made_again) {
            (ReductionKey::Late { member, .. }, _) => By::Element(member.into()),
            (_, Some(index)) => By::Element(index),
            _ => By::Pe(from),
        }
    }

    pub fn about(&self) -> PartAbout {
        PartAbout { key: self.key, contributions: self.contributions() }
    }
}

impl PartAbout {
    /// What elements have given, for people.
    fn what(self) -> &'static str {
        match (self.key, self.contributions) {
            (ReductionKey::Answers(_) | ReductionKey::SectionAnswers(..), _) => "an answer to be reduced",
            (_, 0..=1) => "a contribution to a reduction",
            _ => "what contributions to a reduction have become together",
        }
    }
}

impl Pe {
    /// A reduction has no result, because of what somebody gave if that is known.
    pub(super) fn reduction_failed(&self, collection: &Collection, by: Option<By>, error: &ReduceError) {
        let name = (collection.chare.name)();
        let at = match by {
            Some(By::Element(index)) => format!(" at what {} contributed", collection.label(index)),
            Some(By::Pe(pe)) => format!(" at what came from PE {pe}"),
            None => String::new(),
        };
        self.node.job.end(1, Some(format!("a reduction over the elements of `{name}` failed{at}: {error}")));
    }

    /// The result of a reduction cannot be read by anybody.
    #[cold]
    pub(super) fn refuse_result(&self, collection: &Collection, why: &PupError) {
        let name = (collection.chare.name)();
        let what =
            format!("a reduction over the elements of `{name}` has a result that no receiver can take");
        self.node.job.end(1, Some(format!("{what}: {why}")));
    }

    /// A part of a reduction cannot be read where it goes. Who runs is the last that has contributed: another may have given what is wrong.
    #[cold]
    pub fn refuse_part(&self, collection: &Collection, about: PartAbout, why: &PupError) {
        let name = (collection.chare.name)();
        let sender = self.who_contributed(collection, why);
        let about = if why.giver().is_some() { PartAbout { contributions: 1, ..about } } else { about };
        let what = format!("{} over the elements of `{name}`", about.what());
        self.refuse(&sender, &what, why);
    }

    /// No checkpoint can keep what has come of a reduction.
    #[cold]
    pub fn refuse_to_keep_part(&self, collection: &Collection, why: &PupError) {
        let sender = self.who_contributed(collection, why);
        self.refuse_checkpoint(
            &format!(
                "a reduction over the elements of `{}`, to which {sender} contributed,",
                (collection.chare.name)()
            ),
            why,
        );
    }

    /// Who has given what is refused, as far as that is known.
    fn who_contributed(&self, collection: &Collection, why: &PupError) -> String {
        let Some(index) = why.giver() else {
            return format!("elements of `{}` on PE {}", (collection.chare.name)(), self.id);
        };
        match self.running() {
            Some(head) if head.id() == collection.object(index) => self.who_runs(),
            _ => collection.label(index),
        }
    }
}
