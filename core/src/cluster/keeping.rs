//! Where a job keeps its checkpoints on disk, and from which it goes on: what the launcher finds out before any node is started.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use talisman_ft::Version;

use crate::chare::Kind;
use crate::checkpoint::files::afar::{Ask, What};
use crate::checkpoint::files::cover::{Cover, JobMark};
use crate::checkpoint::files::folder_of;
use crate::checkpoint::files::keeper::nodes_in;
use crate::checkpoint::files::set::{self, Hosts, Place, Whole};
use crate::checkpoint::files::shelf::{ShelfError, check_for_others};
use crate::checkpoint::part::{Part, SavedCollection};
use crate::registry::Registry;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_job::RunArgs;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::options::PES_IN_ALL_MAX;
use talisman_store::disk::{Disk, DiskError, Folder, KeyFile};
use talisman_transport::auth::nonce;

/// Where nodes keep their checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shelves {
    /// Each node has a folder in it, on its host.
    pub(crate) dir: PathBuf,
    /// What shows who wrote the files there.
    pub(crate) key: KeyFile,
    /// Whether all checkpoints are there; else those that somebody asks for.
    pub(crate) has_all: bool,
    pub(crate) job: JobMark,
    /// Whether the job has made the folder, on the host of its first launcher.
    pub(crate) is_new: bool,
}

/// What a whole job goes on from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Restart {
    /// Where its parts are.
    pub(crate) dir: PathBuf,
    /// What shows who wrote them.
    pub(crate) key: KeyFile,
    /// What tells its parts from others: [`Cover::cut`].
    pub(crate) job: u64,
    pub(crate) version: Version,
    /// The version of the next checkpoint.
    pub(crate) next_version: Version,
    /// PEs of each node, when it was taken.
    pub(crate) pes_per_node: u32,
    /// Who was there then.
    pub(crate) taken_in: talisman_ft::view::View,
    /// In which folders the part of each PE is: first where it has been read.
    pub(crate) parts: Vec<(PeId, Vec<Place>)>,
    /// What hosts are called, by their numbers, if there are several.
    pub(crate) hosts: Vec<String>,
    /// Who is there now: nodes that have a number from before, and no process any more, have a stand-in.
    pub(crate) view: talisman_ft::view::View,
    /// Whether members of nodegroups, which are by node, are on other PEs now: nodes have another number of PEs than they had.
    pub(crate) moves_members: bool,
    /// Seeds `cx.rng()`.
    pub(crate) seed: u64,
}

/// What is known of both, of a job of this number and shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keeping {
    pub(crate) shelves: Option<Shelves>,
    pub(crate) restart: Option<Restart>,
    /// What people should know.
    pub(crate) notes: Vec<String>,
}

impl Keeping {
    /// As the options say; with `--restart`, from what hosts have in that folder.
    ///
    /// # Errors
    /// A sentence on what cannot be, and what to do.
    pub(crate) fn new(
        program: &str,
        options: &RunArgs,
        (job, shape): (u64, Shape),
        former: Option<(&Path, &mut impl Hosts)>,
    ) -> Result<Self, String> {
        let mut keeping = Keeping::default();
        let key = key_of(options)?;
        let mut mark = JobMark::of_this(job, program, options.seed);
        if let Some((dir, hosts)) = former {
            let whole = set::newest(dir, hosts).map_err(|error| format!("--restart: {error}"))?;
            // A part is as large as it is.
            let matters = whole.cover.pes_per_node != shape.pes_per_node;
            let has_nodegroups = matters && has_nodegroups(dir, &whole, hosts)?;
            let names = (0..).map_while(|host| hosts.name(host)).map(str::to_owned).collect();
            keeping.go_on_from(
                dir.to_owned(),
                (whole, has_nodegroups),
                &mut mark,
                (shape, options.numbers()),
            )?;
            keeping.restart =
                keeping.restart.map(|restart| Restart { hosts: names, key: key.clone(), ..restart });
        }
        if options.ft != FaultTolerance::Off {
            keeping.keep(program, (options, key), mark)?;
        }
        Ok(keeping)
    }

    /// What has to be said to which hosts, by their numbers, once a job has ended well that went on from their folders and kept its own
    /// checkpoints there: on some of them, no node may have been that could take away what had been left.
    pub(crate) fn clearing(&self) -> Vec<(u32, Ask)> {
        let (Some(shelves), Some(restart)) = (&self.shelves, &self.restart) else { return Vec::new() };
        if !shelves.has_all || shelves.dir != restart.dir {
            return Vec::new();
        }
        let clear = || Ask::of((&shelves.dir, &shelves.key), What::Clear { job: shelves.job.id });
        (0..restart.hosts.len() as u32).map(|host| (host, clear())).collect()
    }

