//! A process with several ranks of one program, which take turns when they yield.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use talisman_loader::libc::{self as rank_libc, Ended, Hooks, Numbers, State};
use talisman_loader::{
    BASE_ALIGN, Imports, LoadError, PAGE, PartKind, Program, Search, answer_names, pad_room,
};
use talisman_observe::mutations;

use crate::mistakes::MISTAKES;
use crate::switch::{prepare, switch};

const STACK: usize = 1 << 20;

/// A rank: its memory is `[stack][state][program]`.
struct Rank {
    program: Program,
    base: usize,
    state: *mut State,
    arguments: Vec<CString>,
    stack_pointer: usize,
    host: usize,
    ended: Option<Ended>,
}

thread_local! {
    static RUNNING: Cell<*mut Rank> = const { Cell::new(null_mut()) };
    static IN_PROCESS: Cell<bool> = const { Cell::new(false) };
}

/// What this process answers.
struct Answers;

extern "C" fn answer(x: i32) -> i32 {
    x * 100
}

#[repr(align(4096))]
struct Variable([i32; 1024]);
static VARIABLE: Variable = Variable([31; 1024]);

impl Imports for Answers {
    fn answers_for(&self, soname: &str) -> bool {
        soname == "libanswered_lib.so"
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        match name {
            "answer" => Some(answer as *const () as usize),
            "answer_variable" => Some(VARIABLE.0.as_ptr() as usize),
            _ => None,
        }
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        rank_libc::symbol(name)
    }
}

/// [`main`] with a deliberate mistake of the loader, which is named first.
pub fn mistaken(arguments: &[String]) -> i32 {
    let [name, rest @ ..] = arguments else { panic!("MISTAKE RANKS MODE PROGRAM") };
    let mistake = MISTAKES.into_iter().find(|mistake| mistake == name);
    mutations::choose(Some(mistake.expect("a mistake of the list")));
    main(rest)
}

/// `RANKS MODE PROGRAM [ARGUMENTS]`: each rank gets its number as the first argument, the others after it. Mode
/// `move`: whenever a rank yields, its program is taken away and put back. Mode `restore`: the same, and files in the
/// folder that is the next argument are written to after a copy was made. The sum of all statuses is returned.
pub fn main(arguments: &[String]) -> i32 {
    let [ranks, mode, path, rest @ ..] = arguments else { panic!("RANKS MODE PROGRAM") };
    let ranks: usize = ranks.parse().expect("a number of ranks");
    // What comes before the libraries of ranks is not to come before those of this process.
    let of_ranks = |name: &str| std::env::var_os(if name == "LD_PRELOAD" { "RANKS_PRELOAD" } else { name });
    let search = Search::from_variables(of_ranks);
    let program = match Program::prepare(Path::new(path), &search, &Answers) {
        Err(LoadError::FixedAddress { .. }) => Program::prepare_fixed(Path::new(path), &search, &Answers),
        other => other,
    };
    let program = match program {
        Ok(program) => program,
        Err(error) => panic!("{error}"),
    };
    assert!(program.thread_locals().len <= pad_room(), "{:?}, {}", program.thread_locals(), pad_room());
    assert!(rank_libc::set_hooks(Hooks {
        give_way,
        sleep: |_| give_way(),
        process_memory,
        world: |read| read(),
        world_bytes: |place, read| read(place),
        runs_again: || false,
        flush: || {},
        begin_child: || {},
    }));
    assert!(answer_names(|name| Answers.symbol(name).or_else(|| Answers.fallback(name))));
    let mut ranks: Vec<Box<Rank>> =
        (0..ranks).map(|number| Rank::new(&program, path, number, rest)).collect();
    check_words(&ranks);
    while ranks.iter().any(|rank| rank.ended.is_none()) {
        for rank in ranks.iter_mut().filter(|rank| rank.ended.is_none()) {
            rank.resume();
            if mode != "stay" && rank.ended.is_none() {
                rank.go_and_come_back((mode == "restore").then(|| Path::new(&rest[0])));
            }
        }
    }
    ranks.iter().map(|rank| rank.status()).sum()
}

