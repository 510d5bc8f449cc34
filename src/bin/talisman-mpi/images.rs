//! The program of this process's ranks, as slots have it: what the loader has read, and behind it what this executable
//! keeps of a rank.

use std::ffi::CStr;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use talisman::testing::runs_again;
use talisman_abi::{Interface, interface_of};
use talisman_ampi::slot::{
    Held, Images, ImagesError, Noted, PAGE, SlotSpace, let_stacks_have_code, on_process_heap,
    use_process_heap,
};
use talisman_ampi::thread::{self, Saved};
use talisman_loader::libc::{
    FilesError, Hooks, Numbers, State, enter, files_arrive, files_depart, files_end, files_go_on, files_note,
    files_noted, files_open, files_restored, files_settle, function_at, leave, prepare_children,
    prepare_names, prepare_streams, set_hooks,
};
use talisman_loader::{
    PartKind, Program, Registers, Search, Stack, ThreadLocals, answer_later, answer_names, pad_room, place_of,
};

use crate::answers::{self, Answers};
use crate::control::Control;
use crate::library_search::search;
use crate::{born, control, programs, redirect, replayed_values, slice, streams, waits};

/// The program of this process.
pub struct ProgramImages {
    program: Program,
    /// Which MPI it was built for; none if for none.
    interface: Option<Interface>,
    thread_locals: ThreadLocals,
    mark: u64,
    written: Vec<Range<usize>>,
    /// Where the control block is, and where all ends: offsets in bytes.
    control: usize,
    span: usize,
    ranks: OfRanks,
}

/// What all ranks of a job have.
#[derive(Clone, Copy, Debug)]
pub struct OfRanks {
    /// How many there are.
    pub ranks: u32,
    /// Numbers of their descriptors.
    pub numbers: Numbers,
    /// Each line that they write has their number in front.
    pub is_labelled: bool,
}

/// Of the room for a program, what it has for libraries that it loads while it runs: Python's numpy takes 40 MiB.
const ROOM_FOR_LATER: usize = 192 << 20;

/// See [`runs`].
static RUNS: AtomicU64 = AtomicU64::new(1);

/// How often ranks of this process have gone on.
pub fn runs() -> u64 {
    RUNS.load(Ordering::Relaxed)
}

static PROGRAM: OnceLock<Result<&'static ProgramImages, String>> = OnceLock::new();

/// Reads a program and its libraries, once in a process.
///
/// # Errors
/// If it cannot be run, with the reason.
pub fn prepare(
    file: &Path,
    ranks: OfRanks,
    variables: &[String],
) -> Result<&'static ProgramImages, ImagesError> {
    let prepared = PROGRAM.get_or_init(|| {
        on_process_heap(|| {
            let search = Search { room_for_later: ROOM_FOR_LATER, ..search(variables) };
            let program = &*Box::leak(Box::new(ProgramImages::new(file, ranks, &search)?));
            // Ranks that others start run the same one mostly.
            born::note(file, program);
            Ok(program)
        })
    });
    prepared.clone().map_err(ImagesError::Load)
}

/// That of this process, if it was read; that of the rank that calls if there are several.
pub fn of_process() -> Option<&'static ProgramImages> {
    if let Some((_, images)) = programs::of_caller() {
        return Some(images);
    }
    PROGRAM.get()?.as_ref().ok().copied()
}

