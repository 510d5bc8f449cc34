//! Whose a contribution is that cannot be taken: a reduction over thousands of elements fails at one of them, and people want to know at which.

use easy_ext::ext;

use super::Contribution;
use talisman_base::ids::PeId;
use talisman_base::ids::ReductionKey;
use talisman_kernel::collection::Collection;
use talisman_kernel::message::service::About;
use talisman_kernel::pe::Pe;
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

impl Contribution {
    /// Who has given this part, which has come from a PE.
    pub(super) fn by(&self, from: PeId) -> By {
        match (self.key, self.made_again) {
            (ReductionKey::Late { member, .. }, _) => By::Element(member.into()),
            (_, Some(index)) => By::Element(index),
            _ => By::Pe(from),
        }
    }

    /// What elements have given, for people.
    pub fn about(&self) -> About {
        let (one, all) = match self.key {
            ReductionKey::Answers(_) | ReductionKey::SectionAnswers(..) => {
                ("an answer to be reduced", "an answer to be reduced")
            }
            _ if self.contributions() <= 1 => {
                ("a contribution to a reduction", "a contribution to a reduction")
            }
            _ => ("a contribution to a reduction", "what contributions to a reduction have become together"),
        };
        About { given: Some(one), ..About::of_collection(all, Some(self.collection)) }
    }
}

#[ext(BlameOnPe)]
pub impl Pe {
    /// A reduction has no result, because of what somebody gave if that is known.
    fn reduction_failed(&self, collection: &Collection, by: Option<By>, error: &ReduceError) {
        let name = (collection.chare.name)();
        let at = match by {
            Some(By::Element(index)) => format!(" at what {} contributed", collection.label(index)),
            Some(By::Pe(pe)) => format!(" at what came from PE {pe}"),
            None => String::new(),
        };
        self.node.job.end(1, Some(format!("a reduction over the elements of `{name}` failed{at}: {error}")));
    }

    /// The result of a reduction cannot be read by anybody.
    fn refuse_result(&self, collection: &Collection, why: &PupError) {
        let name = (collection.chare.name)();
        let what =
            format!("a reduction over the elements of `{name}` has a result that no receiver can take");
        self.node.job.end(1, Some(format!("{what}: {why}")));
    }

    /// No checkpoint can keep what has come of a reduction.
    fn refuse_to_keep_part(&self, collection: &Collection, why: &PupError) {
        let sender = self.who_contributed(collection, why);
        self.refuse_checkpoint(
            &format!(
                "a reduction over the elements of `{}`, to which {sender} contributed,",
                (collection.chare.name)()
            ),
            why,
        );
    }
}
