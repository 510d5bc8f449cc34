//! Where a job keeps its checkpoints on disk, and from which it goes on: what the launcher finds out before any node is started.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use talisman_base::auth::nonce;
use talisman_base::topology::Shape;
use talisman_job::RunArgs;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::options::PES_IN_ALL_MAX;
use talisman_job::program_types::ProgramTypes;
use talisman_store::disk::{Disk, DiskError, Folder, KeyFile};
use talisman_store::files::catalog::{self, Hosts, Whole};
use talisman_store::files::checkpoint_dir::{CheckpointDirError, check_for_others};
use talisman_store::files::folder_of;
use talisman_store::files::manifest::{JobMark, Manifest};
use talisman_store::files::writer::nodes_in;
use talisman_store::restart::{CheckpointDirs, Keeping, Restart};

/// As the options say; with `--restart`, from what hosts have in that folder.
///
/// # Errors
/// A sentence on what cannot be, and what to do.
pub fn find_out(
    (program, types): (&str, &dyn ProgramTypes),
    options: &RunArgs,
    (job, shape): (u64, Shape),
    former: Option<(&Path, &mut impl Hosts)>,
) -> Result<Keeping, String> {
    let mut keeping = Keeping::default();
    let key = key_of(options)?;
    let mut mark = JobMark::of_this(job, program, options.seed, types.chares());
    if let Some((dir, hosts)) = former {
        let whole = catalog::newest(dir, hosts).map_err(|error| format!("--restart: {error}"))?;
        // A part is as large as it is.
        let matters = whole.manifest.pes_per_node != shape.pes_per_node;
        let has_nodegroups = matters && has_nodegroups(types, dir, &whole, hosts)?;
        let names = (0..).map_while(|host| hosts.name(host)).map(str::to_owned).collect();
        go_on_from(
            &mut keeping,
            dir.to_owned(),
            (whole, has_nodegroups),
            &mut mark,
            (shape, options.numbers()),
        )?;
        keeping.restart =
            keeping.restart.map(|restart| Restart { hosts: names, key: key.clone(), ..restart });
    }
    if options.ft.has_checkpoints() {
        keep(&mut keeping, program, (options, key), mark)?;
    }
    Ok(keeping)
}

fn keep(
    keeping: &mut Keeping,
    program: &str,
    (options, key): (&RunArgs, KeyFile),
    mark: JobMark,
) -> Result<(), String> {
    let given = options.ckpt_dir.as_deref().map(absolute).transpose()?;
    // A job that logs keeps all where it was given a folder.
    let has_all = options.ft == FaultTolerance::Disk || options.ft.logs() && given.is_some();
    // Without any checkpoint on disk, one may yet be asked for, and the folder does not matter before.
    let is_needed = options.hosts.is_none() && (has_all || given.is_some());
    let restarted = keeping.restart.as_ref().map(|restart| restart.dir.clone());
    let dir = match given.or(restarted) {
        Some(dir) => dir,
        None => {
            let dir = std::env::temp_dir().join(unforeseeable(program)?);
            if has_all {
                keeping.notes.push(format!("checkpoints are kept in {} (--ckpt-dir)", dir.display()));
            }
            dir
        }
    };
    let is_new = !dir.exists();
    if is_needed {
        try_out(&dir, &key, mark.id)?;
    }
    keeping.checkpoint_dirs = Some(CheckpointDirs { dir, key, has_all, job: mark, is_new });
    Ok(())
}

fn go_on_from(
    keeping: &mut Keeping,
    dir: PathBuf,
    (whole, has_nodegroups): (Whole, bool),
    mark: &mut JobMark,
    (shape, numbers): (Shape, u32),
) -> Result<(), String> {
    let Whole { manifest, notes, .. } = &whole;
    check_program(&dir, manifest, mark)?;
    keeping.notes.extend(notes.iter().cloned());
    keeping.notes.push(format!(
        "goes on from checkpoint {} in {}, taken on {} with {} each",
        manifest.version,
        dir.display(),
        counted(manifest.view.there().count() as u32, "node"),
        counted(manifest.pes_per_node, "PE"),
    ));
    if manifest.job.build != mark.build {
        keeping.notes.push(
            "it was taken by another build of the program: what has no `#[pup(version)]` has to be as it was"
                .into(),
        );
    }
    mark.id = manifest.job.id;
    mark.seed = manifest.job.seed;
    let restart = Restart::of(dir, (whole, has_nodegroups), (shape, numbers));
    check_size(restart.view.nodes(), shape.pes_per_node)?;
    keeping.restart = Some(restart);
    Ok(())
}

/// Whether a job has chares whose places are by node: if it goes on with another number of PEs on each, nodes keep their numbers, as PEs do.
///
/// # Errors
/// A part can be read no more.
pub fn has_nodegroups(
    types: &dyn ProgramTypes,
    dir: &Path,
    whole: &Whole,
    hosts: &mut impl Hosts,
) -> Result<bool, String> {
    let Whole { manifest, parts, .. } = whole;
    // Every part has every collection.
    let first = parts.first_key_value().and_then(|(pe, places)| Some((pe, places.first()?)));
    let Some((pe, place)) = first else { return Ok(false) };
    let wrong = |error: &dyn Display| {
        format!("--restart: the part of PE {pe} in {} cannot be read: {error}", dir.display())
    };
    let part = hosts.part((manifest.cut(), manifest.version), *place, *pe).map_err(|error| wrong(&error))?;
    types.has_nodegroups(part).map_err(|error| wrong(&error))
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

fn check_program(dir: &Path, manifest: &Manifest, mark: &JobMark) -> Result<(), String> {
    let (theirs, dir) = (&manifest.job.program, dir.display());
    if *theirs != mark.program {
        return Err(format!(
            "--restart: the checkpoints in {dir} are of the program `{theirs}`, and this is `{}`: run that one",
            mark.program
        ));
    }
    let missing = mark.lacks(&manifest.job);
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
pub fn key_of(options: &RunArgs) -> Result<KeyFile, String> {
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
        let folder = Folder::open_with(&folder_of(dir, node), key).map_err(CheckpointDirError::from);
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
fn of_a_running_job(error: CheckpointDirError, dir: &Path) -> CheckpointDirError {
    let CheckpointDirError::Taken { program, version } = error else { return error };
    let is_used = |node| Folder::open(&folder_of(dir, node)).is_ok_and(|folder| folder.is_used_by_others());
    match nodes_in(dir).is_ok_and(|nodes| nodes.into_iter().any(is_used)) {
        true => CheckpointDirError::InUse { program },
        false => CheckpointDirError::Taken { program, version },
    }
}

pub fn absolute(path: &Path) -> Result<PathBuf, String> {
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
