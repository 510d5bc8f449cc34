//! What each rank runs: the program's entry, on the rank's own stack.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Duration;

use talisman::prelude::*;
use talisman_abi::Hooks;
use talisman_ampi::api::Universe;
use talisman_ampi::api::traits::*;
use talisman_ampi::rank::{self, Birth, Command, Program, Threads};
use talisman_ampi::slot::{Images, ImagesError};
use talisman_ampi::thread::set_answers;
use talisman_loader::libc::{
    Numbers, answer_time_stamp, before_shared_write, begin_in, has_live_threads, is_own_thread,
    let_run_again, owner_of_thread, run, set_end_rank, trap_time_stamps,
};
use talisman_loader::stack_scrubbing;

use crate::born::{self, Born, Found};
use crate::builds;
use crate::images::{self, OfRanks, ProgramImages};
use crate::programs::{self, Other, Programs};
use crate::{control, ends, mpi_files, replayed_values, slice, undo_logs};

/// An MPI program, as all its ranks are given it.
#[derive(Clone, Debug, Pup)]
pub struct MpiProgram {
    /// Its file.
    pub file: String,
    /// Its arguments, the first of which is its name.
    pub words: Vec<String>,
    /// The programs of other ranks.
    pub others: Vec<Other>,
    /// Variables that ranks have besides those of their node: `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Each line that ranks write has their number in front.
    pub is_labelled: bool,
    /// They are interrupted when they have computed for so many nanoseconds; not if it is 0.
    pub slice: u64,
    /// Their time stamps of the processor are values of the world.
    pub traps_tsc: bool,
    /// All go back to a checkpoint together when a node is lost.
    pub goes_back: bool,
    /// They may do again what they did.
    pub runs_again: bool,
    /// A folder for what is written over in files.
    pub undo_logs: String,
    /// Which ranks have it, if others have started them.
    pub born: Option<Born>,
    /// How many nodes there are at the start.
    pub nodes: u32,
    /// With how many ranks the job begins, the first number of their descriptors, and how many of these each has.
    pub ranks: u32,
    pub descriptors: (i32, i32),
    /// Numbers of the builds of its files, the program's first, where the job began.
    pub builds: Vec<u64>,
}

talisman_ampi::program!(MpiProgram);

impl Program for MpiProgram {
    /// The exit status.
    type Output = i32;

    fn main(self, _: Universe) -> i32 {
        let images = images::of_process().expect("it was prepared before its ranks were made");
        let base = control::base_of_caller().expect("a rank calls");
        images.bind(base);
        let rank = control::with(|control| control.rank);
        let number = match &self.born {
            Some(born) => born.birth.number as usize,
            None => programs::number_of(&self.others, rank),
        };
        talisman_abi::set_program(number as u32).expect("a rank calls");
        let is_at_start = self.born.is_none();
        let other = number.checked_sub(1).filter(|_| is_at_start).map(|other| &self.others[other]);
        let of_born = self.born.as_ref().and_then(|born| born.folder.as_ref());
        if let Some(folder) = other.and_then(|other| other.folder.as_ref()).or(of_born) {
            begin(rank, folder);
        }
        let (own, all) =
            self.born.as_ref().map_or((rank, self.ranks), |born| (rank - born.birth.world, born.birth.size));
        let launched = launched((own, all), self.ranks.max(self.nodes));
        let words = texts(other.map_or(&self.words, |other| &other.words).iter().map(OsString::from));
        let given = other.map_or(&[][..], |other| &other.variables);
        let variables = [&self.variables[..], given].concat();
        let environment = texts(environment(replayed_values::variables(), &variables, &launched));
        let (words, environment): (Vec<&CStr>, Vec<&CStr>) =
            (words.iter().map(|text| &**text).collect(), environment.iter().map(|text| &**text).collect());
        // SAFETY: the program was loaded into this rank's slot, and runs once.
        ends::end(unsafe { run(images.entry(base), &words, &environment) })
    }

