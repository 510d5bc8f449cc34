//! Several programs in one job: ranks of each run their own.
//!
//! Each program has a place of its own in the room for images, and all are mapped for every rank; a rank runs one of
//! them. So a slot is the same whatever its rank runs, and what has not been touched takes addresses only.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use talisman::prelude::*;
use talisman_ampi::slot::{Held, Images, ImagesError, Noted, SlotSpace, on_process_heap};
use talisman_ampi::thread::Saved;

use crate::born;
use crate::control;
use crate::images::{OfRanks, ProgramImages};
use crate::library_search::search;

/// A program beside the first one.
#[derive(Clone, Debug, Default, Pup)]
pub struct Other {
    /// Its file.
    pub file: String,
    /// Its arguments, the first of which is its name.
    pub words: Vec<String>,
    /// The first rank that runs it.
    pub first: u32,
    /// Variables that its ranks have besides: `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Where its ranks begin, if not where others do.
    pub folder: Option<String>,
}

/// Which of the programs of a job a rank runs: 0 is the first, before which the others do not begin.
pub fn number_of(others: &[Other], rank: u32) -> usize {
    others.iter().take_while(|other| other.first <= rank).count()
}

/// The programs of this process.
pub struct Programs {
    /// Each with the first rank that runs it, and its place in the room: an offset in bytes.
    all: Vec<(u32, usize, ProgramImages)>,
    span: usize,
    mark: u64,
    written: Vec<Range<usize>>,
}

static PROGRAMS: OnceLock<Result<&'static Programs, String>> = OnceLock::new();

/// What a place in the room is a multiple of.
const UNIT: usize = 64 << 10;

/// Reads all programs, once in a process.
///
/// # Errors
/// If one cannot be run, with the reason.
pub fn prepare(
    first: &Path,
    others: &[Other],
    ranks: OfRanks,
    variables: &[String],
) -> Result<&'static Programs, ImagesError> {
    let prepared = PROGRAMS.get_or_init(|| {
        on_process_heap(|| Ok(&*Box::leak(Box::new(Programs::new(first, others, ranks, variables)?))))
    });
    prepared.clone().map_err(ImagesError::Load)
}

/// The program of the rank that calls and its place in the room, if the process has several, or another one has started it.
pub fn of_caller() -> Option<(usize, &'static ProgramImages)> {
    let rank = control::caller()?;
    if let Some(images) = born::of_rank(rank) {
        return Some((0, images));
    }
    let programs = PROGRAMS.get()?.as_ref().ok().copied()?;
    let (place, images) = programs.of_rank(rank)?;
    Some((place, images))
}

impl Programs {
    fn new(first: &Path, others: &[Other], ranks: OfRanks, variables: &[String]) -> Result<Programs, String> {
        let mut programs = Programs { all: Vec::new(), span: 0, mark: 0, written: Vec::new() };
        programs.add(0, position_independent(first, ranks, variables)?);
        for other in others {
            let variables = [variables, &other.variables].concat();
            programs.add(other.first, position_independent(Path::new(&other.file), ranks, &variables)?);
        }
        Ok(programs)
    }

    /// The files of all programs and numbers of their builds.
    pub fn builds(&self) -> impl Iterator<Item = (&str, u64)> {
        self.all.iter().flat_map(|(_, _, images)| images.builds())
    }

    /// As [`ProgramImages::mappings`]: all are mapped for each rank.
    pub fn mappings(&self) -> usize {
        self.all.iter().map(|(_, _, images)| images.mappings()).sum()
    }

    /// As [`ProgramImages::objects_at`], of the program that the rank runs.
    pub fn objects_of(&self, rank: u32, base: usize) -> Vec<(&Path, usize)> {
        self.of_rank(rank).map_or(Vec::new(), |(place, images)| images.objects_at(base + place).collect())
    }

    fn add(&mut self, first: u32, images: ProgramImages) {
        let place = self.span.next_multiple_of(UNIT);
        self.span = place + images.span();
        self.written.extend(images.written().iter().map(|part| place + part.start..place + part.end));
        let mut hasher = DefaultHasher::new();
        (self.mark, first, place, images.mark()).hash(&mut hasher);
        self.mark = hasher.finish();
        self.all.push((first, place, images));
    }