impl ProgramImages {
    /// Reads a program and its libraries.
    pub fn new(file: &Path, ranks: OfRanks, search: &Search) -> Result<ProgramImages, String> {
        let program =
            Program::prepare_fixed(file, search, &Answers::of(file)).map_err(|error| error.to_string())?;
        program.reserve_fixed().map_err(|error| error.to_string())?;
        for reason in program.passed_over() {
            eprintln!("talisman-mpi: a library of LD_PRELOAD is passed over: {reason}");
        }
        prepare_process()?;
        ranks.numbers.allow(ranks.ranks).map_err(|error| error.to_string())?;
        if program.needs_executable_stack() {
            let_stacks_have_code();
        }
        let thread_locals = program.thread_locals();
        check_thread_locals(&thread_locals)?;
        let control = program.span().next_multiple_of(PAGE);
        let span = control + control::LEN;
        let mut written: Vec<Range<usize>> = program
            .parts()
            .iter()
            .filter(|part| part.kind == PartKind::Data)
            .map(|part| pages(part.offset, part.len))
            .collect();
        written.push(control..span);
        let mark = mark(&program);
        let interface = program.sonames_answered().iter().find_map(|name| interface_of(name));
        Ok(ProgramImages { program, interface, thread_locals, mark, written, control, span, ranks })
    }

    /// The names of all files that are mapped for a rank, the program's first, and numbers of their builds.
    pub fn builds(&self) -> impl Iterator<Item = (&str, u64)> {
        self.program.builds()
    }

    /// The files that are mapped for a rank whose images begin at `base`, each with the distance of its addresses from
    /// those in the file.
    pub fn objects_at(&self, base: usize) -> impl Iterator<Item = (&Path, usize)> {
        self.program.objects_at(self.fixed().unwrap_or(base))
    }

    /// Where the control block of a rank is: an offset in bytes.
    pub fn control(&self) -> usize {
        self.control
    }

    /// How many mappings of the system a rank takes, beside its slot's own.
    pub fn mappings(&self) -> usize {
        self.program.mappings()
    }

    /// The first address of the program.
    pub fn entry(&self, base: usize) -> usize {
        self.program.entry(base)
    }

    /// Which MPI the program was built for.
    pub fn interface(&self) -> Option<Interface> {
        self.interface
    }

    /// Tells MPI where the program of the rank that calls has copies of MPI's data.
    ///
    /// # Panics
    /// If no rank calls.
    pub fn bind(&self, base: usize) {
        let Some(interface) = self.interface else { return };
        let place = |name: &str| self.program.symbol(name).map(|offset| base + offset);
        talisman_abi::bind(interface, place).expect("a rank calls");
    }

    /// Memory of zeroes for what this executable keeps of a rank.
    ///
    /// # Safety
    /// As for [`Images::map_again`].
    unsafe fn map_control(&self, base: usize) -> io::Result<()> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
        // SAFETY: the caller's promise.
        unsafe { mmap_anonymous((base + self.control) as *mut _, control::LEN, access, flags) }?;
        Ok(())
    }

    fn control_at(&self, base: usize) -> *mut Control {
        (base + self.control) as *mut Control
    }

    fn state_at(&self, base: usize) -> *mut State {
        // SAFETY: computes an address only.
        unsafe { &raw mut (*self.control_at(base)).state }
    }
}

/// What has to be there before a program is read.
fn prepare_process() -> Result<(), String> {
    streams::prepare()?;
    if !prepare_streams() {
        return Err(format!(
            "version {} of the C library has streams (FILE) that are not known",
            library_version()
        ));
    }
    set_hooks(Hooks {
        give_way: waits::give_way,
        sleep: waits::sleep,
        process_memory: use_process_heap,
        world: replayed_values::words,
        world_bytes: replayed_values::bytes,
        runs_again,
        flush: control::flush,
        begin_child: redirect::begin_child,
    });
    answer_names(answers::answer);
    answer_later(&answers::Later);
    prepare_names();
    prepare_children();
    Ok(())
}

/// That of the C library.
fn library_version() -> String {
    // SAFETY: takes nothing, and gives a string that stays.
    unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy().into_owned()
}

/// Whole pages.
fn pages(offset: usize, len: usize) -> Range<usize> {
    offset / PAGE * PAGE..(offset + len).next_multiple_of(PAGE)
}