    fn images(&self) -> Result<Option<&'static dyn Images>, ImagesError> {
        talisman_abi::set_hooks(Hooks {
            init,
            finalize,
            session,
            abort,
            open: mpi_files::open(),
            close: mpi_files::close(),
            delete: mpi_files::delete(),
            map: mpi_files::map(),
            unmap: mpi_files::unmap(),
            world: replayed_values::words,
            world_bytes: replayed_values::bytes,
            before_write: before_shared_write,
            goes_back: self.goes_back,
        });
        if self.goes_back || self.runs_again {
            undo_logs::keep(&self.undo_logs);
        }
        rank::set_threads(Threads {
            are_live: has_live_threads,
            rank_of_caller: owner_of_thread,
            end_job: ends::end_by_thread,
            interrupt: slice::interrupt_owner,
        });
        set_end_rank(ends::end_rank_by_thread);
        if self.traps_tsc {
            set_answers(answer_time_stamp);
            trap_time_stamps().map_err(|error| {
                ImagesError::Load(format!("--trap-tsc: the system cannot do that: {error}"))
            })?;
        }
        if let Some(Born { birth, .. }) = &self.born {
            self.prepare_calls()?;
            return Ok(Some(born::prepare(Path::new(&self.file), *birth, self.of_ranks(), &self.variables)?));
        }
        let prepared = self.prepare()?;
        slice::set(Duration::from_nanos(self.slice)).map_err(ImagesError::Load)?;
        prepared.check_builds(&self.builds)?;
        Ok(Some(prepared.images()))
    }

    fn born(&self) -> Option<Birth> {
        self.born.as_ref().map(|born| born.birth)
    }

    fn another(&self, command: &Command, birth: Birth) -> Result<MpiProgram, String> {
        let Found { file, words, folder } = born::found(command)?;
        let (others, builds, born) = (Vec::new(), Vec::new(), Some(Born { birth, folder }));
        Ok(MpiProgram { file, words, others, builds, born, ..self.clone() })
    }
}

/// What ranks of this process run.
#[derive(Clone, Copy, Debug)]
pub enum Prepared {
    /// All the same.
    One(&'static ProgramImages),
    /// Each one of several.
    Several(&'static Programs),
}

impl Prepared {
    /// As slots have it.
    pub fn images(self) -> &'static dyn Images {
        match self {
            Prepared::One(images) => images,
            Prepared::Several(programs) => programs,
        }
    }

    /// Bytes of addresses for programs and their libraries in each slot. They may have large arrays, which they mostly do not
    /// touch.
    pub fn room(self) -> u64 {
        /// What there is at least, and what it is a multiple of.
        const LEAST: usize = 448 << 20;
        const UNIT: usize = 64 << 10;
        LEAST.max(self.images().span().next_multiple_of(UNIT)) as u64
    }

    /// How many mappings of the system a rank takes.
    pub fn mappings(self) -> usize {
        /// Guard, stack, header, control block, heap, and what is not used of these yet.
        const OF_SLOT: usize = 7;
        let of_images = match self {
            Prepared::One(images) => images.mappings(),
            Prepared::Several(programs) => programs.mappings(),
        };
        of_images + OF_SLOT
    }

    /// The files that are mapped for a rank whose images begin at `base`, each with the distance of its addresses from
    /// those in the file.
    pub fn objects_of(self, rank: u32, base: usize) -> Vec<(&'static Path, usize)> {
        match self {
            Prepared::One(images) => images.objects_at(base).collect(),
            Prepared::Several(programs) => programs.objects_of(rank, base),
        }
    }

    /// Numbers of the builds of all that is mapped for a rank, in its order.
    pub fn builds(self) -> Vec<u64> {
        self.named_builds().into_iter().map(|(_, build)| build).collect()
    }

    /// Looks whether they are these.
    ///
    /// # Errors
    /// As [`builds::check`] says.
    pub fn check_builds(self, there: &[u64]) -> Result<(), ImagesError> {
        builds::check(&self.named_builds(), there)
    }

    fn named_builds(self) -> Vec<(&'static str, u64)> {
        match self {
            Prepared::One(images) => images.builds().collect(),
            Prepared::Several(programs) => programs.builds().collect(),
        }
    }
}

impl MpiProgram {
    /// Reads what the ranks run, once in a process.
    ///
    /// # Errors
    /// If ranks cannot run it.
    pub fn prepare(&self) -> Result<Prepared, ImagesError> {
        let (file, ranks) = (Path::new(&self.file), self.of_ranks());
        self.prepare_calls()?;
        match self.others.is_empty() {
            true => images::prepare(file, ranks, &self.variables).map(Prepared::One),
            false => programs::prepare(file, &self.others, ranks, &self.variables).map(Prepared::Several),
        }
    }

    /// Before any program is read, in each process.
    fn prepare_calls(&self) -> Result<(), ImagesError> {
        if self.runs_again {
            let_run_again();
            stack_scrubbing::prepare().map_err(|error| {
                ImagesError::Load(format!(
                    "--ft logging, --record: memory for calls that leave nothing on a rank's stack cannot be mapped: {error}"
                ))
            })?;
        }
        Ok(())
    }

