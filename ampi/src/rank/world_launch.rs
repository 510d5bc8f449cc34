//! The chare that makes the ranks of a world, prints what they say, has them go on together after a loss, and gives what they return.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::marker::PhantomData;

use talisman_base::map::Map;
use talisman_core::chare::{Chare, Restored};
use talisman_core::cx::Cx;
use talisman_core::proxy::Array;
use talisman_core::record::{runs_alone, world as of_world};
use talisman_core_macros::chare;
use talisman_pup::Pup;

use super::element::{Ended, RankElement};
use super::rollback::Rollback;
use super::sayings::Sayings;
use super::{Memory, Program, Said};
use crate::comm::World;

/// Makes the ranks of a world, and waits for them.
#[derive(Pup)]
pub struct Launch<P: Program> {
    sayings: Sayings,
    /// The ranks, once they are made, if they have more than their own state to go back to.
    regrouped: Option<(Array<RankElement<P>>, u32)>,
    rollback: Rollback,
    /// How much ranks have said in all, once they have all ended.
    total: Option<u64>,
    program: PhantomData<P>,
}

#[chare(single)]
impl<P: Program> Launch<P> {
    /// Has made none yet.
    #[init]
    pub fn new() -> Self {
        Launch {
            sayings: Sayings::default(),
            regrouped: None,
            rollback: Rollback::default(),
            total: None,
            program: PhantomData,
        }
    }

    #[restored]
    fn restored(&mut self, cx: &mut Cx<Self>, _: Restored) {
        if let Some((ranks, _)) = self.regrouped {
            ranks.say_noted(cx.me(), self.rollback.begin());
        }
    }

    /// So many ranks were made.
    #[entry]
    pub(super) fn grows(&mut self, _: &mut Cx<Self>, more: u32) {
        self.regrouped.iter_mut().for_each(|(_, count)| *count += more);
    }

    /// One of them is gone.
    #[entry]
    pub(super) fn goes(&mut self, _: &mut Cx<Self>) {
        self.regrouped.iter_mut().for_each(|(_, count)| *count = count.saturating_sub(1));
    }

    /// A rank is back, and has noted this.
    #[entry]
    pub(super) fn is_back(&mut self, cx: &mut Cx<Self>, time: u32, pe: u32, noted: Vec<(Vec<u8>, u64)>) {
        let Some((ranks, count)) = self.regrouped else { return };
        if let Some(noted) = self.rollback.is_back(time, count, pe, noted) {
            ranks.cut(cx.me(), time, noted);
        }
    }

    /// A rank has cut its files.
    #[entry]
    pub(super) fn has_cut(&mut self, _: &mut Cx<Self>, time: u32) {
        let Some((ranks, count)) = self.regrouped else { return };
        if self.rollback.has_cut(time, count) {
            ranks.go_on_together(time);
        }
    }

    #[entry]
    fn ended(results: Vec<Ended<P>>);

    #[entry]
    fn all_is_said();

    /// A rank has said something, after `number` others.
    #[entry]
    pub(super) fn said(&mut self, cx: &mut Cx<Self>, rank: u32, number: u64, said: Said) {
        for said in self.sayings.take(rank, number, said) {
            match said {
                // Those of this PE have shown it, and others do not run.
                Said::Lines(_) | Said::Errors(_) if runs_alone() => {}
                Said::Lines(text) => write!(cx.output(), "{text}"),
                Said::Errors(text) => write!(cx.errors(), "{text}"),
                Said::End { status, why } => cx.fail_with(status, why),
            }
        }
        if self.total == Some(self.sayings.given()) {
            cx.me().all_is_said();
        }
    }

    /// Gives what the ranks return, in their order.
    #[entry]
    pub async fn run(
        &mut self,
        cx: &mut Cx<Self>,
        world: World,
        memory: Memory<P>,
        moves_always: bool,
    ) -> Vec<P::Output> {
        let (regroups, ranks) = (memory.has_images(), world.ranks);
        let array: Array<RankElement<P>> =
            RankElement::<P>::array(ranks as i32).map(Map::Block).new(world, memory, moves_always);
        self.regrouped = regroups.then_some((array, ranks));
        // Where several nodes are in one process all has to be the same in every run, and there is no other job.
        let mark =
            if cx.shares_process() { 0 } else { of_world(|| RandomState::new().build_hasher().finish()) };
        array.start(cx.me(), cx.callback(Self::ended), mark);
        let results = cx.when(Self::ended).await;
        let total: u64 = results.iter().map(|(_, said)| said).sum();
        self.total = Some(total);
        if total > self.sayings.given() {
            cx.when(Self::all_is_said).await;
        }
        results.into_iter().map(|(result, _)| result).collect()
    }
}