/// No word of a copy of the program points into another copy: a relocation that was forgotten, or done for another rank.
fn check_words(ranks: &[Box<Rank>]) {
    for (number, rank) in ranks.iter().enumerate() {
        let words = rank.touched().into_iter().flat_map(|(at, page)| {
            let words = page.as_chunks::<8>().0.iter().map(|word| usize::from_ne_bytes(*word));
            words.enumerate().map(move |(k, word)| (at + 8 * k, word)).collect::<Vec<_>>()
        });
        for (at, word) in words {
            let other = ranks.iter().position(|other| other.image().contains(&word));
            let place = at - rank.base;
            assert!(
                other.is_none_or(|other| other == number),
                "word {place:#x} of rank {number} is of {other:?}"
            );
        }
    }
}

/// Called by a rank, in pairs.
fn process_memory(process: bool) {
    assert_ne!(IN_PROCESS.replace(process), process, "calls come in pairs");
}

/// Called by a rank.
fn give_way() {
    let rank = RUNNING.get();
    // SAFETY: the running rank, which `resume` has switched to.
    unsafe { switch(&raw mut (*rank).stack_pointer, (*rank).host) };
}

extern "sysv64" fn run(rank: usize) -> ! {
    let rank = rank as *mut Rank;
    // SAFETY: the running rank.
    unsafe {
        let arguments: Vec<&CStr> = (*rank).arguments.iter().map(|text| &text[..]).collect();
        let entry = (*rank).program.entry((*rank).base);
        let environment = [c"LOADER_TEST=given", c"PATH=/usr/bin:/bin"];
        (*rank).ended = rank_libc::run(entry, &arguments, &environment);
        assert!((*rank).ended.is_some(), "memory for arguments");
        switch(&raw mut (*rank).stack_pointer, (*rank).host);
    }
    unreachable!("a rank that has ended is not resumed");
}

impl Rank {
    fn new(program: &Program, path: &str, number: usize, rest: &[String]) -> Box<Rank> {
        let state_len = size_of::<State>().next_multiple_of(BASE_ALIGN);
        let start = reserve(STACK + state_len + program.span());
        let (state, base) = ((start + STACK) as *mut State, start + STACK + state_len);
        if let Err(error) = program.reserve_fixed() {
            panic!("{error}");
        }
        let base = program.fixed().map_or(base, |fixed| fixed.start);
        access(start, STACK + state_len);
        // SAFETY: addresses that were reserved for it.
        unsafe {
            program.load(base).expect("there is memory");
            program.register_frames(base);
            state.write(State::new(program, base));
            (*state).set_stack(start..start + STACK);
            let numbers = Numbers::for_ranks(8).expect("descriptors for some ranks");
            (*state).number_descriptors(numbers.of_rank(number as u32));
        }
        let own = [path.to_owned(), number.to_string()];
        let arguments =
            own.iter().chain(rest).map(|text| CString::new(&text[..]).expect("no zero")).collect();
        let mut rank = Box::new(Rank {
            program: program.clone(),
            base,
            state,
            arguments,
            stack_pointer: 0,
            host: 0,
            ended: None,
        });
        // SAFETY: the end of the rank's stack.
        rank.stack_pointer = unsafe { prepare(start + STACK, run, &raw mut *rank as usize) };
        rank
    }

    /// The addresses of its copy of the program.
    fn image(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.program.span()
    }

    /// 100 if it was aborted.
    fn status(&self) -> i32 {
        match self.ended {
            Some(Ended::Exited(status)) => status,
            _ => 100,
        }
    }

    fn resume(&mut self) {
        let (pad, base) = (self.program.thread_locals(), self.base);
        RUNNING.set(self);
        // SAFETY: a rank that waits or begins; the pad is free, as was checked.
        unsafe {
            rank_libc::enter(self.state);
            pad.enter(base);
            switch(&raw mut self.host, self.stack_pointer);
            pad.leave(base);
        }
        rank_libc::leave();
    }

