//! Memory of announced messages, which other ranks of this process read where it is: a long message between two of them
//! is copied once.
//!
//! A rank that waits or lets others run keeps its pages in place, unless several nodes are in the process. Then nobody
//! lends: see [`Cx::shares_process`](talisman_core::cx::Cx::shares_process).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;

use crate::engine::{Rank, Token};

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
    /// None if it does not.
    rank: Option<Rank>,
}

impl Lending {
    /// From now on the rank lends what it announces, or not.
    pub fn set(&mut self, rank: Option<Rank>) {
        if self.rank != rank {
            self.end();
            self.rank = rank;
        }
    }

    /// Nothing is to be had any more: the rank leaves, and its memory with it.
    pub fn end(&mut self) {
        if let Some(rank) = self.rank.take() {
            all().remove(&rank);
        }
    }

    /// Who lends.
    pub fn rank(&self) -> Option<Rank> {
        self.rank
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        self.end();
    }
}

/// A message is announced. The request may be one that was used before.
pub(super) fn lend(rank: Rank, send: Token, at: usize, len: usize) {
    let mut all = all();
    let of_rank = all.entry(rank).or_default();
    of_rank.retain(|lent| lent.send.index != send.index);
    of_rank.push(Lent { send, at, len });
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