    fn keep(
        &mut self,
        program: &str,
        (options, key): (&RunArgs, KeyFile),
        mark: JobMark,
    ) -> Result<(), String> {
        let has_all = options.ft == FaultTolerance::Disk;
        let given = options.ckpt_dir.as_deref().map(absolute).transpose()?;
        // Without any checkpoint on disk, one may yet be asked for, and the folder does not matter before.
        let is_needed = options.hosts.is_none() && (has_all || given.is_some());
        let restarted = self.restart.as_ref().map(|restart| restart.dir.clone());
        let dir = match given.or(restarted) {
            Some(dir) => dir,
            None => {
                let dir = std::env::temp_dir().join(unforeseeable(program)?);
                if has_all {
                    self.notes.push(format!("checkpoints are kept in {} (--ckpt-dir)", dir.display()));
                }
                dir
            }
        };
        let is_new = !dir.exists();
        if is_needed {
            try_out(&dir, &key, mark.id)?;
        }
        self.shelves = Some(Shelves { dir, key, has_all, job: mark, is_new });
        Ok(())
    }

    fn go_on_from(
        &mut self,
        dir: PathBuf,
        (whole, has_nodegroups): (Whole, bool),
        mark: &mut JobMark,
        (shape, numbers): (Shape, u32),
    ) -> Result<(), String> {
        let Whole { cover, notes, .. } = &whole;
        check_program(&dir, cover, mark)?;
        self.notes.extend(notes.iter().cloned());
        self.notes.push(format!(
            "goes on from checkpoint {} in {}, taken on {} with {} each",
            cover.version,
            dir.display(),
            counted(cover.view.there().count() as u32, "node"),
            counted(cover.pes_per_node, "PE"),
        ));
        if cover.job.build != mark.build {
            self.notes.push(
                "it was taken by another build of the program: what has no `#[pup(version)]` has to be as it was".into(),
            );
        }
        mark.id = cover.job.id;
        mark.seed = cover.job.seed;
        let restart = Restart::of(dir, (whole, has_nodegroups), (shape, numbers));
        check_size(restart.view.nodes(), shape.pes_per_node)?;
        self.restart = Some(restart);
        Ok(())
    }
}

impl Restart {
    /// From what is whole in this folder, by a job of this shape that has so many numbers.
    pub(crate) fn of(
        dir: PathBuf,
        (whole, has_nodegroups): (Whole, bool),
        (shape, numbers): (Shape, u32),
    ) -> Self {
        let Whole { cover, parts, next, .. } = whole;
        let moves_members = has_nodegroups && cover.pes_per_node != shape.pes_per_node;
        let numbers = if moves_members { numbers.max(cover.nodes) } else { numbers };
        Restart {
            dir,
            key: KeyFile::default(),
            job: cover.cut(),
            version: cover.version,
            next_version: next,
            pes_per_node: cover.pes_per_node,
            view: view_after(cover.nodes * cover.pes_per_node, shape, numbers),
            taken_in: cover.view,
            parts: parts.into_iter().collect(),
            hosts: Vec::new(),
            moves_members,
            seed: cover.job.seed,
        }
    }

    /// A folder of a node, for people.
    pub(crate) fn folder(&self, place: Place) -> String {
        set::in_words(&self.dir, place, self.hosts.get(place.host as usize).map(String::as_str))
    }

    /// The question for some bytes of a part; none if that is not one of its own.
    pub(crate) fn ask(&self, pe: PeId, place: Place, from: u64) -> Option<Ask> {
        let (_, places) = self.parts.iter().find(|(of, _)| *of == pe)?;
        let read = || What::Read { node: place.node, version: self.version, pe, from };
        places.contains(&place).then(|| Ask::of((&self.dir, &self.key), read()))
    }
}

/// The view of a job of this shape that goes on from so many PEs, and has so many numbers: PEs keep theirs, so that there are no fewer than before.
/// Those that have no process any more are shared out in turn.
fn view_after(pes: u32, shape: Shape, numbers: u32) -> talisman_ft::view::View {
    let numbers = numbers.max(shape.nodes).max(pes.div_ceil(shape.pes_per_node));
    talisman_ft::view::View::beginning_with(shape.nodes, numbers)
}

/// Whether a job has chares whose places are by node: if it goes on with another number of PEs on each, nodes keep their numbers, as PEs do.
///
/// # Errors
/// A part can be read no more.
pub(crate) fn has_nodegroups(dir: &Path, whole: &Whole, hosts: &mut impl Hosts) -> Result<bool, String> {
    let Whole { cover, parts, .. } = whole;
    // Every part has every collection.
    let first = parts.first_key_value().and_then(|(pe, places)| Some((pe, places.first()?)));
    let Some((pe, place)) = first else { return Ok(false) };
    let wrong = |error: &dyn Display| {
        format!("--restart: the part of PE {pe} in {} cannot be read: {error}", dir.display())
    };
    let part = hosts.part((cover.cut(), cover.version), *place, *pe).map_err(|error| wrong(&error))?;
    let part: Part = part.into_value().map_err(|error| wrong(&error))?;
    let kind = |saved: &SavedCollection| Registry::get().find(saved.of.key).map(|(_, chare)| chare.kind);
    Ok(part.collections.iter().any(|saved| kind(saved) == Some(Kind::NodeGroup)))
}