    fn of_ranks(&self) -> OfRanks {
        let (first, each) = self.descriptors;
        OfRanks { ranks: self.ranks, numbers: Numbers { first, each }, is_labelled: self.is_labelled }
    }
}

/// Texts of C; what is behind a zero is cut.
fn texts(texts: impl IntoIterator<Item = OsString>) -> Vec<CString> {
    let text = |text: OsString| {
        let mut bytes = text.into_vec();
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
        CString::new(bytes).unwrap_or_default()
    };
    texts.into_iter().map(text).collect()
}

/// The rank is in a folder of its own program.
fn begin(rank: u32, folder: &str) {
    let path = texts([OsString::from(folder)]);
    if let Err(error) = begin_in(&path[0]) {
        rank::end_job(1, &format!("rank {rank} cannot begin in {folder}: {error}"));
    }
}

/// What other systems' `mpirun` tells a process in its environment. Programs and libraries look there whether they were
/// started by one (Code_Saturne, h5py), and which rank they are before they call `MPI_Init`. All are of one host, as
/// `MPI_Comm_split_type` has it.
fn launched((rank, ranks): (u32, u32), most: u32) -> Vec<String> {
    const RANK: [&str; 5] = [
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_NODE_RANK",
        "PMI_RANK",
        "MPI_LOCALRANKID",
    ];
    const RANKS: [&str; 4] =
        ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"];
    let of = |names: &[&str], value: u32| -> Vec<String> {
        names.iter().map(|name| format!("{name}={value}")).collect()
    };
    let task = [("PROCID", rank), ("LOCALID", rank), ("NTASKS", ranks), ("NPROCS", ranks)];
    let of_slurm = task.map(|(name, value)| format!("{OF_SLURM}{name}={value}"));
    let all = [of(&RANK, rank), of(&RANKS, ranks), of(&["OMPI_UNIVERSE_SIZE"], most), of_slurm.to_vec()];
    all.concat()
}

/// What the variables of Slurm begin with. Those of a task are told where there are some: they are those of the agent.
const OF_SLURM: &str = "SLURM_";

/// The node's own variables without the runtime's, and these; of those with the same name the last one, and what is given
/// before what is told.
fn environment(own: BTreeMap<OsString, OsString>, given: &[String], told: &[String]) -> Vec<OsString> {
    let name = |variable: &str| variable.split('=').next().unwrap_or_default().to_owned();
    let mut all = own;
    all.retain(|name, _| !name.as_encoded_bytes().starts_with(b"TALISMAN_"));
    let is_told =
        |variable: &&String| !variable.starts_with(OF_SLURM) || all.contains_key(OsStr::new(&name(variable)));
    let told: Vec<&String> = told.iter().filter(is_told).collect();
    for variable in told.into_iter().chain(given) {
        let value = variable.split_once('=').map_or("", |(_, value)| value);
        all.insert(name(variable).into(), value.into());
    }
    let joined = |(mut name, value): (OsString, OsString)| {
        name.push("=");
        name.push(value);
        name
    };
    all.into_iter().map(joined).collect()
}

/// All ranks are here before any goes on: what they have done before, such as opening files, they have all done.
fn init() {
    control::with(|control| control.has_begun = true);
    let world = Universe::of_caller().expect("a rank calls").world();
    if let Err(error) = world.barrier() {
        rank::end_job(1, &format!("MPI_Init: {error}"));
    }
}

fn finalize() {
    control::with(|control| control.has_finished = true);
}

fn session(is_open: bool) {
    control::with(|control| control.has_session = is_open);
}

fn abort(status: i32, message: &str) -> ! {
    if !is_own_thread() {
        control::flush();
    }
    ends::abort(ends::failure(status), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_given_win() {
        let given = ["PATH=/there", "PATH=/here", "TALISMAN_TEST_OWN=1", "PMI_SIZE=9"].map(String::from);
        let environment = environment(std::env::vars_os().collect(), &given, &launched((2, 5), 5));
        let of = |name: &str| {
            environment.iter().filter(|one| one.as_encoded_bytes().starts_with(name.as_bytes())).count()
        };
        assert_eq!(
            (of("PATH="), of("TALISMAN_TEST_OWN="), of("HOME=")),
            (1, 1, usize::from(std::env::var_os("HOME").is_some()))
        );
        for variable in ["PATH=/here", "PMI_RANK=2", "PMI_SIZE=9", "OMPI_COMM_WORLD_SIZE=5"] {
            assert!(environment.contains(&OsString::from(variable)), "{variable}");
        }
    }

    #[test]
    fn a_rank_is_no_task_of_its_agent() {
        let own = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("SLURM_JOB_ID", "7")];
        let own = own.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let there = environment(own.into_iter().collect(), &[], &launched((2, 5), 5));
        let of_slurm = |environment: &[OsString]| -> Vec<String> {
            let all = environment.iter().map(|one| one.to_string_lossy().into_owned());
            all.filter(|one| one.starts_with(OF_SLURM)).collect()
        };
        assert_eq!(of_slurm(&there), ["SLURM_JOB_ID=7", "SLURM_NTASKS=5", "SLURM_PROCID=2"]);
        assert!(of_slurm(&environment(BTreeMap::new(), &[], &launched((2, 5), 5))).is_empty());
    }
}