/// What is where, of which builds.
fn mark(program: &Program) -> u64 {
    let mut hasher = DefaultHasher::new();
    program.builds().for_each(|build| build.hash(&mut hasher));
    program.parts().iter().for_each(|part| (part.offset, part.len).hash(&mut hasher));
    hasher.finish()
}

/// Programs' thread-locals are copied to below the thread pointer, where this executable leaves room.
fn check_thread_locals(own: &ThreadLocals) -> Result<(), String> {
    let room = pad_room();
    if own.len > room {
        return Err(format!(
            "the program has {} bytes of thread-locals, and there is room for {room}",
            own.len
        ));
    }
    Ok(())
}

/// The addresses of the slot of the rank whose memory is allocated from.
fn slot() -> Range<usize> {
    let found =
        SlotSpace::get().ok().and_then(|space| Some((space.address(thread::running()?).ok()?, space)));
    found.map_or(0..0, |(start, space)| start..start + space.layout().slot())
}

/// Those of its stack.
fn stack() -> Range<usize> {
    let start = slot().start;
    let layout = SlotSpace::get().map(SlotSpace::layout);
    layout.map_or(0..0, |layout| start + layout.guard..start + layout.header_start())
}

/// Of the rank whose memory is allocated from.
fn complain(what: &str, error: &dyn fmt::Display) {
    let rank = thread::running().unwrap_or_default();
    on_process_heap(|| eprintln!("rank {rank}: {what}: {error}"));
}

impl Images for ProgramImages {
    fn span(&self) -> usize {
        self.span
    }

    fn mark(&self) -> u64 {
        self.mark
    }

    fn fixed(&self) -> Option<usize> {
        self.program.fixed().map(|fixed| fixed.start)
    }

    fn written(&self) -> &[Range<usize>] {
        &self.written
    }

    unsafe fn load(&self, base: usize) -> Result<(), ImagesError> {
        let rank = thread::running().unwrap_or_default();
        // SAFETY: the room of a slot, by the caller's promise; the block stays there as long as the rank.
        unsafe {
            self.map_control(base)?;
            let control = self.control_at(base);
            let mut state = State::new(&self.program, base);
            state.number_descriptors(self.ranks.numbers.of_rank(rank));
            state.set_stack(stack());
            state.set_owner(rank);
            control.write(Control::new(rank, state, self.ranks.is_labelled));
            (*control).streams.open()?;
            // What an executable has copied of the C library's variables are the rank's streams.
            (*control).streams.exchange();
            let loaded = on_process_heap(|| self.program.load(base));
            (*control).streams.exchange();
            loaded.map_err(|error| ImagesError::Load(error.to_string()))
        }
    }

