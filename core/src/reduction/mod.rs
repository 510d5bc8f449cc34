//! Reductions: values of all elements become one, with the same bits in every run.
//!
//! Contributions are combined on each PE, and sent up the collection's tree when every element here has contributed, or
//! when the PE has nothing else to do. Nothing depends on when that is: the root counts contributions, and
//! partial results may meet in any order ([`Reducer`](talisman_reduce::Reducer)).
//!
//! Elements come and go meanwhile. An element that inserts another says so with its own next contribution, so
//! the root waits for all newborn that were announced, and tells them apart; one that goes says so too. See
//! `Tally::is_complete`. Members of groups on PEs that come later are a case of their own ([`late`]).

mod awaited;
pub mod blame;
pub mod contributing;
pub mod gathering;
pub mod late;
pub mod message;
mod root;
mod short_words;
mod tally;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use easy_ext::ext;

use awaited::Awaited;
use blame::By;
use talisman_kernel::collection::Collection;
use talisman_kernel::collection::states::{CollectionState, Keeper};
use talisman_kernel::route::Route;

pub use late::Begin;
pub use root::Root;
use talisman_base::ids::{CollectionId, ReductionKey};
use talisman_observe::mutations::mutated;
use talisman_pup::Pup;
use talisman_reduce::{AnyPartial, ReduceError};
pub use tally::Tally;

/// A part of a reduction on its way up.
#[derive(Debug, Pup)]
pub struct Contribution {
    #[pup(with = talisman_base::ids::wire::rooted)]
    pub collection: CollectionId,
    pub key: ReductionKey,
    tally: Tally,
    value: Option<AnyPartial>,
    to: Option<Route>,
    /// To a section: by this member alone, which was made again. Perhaps the section was made before it.
    pub made_again: Option<u128>,
}

impl Contribution {
    /// Only a count.
    pub fn count(collection: CollectionId, key: ReductionKey, tally: Tally) -> Self {
        Contribution { collection, key, tally, value: None, to: None, made_again: None }
    }

    /// Whether somebody waits for the result.
    pub fn is_wanted(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to != Route::Ignore)
    }

    /// How many have contributed to it.
    pub fn contributions(&self) -> u64 {
        self.tally.contributions()
    }
}

/// A reduction's parts on one PE.
#[derive(Default, Debug, Pup)]
pub struct Pending {
    tally: Tally,
    value: Option<AnyPartial>,
    to: Option<Route>,
    /// Contributions made on this PE.
    made_here: u64,
}

impl Pending {
    pub fn contributions(&self) -> u64 {
        self.tally.contributions()
    }

    /// Of a section: how many receivers answer, and who gets the result.
    pub fn expect_answers(&mut self, receivers: u64, to: Route) {
        self.tally.expected = receivers;
        self.to = Some(to);
    }

    /// Whether somebody waits for the result.
    pub fn is_wanted(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to != Route::Ignore)
    }

    /// How many receivers answer.
    pub fn expected(&self) -> u64 {
        self.tally.expected
    }

    /// Whether nothing more is to come of it on its PE, where all of so many members may contribute, or from below that PE.
    fn is_due(&self, key: ReductionKey, members: u32) -> bool {
        let have_answered = || {
            let is_told = matches!(key, ReductionKey::Answers(_)) && self.tally.reports > 0;
            is_told && self.tally.contributions() >= self.tally.expected
        };
        self.made_here >= u64::from(members) || have_answered()
    }

    fn absorb(
        &mut self,
        tally: &Tally,
        value: Option<AnyPartial>,
        to: Option<Route>,
    ) -> Result<(), ReduceError> {
        self.tally.add(tally);
        self.to = self.to.take().or(to);
        match (&mut self.value, value) {
            (_, None) => Ok(()),
            (Some(_), Some(_)) if mutated("partial-results-not-combined") => Ok(()),
            (Some(total), Some(value)) => total.combine(value),
            (empty, Some(value)) => {
                *empty = Some(value);
                Ok(())
            }
        }
    }
}

/// What a PE keeps of a collection's reductions.
struct Reductions {
    /// With contributions on this PE, or from below in the tree, not sent on yet.
    pending: RefCell<BTreeMap<ReductionKey, Pending>>,
    /// Whether this PE knows that there are some.
    is_unflushed: Cell<bool>,
    /// Which parts of answers are not sent on before PEs below have said something.
    awaited: Awaited,
    /// At the creator, or the PE that acts for it: what the trees end in.
    root: Option<RefCell<Root>>,
}

impl CollectionState for Reductions {
    const KEEPER: Keeper = Keeper::Reductions;

    fn new(of: &Collection) -> Self {
        let root = of.is_root.then(|| RefCell::new(Root::new(of.elements)));
        let (pending, is_unflushed, awaited) = Default::default();
        Reductions { pending, is_unflushed, awaited, root }
    }
}

#[ext(ReductionsOfCollection)]
pub impl Collection {
    /// Reductions with contributions on this PE, or from below in the tree, not sent on yet.
    fn pending(&self) -> &RefCell<BTreeMap<ReductionKey, Pending>> {
        &self.state::<Reductions>().pending
    }

    /// Whether this PE knows that there are some.
    fn is_unflushed(&self) -> &Cell<bool> {
        &self.state::<Reductions>().is_unflushed
    }

    /// Which parts of answers wait for PEs below.
    fn answers_here(&self) -> &Awaited {
        &self.state::<Reductions>().awaited
    }

    /// At the creator, or the PE that acts for it: what the trees end in.
    fn root(&self) -> Option<&RefCell<Root>> {
        self.state::<Reductions>().root.as_ref()
    }

    /// At the root: whether its first elements are not known to be there.
    fn is_inserting(&self) -> bool {
        self.root().is_some_and(|root| root.borrow().elements().is_none())
    }

    /// Takes out what has gathered of a reduction.
    fn take_pending(&self, key: ReductionKey) -> Option<Pending> {
        let mut all = self.pending().borrow_mut();
        let pending = all.remove(&key);
        self.give_back(&mut all);
        pending
    }
}