/// That there are not too many numbers for PEs.
fn check_size(nodes: u32, pes: u32) -> Result<(), String> {
    if u64::from(nodes) * u64::from(pes) <= PES_IN_ALL_MAX {
        return Ok(());
    }
    Err(format!(
        "--restart: {nodes} nodes have a number, and {pes} PEs each would be more than {PES_IN_ALL_MAX} in all: start it with fewer \
         on each node (--pes {})",
        PES_IN_ALL_MAX / u64::from(nodes)
    ))
}

fn check_program(dir: &Path, cover: &Cover, mark: &JobMark) -> Result<(), String> {
    let (theirs, dir) = (&cover.job.program, dir.display());
    if *theirs != mark.program {
        return Err(format!(
            "--restart: the checkpoints in {dir} are of the program `{theirs}`, and this is `{}`: run that one",
            mark.program
        ));
    }
    let missing = mark.lacks(&cover.job);
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "--restart: the checkpoints in {dir} are of a build of `{theirs}` that had chares which this one has not ({}): run \
         that build, or give them back their names (`#[chare(name = \"…\")]`)",
        missing.join(", ")
    ))
}

/// What shows who writes the files of checkpoints, if anything is to.
///
/// # Errors
/// There is no such key on this host.
pub(super) fn key_of(options: &RunArgs) -> Result<KeyFile, String> {
    let key = KeyFile(options.ckpt_key.as_deref().map(absolute).transpose()?);
    key.read().map_err(|error| error.to_string())?;
    Ok(key)
}

/// A name for a folder that nobody can make before this job does.
fn unforeseeable(program: &str) -> Result<String, String> {
    let random = nonce().map_err(|error| error.to_string())?;
    let digits: String = random[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("talisman-{program}-{digits}"))
}

/// Whether nodes will be able to keep checkpoints in a folder of this host.
fn try_out(dir: &Path, key: &KeyFile, job: u64) -> Result<(), String> {
    let wrong =
        |error: &dyn Display| format!("--ckpt-dir: cannot keep checkpoints in {}: {error}", dir.display());
    let is_new = !dir.exists();
    try_to_write(dir).map_err(|error| wrong(&error))?;
    if is_new {
        return Ok(());
    }
    for node in nodes_in(dir).map_err(|error| wrong(&error))? {
        let folder = Folder::open_with(&folder_of(dir, node), key).map_err(ShelfError::from);
        let checked = folder.and_then(|mut folder| check_for_others(&mut folder, job));
        checked.map_err(|error| wrong(&of_a_running_job(error, dir)))?;
    }
    Ok(())
}

/// Nodes make folders there: so does this, under a name that nobody else has.
fn try_to_write(dir: &Path) -> Result<(), String> {
    let trial = dir.join(format!("trial-{}", unforeseeable("folder")?));
    let tried = Folder::open(&trial).and_then(|mut folder| folder.write("trial", &[]));
    let _ = fs::remove_file(trial.join("trial"));
    let _ = fs::remove_dir(trial);
    match tried {
        // That it is full now does not say that it always will be.
        Ok(()) | Err(DiskError::Full { .. }) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Of a job that runs nobody is to go on from another's checkpoints: it may have lost the node whose folder that is.
fn of_a_running_job(error: ShelfError, dir: &Path) -> ShelfError {
    let ShelfError::Taken { program, version } = error else { return error };
    let is_used = |node| Folder::open(&folder_of(dir, node)).is_ok_and(|folder| folder.is_used_by_others());
    match nodes_in(dir).is_ok_and(|nodes| nodes.into_iter().any(is_used)) {
        true => ShelfError::InUse { program },
        false => ShelfError::Taken { program, version },
    }
}

impl Shelves {
    /// Whether there may be a checkpoint in it, as far as is known on this host: of those that somebody asks for, there may have been none.
    pub(crate) fn may_have_any(&self) -> bool {
        self.has_all || nodes_in(&self.dir).is_ok_and(|nodes| !nodes.is_empty())
    }

    /// The job has ended well, and its nodes have taken their files away: what is left are empty folders.
    pub(crate) fn tidy(&self) {
        for node in nodes_in(&self.dir).unwrap_or_default() {
            // Whoever has put something else there keeps it.
            let _ = fs::remove_dir(folder_of(&self.dir, node));
        }
        // One that was there before is not the job's to remove, but for that of its former life.
        if self.is_new || is_default(&self.dir, &self.job.program) {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Whether a job of this program made this folder, as nobody had said one: see [`unforeseeable`].
fn is_default(dir: &Path, program: &str) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let digits = name.strip_prefix(&format!("talisman-{program}-"));
    dir.parent() == Some(&std::env::temp_dir())
        && digits
            .is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

pub(super) fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn counted(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nodes_keep_may_be_too_many_for_so_many_pes() {
        assert_eq!(check_size(1024, 1024), Ok(()));
        let too_many = check_size(3000, 512).expect_err("there are too many");
        assert!(too_many.contains("3000 nodes") && too_many.ends_with("(--pes 349)"), "{too_many}");
    }
}
