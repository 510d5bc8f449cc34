//! Memory of announced messages, which other ranks of this process read where it is, and those of other processes of this host
//! ([`neighbor_memory`](super::neighbor_memory)): a long message between two of them is copied once.
//!
//! A rank that waits or lets others run keeps its pages in place, unless several nodes are in the process. Then nobody
//! lends: see [`Cx::shares_process`](talisman_core::cx::Cx::shares_process).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;

use super::neighbor_memory::Mark;
use crate::engine::{Loan, Rank, Token};

/// By their ranks. Few of each are under way at once.
static LENT: Mutex<HashMap<Rank, Vec<Lent>, FxBuildHasher>> = Mutex::new(HashMap::with_hasher(FxBuildHasher));

/// An announced message of a rank.
#[derive(Clone, Copy, Debug)]
struct Lent {
    send: Token,
    at: usize,
    len: usize,
}

/// What a rank lends. None of it is there any more when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Lending {
    lends: Option<Lends>,
}

#[derive(Debug)]
struct Lends {
    rank: Rank,
    /// Where it lends to other processes too.
    mark: Option<Mark>,
}

/// Who lends, during a call.
#[derive(Clone, Copy)]
pub(super) struct Lender<'a> {
    pub rank: Rank,
    mark: Option<&'a Mark>,
}

impl Lending {
    /// From now on the rank lends what it announces, or not; and to ranks of other processes, if so.
    pub fn set(&mut self, rank: Option<Rank>, also_abroad: bool) {
        let is_so = match &self.lends {
            None => rank.is_none(),
            Some(lends) => rank == Some(lends.rank) && also_abroad == lends.mark.is_some(),
        };
        if !is_so {
            self.end();
            self.lends = rank.map(|rank| Lends { rank, mark: also_abroad.then(Mark::new) });
        }
    }

    /// Nothing is to be had any more: the rank leaves, and its memory with it.
    pub fn end(&mut self) {
        if let Some(Lends { rank, .. }) = self.lends.take() {
            all().remove(&rank);
        }
    }

    /// Who lends.
    pub fn lender(&self) -> Option<Lender<'_>> {
        self.lends.as_ref().map(|lends| Lender { rank: lends.rank, mark: lends.mark.as_ref() })
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        self.end();
    }
}

impl Lender<'_> {
    /// A message is announced. The request may be one that was used before. Where other processes find it.
    pub fn lend(&self, send: Token, at: u64, len: u64) -> Option<Loan> {
        let mut all = all();
        let of_rank = all.entry(self.rank).or_default();
        of_rank.retain(|lent| lent.send.index != send.index);
        of_rank.push(Lent { send, at: at as usize, len: len as usize });
        self.mark?.lend(at, len)
    }
}

/// Takes out the address and the length of a message that was announced.
pub(super) fn take(rank: Rank, send: Token) -> Option<(usize, usize)> {
    let mut all = all();
    let of_rank = all.get_mut(&rank)?;
    let at = of_rank.iter().position(|lent| lent.send == send)?;
    let Lent { at, len, .. } = of_rank.swap_remove(at);
    Some((at, len))
}

/// Nothing that was locked is broken by a panic.
fn all() -> MutexGuard<'static, HashMap<Rank, Vec<Lent>, FxBuildHasher>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}