    unsafe fn map_again(&self, base: usize) -> io::Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            self.map_control(base)?;
            self.program.map_again(base).map_err(io::Error::other)
        }
    }

    fn arrive(&self, base: usize) {
        // SAFETY: the program is mapped there until it leaves.
        on_process_heap(|| unsafe { self.program.register_frames(base) });
        // SAFETY: as below.
        unsafe {
            (*self.control_at(base)).streams.renew();
            (*self.control_at(base)).noted = u64::MAX;
        }
        // SAFETY: the rank has arrived with all its memory, which is allocated from.
        if let Err(error) = unsafe { files_arrive(self.state_at(base)) } {
            complain("a file that it has open", &error);
        }
    }

    fn leave(&self, base: usize) {
        // SAFETY: the rank is at its addresses and does not run.
        if let Err(error) = unsafe { files_depart(self.state_at(base), slot()) } {
            complain("a file that it has open", &error);
        }
        on_process_heap(|| self.program.forget_frames(base));
    }

    fn stays(&self, base: usize) -> bool {
        // SAFETY: the rank is at its addresses and does not run.
        unsafe { (*self.state_at(base)).has_live_threads() }
    }

    fn end(&self, base: usize) {
        // SAFETY: as in `leave`.
        unsafe { files_end(self.state_at(base), slot()) };
        on_process_heap(|| self.program.forget_frames(base));
    }

    fn note(&self, base: usize) {
        // SAFETY: as in `leave`.
        let noted = unsafe { &raw mut (*self.control_at(base)).noted };
        // Builds for tests pack a rank twice, to see whether that is the same. In between others, on other nodes, may
        // have written to a file that it has open, too. So it is not asked twice where no rank of this process has run.
        // SAFETY: a number of the control block.
        if unsafe { noted.replace(RUNS.load(Ordering::Relaxed)) } == RUNS.load(Ordering::Relaxed)
            && cfg!(debug_assertions)
        {
            return;
        }
        // Where nothing has been opened since the last time, nothing changes in the rank's memory.
        let slot = slot();
        // SAFETY: as in `leave`.
        unsafe { files_settle(self.state_at(base)) };
        let open = on_process_heap(|| files_open(slot));
        // SAFETY: as in `leave`.
        unsafe { files_note(self.state_at(base), &open) };
        on_process_heap(|| drop(open));
    }

    fn noted(&self, base: usize) -> Vec<(Vec<u8>, u64)> {
        // SAFETY: the rank is at its addresses and does not run.
        unsafe { files_noted(self.state_at(base)) }
    }

    fn restored(&self, base: usize, noted: &Noted) -> Result<(), String> {
        // SAFETY: as above.
        match unsafe { files_restored(self.state_at(base), |file| noted.get(file).copied()) } {
            // It would go on from what was written later.
            Err(error @ FilesError::Undo { .. }) => Err(on_process_heap(|| error.to_string())),
            Err(error) => {
                complain("a file that it writes to", &error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn go_on(&self, base: usize) {
        // SAFETY: as above.
        unsafe { files_go_on(self.state_at(base)) };
    }

    fn held(&self, base: usize) -> Held {
        // SAFETY: the rank is at its addresses and does not run.
        let state = unsafe { &mut *self.state_at(base) };
        if !state.take_change() {
            return Held::AsBefore;
        }
        let slot = slot();
        on_process_heap(|| state.held(slot).map_or(Held::No, |reason| Held::Yes(reason.to_string())))
    }

    fn is_held_anew(&self, base: usize) -> bool {
        // SAFETY: as above; a rank that runs has given itself up.
        unsafe { (*self.state_at(base)).has_change() }
    }

    fn locks(&self, base: usize) -> bool {
        // SAFETY: as in `leave`.
        unsafe { (*self.state_at(base)).locks() }
    }

    fn writes(&self, base: usize) -> bool {
        // SAFETY: the rank is at its addresses and does not run.
        unsafe { (*self.state_at(base)).writes() }
    }

    fn resume(&self, base: usize) {
        // The PE's thread alone counts: a node with ranks has one.
        RUNS.store(RUNS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        slice::begin();
        // SAFETY: written by `load`; the slot is in place, and its rank does not run yet. The room below the thread
        // pointer was measured.
        unsafe {
            self.thread_locals.enter(base);
            (*self.control_at(base)).streams.exchange();
            enter(self.state_at(base));
        }
    }

    fn suspend(&self, base: usize) {
        leave();
        // SAFETY: as in `resume`, and the rank does not run any more.
        unsafe {
            (*self.control_at(base)).streams.exchange();
            self.thread_locals.leave(base);
        }
    }

    fn function_at(&self, base: usize, address: usize) -> Option<String> {
        match address.checked_sub(base).filter(|offset| *offset < self.control) {
            Some(offset) => self.program.name_of(offset).map(|(_, symbol, _)| symbol.to_owned()),
            None => function_at(address),
        }
    }

    fn place_of(&self, base: usize, saved: &Saved, stack: &[u8]) -> Option<String> {
        let registers = Registers::new(saved.goes_on_at, &saved.registers);
        place_of(base, &registers, &Stack::new(stack))
    }
}

impl fmt::Debug for ProgramImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramImages").field("mark", &self.mark).field("span", &self.span).finish()
    }
}
