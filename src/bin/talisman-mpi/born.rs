//! Programs of ranks that others have started while the job runs (`MPI_Comm_spawn`): read where such a rank comes to, and the
//! only one in its slot.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use talisman::launch::executable::{find, interpreted};
use talisman::prelude::*;
use talisman_ampi::rank::{Birth, Command};
use talisman_ampi::slot::{ImagesError, SlotSpace, on_process_heap};

use crate::images::{OfRanks, ProgramImages};
use crate::library_search::search;

/// Which ranks run it, and where they begin.
#[derive(Clone, Debug, Pup)]
pub struct Born {
    /// Which ranks.
    pub birth: Birth,
    /// Where they begin, if not where others do.
    pub folder: Option<String>,
}

/// What is known of a program that is to be started.
#[derive(Debug)]
pub struct Found {
    /// Its file, or that of its interpreter.
    pub file: String,
    /// Its arguments, the first of which is its name.
    pub words: Vec<String>,
    /// Where it begins, if that was said.
    pub folder: Option<String>,
}

/// Finds the program of a command: seen from the folder of the hint `wdir`, in those of the hint `path`, and as a shell does.
///
/// # Errors
/// If there is none, or ranks cannot run it.
pub fn found(command: &Command) -> Result<Found, String> {
    let hint = |key: &[u8]| command.hints.iter().find(|(name, _)| name == key).map(|(_, value)| &value[..]);
    let mut words = command.words.iter().map(|word| OsStr::from_bytes(word).to_owned());
    let name = words.next().unwrap_or_default();
    let folder = hint(b"wdir").map(|folder| Path::new(OsStr::from_bytes(folder)));
    let folders = hint(b"path").map(OsStr::from_bytes).unwrap_or_default();
    let at_hint = std::env::split_paths(folders).filter(|folder| !folder.as_os_str().is_empty());
    let mut at_hint = at_hint.filter_map(|place| find(place.join(&name).as_os_str(), folder).ok());
    let file = at_hint.find(|file| file.is_file()).map_or_else(|| find(&name, folder), Ok)?;
    let words: Vec<OsString> = [name].into_iter().chain(words).collect();
    let (file, words) = interpreted(file, &words)?;
    let folder = folder.map(|folder| std::path::absolute(folder).map(text_of));
    let folder = folder.transpose().map_err(|error| format!("this folder is not known: {error}"))?;
    Ok(Found {
        file: text_of(file),
        words: words.into_iter().map(|word| text_of(word.into())).collect(),
        folder,
    })
}

fn text_of(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap_or_else(|text| text.to_string_lossy().into_owned())
}

/// Programs that were read, by their files: one at fixed addresses can be read once.
static READ: Mutex<BTreeMap<PathBuf, &'static ProgramImages>> = Mutex::new(BTreeMap::new());

/// Those of ranks that others have started, by their numbers. Asked by signal handlers as well: no lock.
static BY_RANK: OnceLock<Box<[AtomicPtr<ProgramImages>]>> = OnceLock::new();

/// A program that was read.
pub fn note(file: &Path, images: &'static ProgramImages) {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    READ.lock().unwrap_or_else(PoisonError::into_inner).insert(file, images);
}

/// Reads the program of these ranks, if it was not read before.
///
/// # Errors
/// If it cannot be run, with the reason.
pub fn prepare(
    file: &Path,
    birth: Birth,
    ranks: OfRanks,
    variables: &[String],
) -> Result<&'static ProgramImages, ImagesError> {
    // They may have come here before.
    if let Some(images) = of_rank(birth.first) {
        return Ok(images);
    }
    on_process_heap(|| {
        let end = birth.first.saturating_add(birth.ranks);
        ranks.numbers.allow(end).map_err(|error| ImagesError::Load(error.to_string()))?;
        let images = read(file, ranks, variables)?;
        let places = BY_RANK.get_or_init(|| {
            let slots = SlotSpace::get().map_or(0, SlotSpace::slots);
            (0..slots).map(|_| AtomicPtr::default()).collect()
        });
        for place in places.iter().take(end as usize).skip(birth.first as usize) {
            place.store(std::ptr::from_ref(images).cast_mut(), Ordering::Release);
        }
        Ok(images)
    })
}

fn read(file: &Path, ranks: OfRanks, variables: &[String]) -> Result<&'static ProgramImages, ImagesError> {
    let key = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(images) = read.get(&key) {
        return Ok(images);
    }
    let images = ProgramImages::new(file, ranks, &search(variables)).map_err(ImagesError::Load)?;
    let images: &'static ProgramImages = Box::leak(Box::new(images));
    read.insert(key, images);
    Ok(images)
}

/// The program of a rank that another one has started.
pub fn of_rank(rank: u32) -> Option<&'static ProgramImages> {
    let place = BY_RANK.get()?.get(rank as usize)?;
    // SAFETY: null, or one that is there for good, written before the address was.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str], hints: &[(&str, &str)]) -> Command {
        let bytes = |text: &&str| text.as_bytes().to_vec();
        let hints = hints.iter().map(|(key, value)| (bytes(key), bytes(value))).collect();
        Command { words: words.iter().map(bytes).collect(), hints, ranks: 1 }
    }

    #[test]
    fn programs_are_found_by_hints() {
        let own = std::env::current_exe().expect("it runs");
        let (folder, name) = (own.parent().expect("it is in one"), own.file_name().expect("it has one"));
        let (folder, name) = (folder.to_str().expect("text"), name.to_str().expect("text"));
        let own = own.to_str().expect("text");
        let of =
            |words: &[&str], hints: &[(&str, &str)]| found(&command(words, hints)).map(|found| found.file);
        assert_eq!(of(&[own], &[]).as_deref(), Ok(own));
        assert_eq!(of(&[name], &[("path", folder)]).as_deref(), Ok(own));
        assert_eq!(of(&[name], &[("path", &format!("/nowhere:{folder}"))]).as_deref(), Ok(own));
        assert_eq!(of(&[&format!("./{name}")], &[("wdir", folder)]).as_deref(), Ok(own));
        let why = of(&[name], &[("wdir", folder)]).expect_err("it is in no folder that is looked in");
        assert!(why.contains("there is no program"), "{why}");
        let why = of(&[name], &[("wdir", "/nowhere")]).expect_err("it cannot run there");
        assert!(why.contains("there is no folder `/nowhere`"), "{why}");
        let all = found(&command(&[own, "one", "two"], &[("wdir", folder)])).expect("it is there");
        assert_eq!((all.words.len(), all.folder.as_deref()), (3, Some(folder)));
    }
}