    /// Takes the program's touched pages away, forgets where they were, and puts them back. `folder`: what happens
    /// there meanwhile has to be undone.
    fn go_and_come_back(&mut self, folder: Option<&Path>) {
        // SAFETY: the rank does not run.
        if let Some(reason) = unsafe { (*self.state).held(file_range()) } {
            eprintln!("held: {reason}");
            return;
        }
        let (base, span) = (self.base, self.program.span());
        let pages = self.touched();
        let range = base - BASE_ALIGN..base + span;
        // SAFETY: the rank does not run.
        unsafe {
            match folder {
                None => rank_libc::files_depart(self.state, file_range()).expect("files can be opened again"),
                Some(folder) => self.be_copied(folder),
            }
            self.program.forget_frames(base);
            map(base, span, ProtFlags::empty(), MapFlags::FIXED);
            self.program.map_again(base).expect("there is memory");
            for (at, page) in pages {
                assert!(range.contains(&at));
                std::ptr::copy_nonoverlapping(page.as_ptr(), at as *mut u8, PAGE);
            }
            self.program.register_frames(base);
            rank_libc::files_arrive(self.state).expect("files are there");
            rank_libc::files_restored(self.state, |_| None).expect("files can be cut");
        }
    }

    /// A copy is made, twice, and what the rank has open is lost.
    ///
    /// # Safety
    /// The rank does not run.
    unsafe fn be_copied(&self, folder: &Path) {
        for _ in 0..2 {
            let streams = rank_libc::files_open(file_range());
            // SAFETY: the caller's promise.
            unsafe { rank_libc::files_note(self.state, &streams) };
        }
        // SAFETY: the same.
        unsafe { rank_libc::files_end(self.state, file_range()) };
        let own = format!("cut_{}", self.arguments[1].to_string_lossy());
        for file in std::fs::read_dir(folder).expect("a folder of the test").flatten() {
            let path = file.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own)) {
                let file = File::options().append(true).open(&path).expect("our own file");
                std::io::Write::write_all(&mut &file, b"written later").expect("there is room");
            }
        }
    }

    /// Pages of data that are the rank's own: in memory, and not the file's.
    fn touched(&self) -> Vec<(usize, Vec<u8>)> {
        let map = File::open("/proc/self/pagemap").expect("the list of pages");
        let mut pages = Vec::new();
        for part in self.program.parts().iter().filter(|part| part.kind == PartKind::Data) {
            for at in (self.base + part.offset..).step_by(PAGE).take(part.len / PAGE) {
                let mut entry = [0; 8];
                map.read_exact_at(&mut entry, (at / PAGE * 8) as u64).expect("an entry of the list");
                let entry = u64::from_le_bytes(entry);
                if entry >> 62 != 0 && entry >> 61 & 1 == 0 {
                    // SAFETY: a page of the rank's data.
                    pages.push((at, unsafe { std::slice::from_raw_parts(at as *const u8, PAGE) }.to_vec()));
                }
            }
        }
        pages
    }
}

/// Streams are on the process's heap here, and only one rank has any when it moves.
fn file_range() -> std::ops::Range<usize> {
    let own = [rank_streams_end(c"stdin"), rank_streams_end(c"stdout"), rank_streams_end(c"stderr")];
    let libc = own.iter().min().expect("three of them") & !0xfff_ffff;
    0..libc
}

fn rank_streams_end(name: &CStr) -> usize {
    // SAFETY: a string of C; the C library's variable.
    unsafe { *(libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as *const usize) }
}

fn reserve(len: usize) -> usize {
    // SAFETY: the system chooses addresses where nothing is.
    let at = unsafe { map(0, len + BASE_ALIGN, ProtFlags::empty(), MapFlags::empty()) };
    at.next_multiple_of(BASE_ALIGN)
}

fn access(at: usize, len: usize) {
    // SAFETY: addresses that were reserved.
    unsafe { map(at, len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::FIXED) };
}

unsafe fn map(at: usize, len: usize, access: ProtFlags, flags: MapFlags) -> usize {
    let flags = flags | MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: the caller's promise.
    let mapped = unsafe { mmap_anonymous(at as *mut c_void, len, access, flags) };
    mapped.expect("there is memory") as usize
}