    fn of_rank(&self, rank: u32) -> Option<(usize, &ProgramImages)> {
        let found = self.all.iter().rev().find(|(first, ..)| *first <= rank);
        found.map(|(_, place, images)| (*place, images))
    }

    /// Works on the program of the rank at this base, at its own.
    fn own<T>(&self, base: usize, work: impl FnOnce(&ProgramImages, usize) -> T) -> T {
        let rank = rank_at(base);
        let (place, images) = self.of_rank(rank).expect("the first program has rank 0");
        work(images, base + place)
    }
}

/// All are mapped for every rank, which one at fixed addresses cannot be.
fn position_independent(file: &Path, ranks: OfRanks, variables: &[String]) -> Result<ProgramImages, String> {
    let images = ProgramImages::new(file, ranks, &search(variables))?;
    match images.fixed() {
        None => Ok(images),
        Some(_) => Err(format!(
            "`{}` is not position-independent, so it cannot run beside others in one job: link it with -pie",
            file.display()
        )),
    }
}

/// Which rank has its images here.
fn rank_at(base: usize) -> u32 {
    let slot = SlotSpace::get().ok().and_then(|space| space.slot_of(base));
    slot.map_or(0, |(slot, _)| slot)
}

impl Images for Programs {
    fn span(&self) -> usize {
        self.span
    }

    fn mark(&self) -> u64 {
        self.mark
    }

    fn written(&self) -> &[Range<usize>] {
        &self.written
    }

    unsafe fn load(&self, base: usize) -> Result<(), ImagesError> {
        let rank = rank_at(base);
        for (_, place, images) in &self.all {
            let is_own = self.of_rank(rank).is_some_and(|(own, _)| own == *place);
            // SAFETY: the caller's promise: the place is in the room.
            unsafe {
                match is_own {
                    true => images.load(base + place)?,
                    false => images.map_again(base + place)?,
                }
            }
        }
        Ok(())
    }

    unsafe fn map_again(&self, base: usize) -> io::Result<()> {
        // SAFETY: the caller's promise.
        self.all.iter().try_for_each(|(_, place, images)| unsafe { images.map_again(base + place) })
    }

    fn arrive(&self, base: usize) {
        self.own(base, |images, base| images.arrive(base));
    }

    fn leave(&self, base: usize) {
        self.own(base, |images, base| images.leave(base));
    }

    fn stays(&self, base: usize) -> bool {
        self.own(base, |images, base| images.stays(base))
    }

    fn end(&self, base: usize) {
        self.own(base, |images, base| images.end(base));
    }

    fn note(&self, base: usize) {
        self.own(base, |images, base| images.note(base));
    }

    fn noted(&self, base: usize) -> Vec<(Vec<u8>, u64)> {
        self.own(base, |images, base| images.noted(base))
    }

    fn restored(&self, base: usize, noted: &Noted) -> Result<(), String> {
        self.own(base, |images, base| images.restored(base, noted))
    }

    fn go_on(&self, base: usize) {
        self.own(base, |images, base| images.go_on(base));
    }

    fn held(&self, base: usize) -> Held {
        self.own(base, |images, base| images.held(base))
    }

    fn is_held_anew(&self, base: usize) -> bool {
        self.own(base, |images, base| images.is_held_anew(base))
    }

    fn locks(&self, base: usize) -> bool {
        self.own(base, |images, base| images.locks(base))
    }

    fn writes(&self, base: usize) -> bool {
        self.own(base, |images, base| images.writes(base))
    }

    fn resume(&self, base: usize) {
        self.own(base, |images, base| images.resume(base));
    }

    fn suspend(&self, base: usize) {
        self.own(base, |images, base| images.suspend(base));
    }

    fn function_at(&self, base: usize, address: usize) -> Option<String> {
        self.own(base, |images, base| images.function_at(base, address))
    }

    fn place_of(&self, base: usize, saved: &Saved, stack: &[u8]) -> Option<String> {
        self.own(base, |images, base| images.place_of(base, saved, stack))
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|(first, place, _)| (first, place))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_one_program() {
        let other = |first| Other { first, ..Other::default() };
        let others = [other(2), other(5)];
        assert_eq!([0, 1, 2, 4, 5, 9].map(|rank| number_of(&others, rank)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(number_of(&[], 7), 0);
    }
}
