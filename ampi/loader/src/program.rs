//! A program with its private libraries, read and resolved once per process.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rustix::mm::ProtFlags;

use crate::closure::{self, Closure};
use crate::elf::Role;
use crate::functions::Functions;
use crate::image::{Part, PartKind, map_zeroes, reserve};
use crate::later;
use crate::linker::loaded;
use crate::object::Object;
use crate::order::dependencies_first;
use crate::place::{check_span, place_objects};
use crate::plan::{Plan, near_objects};
use crate::resolve::Resolver;
use crate::scope::Scope;
use crate::search::Search;
use crate::thread_locals::{Blocks, SPARE, ThreadLocals};
use crate::variables::{self, Cells, Variables};
use crate::{BASE_ALIGN, Imports, LoadError, PAGE};

/// A program with its private libraries, read and resolved once per process.
///
/// Every rank is given a copy ([`Program::load`]), at a base of its own. A program is cheap to clone.
#[derive(Clone, Debug)]
pub struct Program(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    objects: Vec<Object>,
    span: usize,
    /// From here on, to the end: variables of the C library, thread-locals, and room for libraries that are loaded
    /// later.
    own_data: usize,
    later: Range<usize>,
    search: Search,
    blocks: Blocks,
    entry: usize,
    answered: Vec<String>,
    passed_over: Vec<LoadError>,
    parts: Vec<Part>,
    plan: Plan,
    functions: Functions,
    thread_locals: ThreadLocals,
    executable_stack: bool,
    variables: Variables,
    cells: Cells,
}

impl Program {
    /// Reads a program and its libraries, and resolves what they refer to.
    ///
    /// Thread-locals of the process's libraries are looked up on the thread that calls.
    ///
    /// # Errors
    /// If the program cannot be run: [`LoadError`] says why, and what to do.
    pub fn prepare(path: &Path, search: &Search, imports: &dyn Imports) -> Result<Program, LoadError> {
        Program::read(path, Role::Program, search, imports)
    }

    /// The same for a program that need not be position-independent. If it is not, it has to be at addresses of its own
    /// ([`Program::fixed`]), with its libraries behind it: a process can have one copy.
    ///
    /// # Errors
    /// As for [`Program::prepare`].
    pub fn prepare_fixed(path: &Path, search: &Search, imports: &dyn Imports) -> Result<Program, LoadError> {
        Program::read(path, Role::FixedProgram, search, imports)
    }

    fn read(path: &Path, role: Role, search: &Search, imports: &dyn Imports) -> Result<Program, LoadError> {
        let Closure { objects, needs, mut shared, answered, passed_over } =
            closure::read(path, role, search, imports)?;
        let (offsets, own_data) = place_objects(&objects, 0)?;
        let scope = Scope::new(&objects)?;
        let cells = Cells::new(own_data, &scope, &offsets)?;
        let mut resolver = Resolver::new(&objects, &offsets, &scope, &cells, imports, &mut shared);
        let near = near_objects(&mut resolver, 0)?;
        let mut blocks = Blocks::place(&objects, &near, own_data + variables::LEN, 0)?;
        let order = dependencies_first(&needs);
        let mut plan = Plan::build(&mut resolver, &blocks, &order)?;
        if resolver.opens_libraries {
            // What references mean is known by now.
            blocks = Blocks::place(&objects, &near, own_data + variables::LEN, SPARE)?;
            plan = Plan::build(&mut resolver, &blocks, &order)?;
        }
        let later = blocks.end.next_multiple_of(PAGE);
        let room = if resolver.opens_libraries { search.room_for_later } else { 0 };
        let span = later.saturating_add(room).next_multiple_of(PAGE);
        check_span(&objects[0], span)?;
        resolver.check_missing()?;
        let functions = Functions::of(&objects, &offsets, &order, &plan)?;
        let entry = objects[0].header.entry;
        let executable_stack = objects.iter().any(|elf| elf.segments.executable_stack);
        let objects: Result<Vec<Object>, LoadError> =
            objects.into_iter().zip(offsets).map(|(elf, offset)| Object::new(elf, offset)).collect();
        let objects = objects?;
        let parts = parts_of(&objects, own_data..span);
        let (variables, thread_locals) = (cells.all(), blocks.pad);
        Ok(Program(Arc::new(Inner {
            objects,
            span,
            own_data,
            later: later..span,
            search: search.clone(),
            blocks,
            entry,
            answered,
            passed_over,
            parts,
            plan,
            functions,
            thread_locals,
            executable_stack,
            variables,
            cells,
        })))
    }

    /// Bytes from the base to the end, whole pages.
    pub fn span(&self) -> usize {
        self.0.span
    }

    /// Where the program has to be loaded to, if it is not position-independent.
    pub fn fixed(&self) -> Option<Range<usize>> {
        let start = self.0.objects[0].start;
        (start != 0).then(|| start..start + self.0.span)
    }

    /// Takes the addresses where the program has to be: to be called once, before it is loaded there. Nothing is to be
    /// done for one that is position-independent.
    ///
    /// # Errors
    /// If this process has something there, such as another copy.
    pub fn reserve_fixed(&self) -> Result<(), LoadError> {
        let Some(Range { start, end }) = self.fixed() else { return Ok(()) };
        if reserve(start..end) {
            return Ok(());
        }
        Err(LoadError::AddressesTaken { path: self.0.objects[0].path.clone(), start, end })
    }

    /// The program's file and those of its libraries, each with the distance of its addresses from those in the file,
    /// where the image is at `base`: for debuggers.
    pub fn objects_at(&self, base: usize) -> impl Iterator<Item = (&Path, usize)> {
        self.0.objects.iter().map(move |object| (&*object.path, base + object.offset - object.start))
    }

    /// Libraries that the process answers for: which MPI the program wants.
    pub fn sonames_answered(&self) -> &[String] {
        &self.0.answered
    }

    /// Why libraries that should come first ([`Search::preload`]) are not there.
    pub fn passed_over(&self) -> &[LoadError] {
        &self.0.passed_over
    }

    /// Names of the program and its private libraries, each with a number of its build: others have another one.
    pub fn builds(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.objects.iter().map(|object| (object.name.as_str(), object.build))
    }

    /// What is where, in the order of offsets. Between parts may be holes, which stay as they were.
    pub fn parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// How many mappings of the system a copy takes, at most: a process may have 65,530, unless it is told otherwise.
    pub fn mappings(&self) -> usize {
        // Those of variables and thread-locals come behind the objects.
        self.0.objects.iter().map(Object::mappings).sum::<usize>() + 1
    }

    /// Puts a copy of the program to these addresses: all that a dynamic linker does before it calls the first
    /// function. Functions of the program that choose among others (`IFUNC`) are called.
    ///
    /// # Errors
    /// If the base is no multiple of [`BASE_ALIGN`], or the system refuses.
    ///
    /// # Safety
    /// The addresses from `base` on, [`Program::span`] of them, are the caller's to use, and nothing there is needed
    /// any more. What the program's own functions do is up to the program.
    pub unsafe fn load(&self, base: usize) -> Result<(), LoadError> {
        if self.fixed().is_some_and(|fixed| fixed.start != base) {
            return Err(LoadError::FixedAddress { path: self.0.objects[0].path.clone() });
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.map_again(base)?;
            self.0.plan.carry_out(base);
        }
        Ok(())
    }

    /// Maps the program without giving values to its variables: after it has moved here, or at a restart. Then its
    /// touched pages, which come from elsewhere, are put there. Pages that were never touched are the file's. All of it
    /// may be moved to where it has to be before it runs.
    ///
    /// # Errors
    /// As for [`Program::load`].
    ///
    /// # Safety
    /// As for [`Program::load`].
    pub unsafe fn map_again(&self, base: usize) -> Result<(), LoadError> {
        if !base.is_multiple_of(BASE_ALIGN) || base.checked_add(self.0.span).is_none() {
            return Err(LoadError::Base { base });
        }
        for object in &self.0.objects {
            // SAFETY: the caller's promise; objects are inside of the span.
            unsafe { object.map(base) }?;
        }
        let own = base + self.0.own_data..base + self.0.span;
        // SAFETY: the caller's promise.
        let mapped = unsafe { map_zeroes(own, ProtFlags::READ | ProtFlags::WRITE) };
        mapped.map_err(|error| LoadError::Map { path: self.0.objects[0].path.clone(), error })
    }

    /// Where the program begins: expects the stack that the kernel would give it ([`crate::libc::run`]).
    pub fn entry(&self, base: usize) -> usize {
        base + self.0.entry
    }

    /// Functions to be called before `main`, with its arguments, dependencies first.
    pub fn initializers(&self, base: usize) -> Vec<usize> {
        self.0.functions.before.iter().map(|function| function.address(base)).collect()
    }

    /// Functions to be called at the end, after what was registered with `atexit`.
    pub fn finalizers(&self, base: usize) -> Vec<usize> {
        self.0.functions.after.iter().map(|function| function.address(base)).collect()
    }

    pub(crate) fn initializer(&self, base: usize, number: usize) -> Option<usize> {
        self.0.functions.before.get(number).map(|function| function.address(base))
    }

    pub(crate) fn finalizer(&self, base: usize, number: usize) -> Option<usize> {
        self.0.functions.after.get(number).map(|function| function.address(base))
    }

    /// Makes the copy at `base` known to those who look for code by its address: exceptions, `dladdr` …. To be called
    /// when it was loaded, or mapped again and its pages are there: libraries that it has loaded later are mapped then.
    ///
    /// # Safety
    /// The program is mapped there until [`Program::forget_frames`].
    pub unsafe fn register_frames(&self, base: usize) {
        // SAFETY: the caller's promise.
        let (late, missing) = unsafe { later::map_again(self, base) };
        loaded::add(base, self, late, missing);
    }

    /// Forgets the copy at `base`, before it leaves.
    pub fn forget_frames(&self, base: usize) {
        loaded::remove(base);
    }

    /// Thread-locals that have to be swapped when another rank runs.
    pub fn thread_locals(&self) -> ThreadLocals {
        self.0.thread_locals
    }

    /// Where thread-locals are in the image, the pad first: those of libraries that are loaded later are elsewhere.
    pub(crate) fn all_thread_locals(&self) -> Range<usize> {
        self.0.blocks.pad.offset..self.0.blocks.end
    }

    /// First values of thread-locals: the place in the image, where they are copied from, and how many bytes.
    pub(crate) fn first_values(&self) -> &[(usize, usize, usize)] {
        &self.0.plan.first_values
    }

    /// Whether the stack has to be executable: functions inside of functions are passed by code on it (Fortran's
    /// internal procedures, GNU C's nested functions).
    pub fn needs_executable_stack(&self) -> bool {
        self.0.executable_stack
    }

    /// Where the C library's variables are that each rank has its own of.
    pub fn variables(&self) -> Variables {
        self.0.variables
    }

    /// The offset of a symbol that the program or a private library defines.
    pub fn symbol(&self, name: &str) -> Option<usize> {
        let found = |object: &Object| object.names.find(name.as_bytes()).map(|value| object.offset + value);
        self.0.objects.iter().find_map(found).or_else(|| self.0.cells.place(name.as_bytes()))
    }

    /// Object, nearest symbol before, and the distance from it, of a place in the program. Functions that are not
    /// exported are known, too, if the file was not stripped: then its full table is read at the first call. Not to be
    /// called in a handler of a signal.
    pub fn name_of(&self, offset: usize) -> Option<(&str, &str, usize)> {
        let object = self.object_at(offset)?;
        let (symbol, distance) = object.name_at(offset - object.offset)?;
        Some((&object.name, symbol, distance))
    }

    pub(crate) fn object_at(&self, offset: usize) -> Option<&Object> {
        self.number_at(offset).map(|number| &self.0.objects[number])
    }

    /// The number of the object that is at this offset.
    pub(crate) fn number_at(&self, offset: usize) -> Option<usize> {
        let after = self.0.objects.partition_point(|object| object.offset <= offset);
        let number = after.checked_sub(1)?;
        let object = &self.0.objects[number];
        (offset - object.offset < object.span).then_some(number)
    }

    /// Where libraries are that are loaded later: offsets in the image.
    pub(crate) fn room_for_later(&self) -> Range<usize> {
        self.0.later.clone()
    }

    pub(crate) fn search(&self) -> &Search {
        &self.0.search
    }

    pub(crate) fn blocks(&self) -> &Blocks {
        &self.0.blocks
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.0.cells
    }

    pub(crate) fn all_objects(&self) -> &[Object] {
        &self.0.objects
    }
}

fn parts_of(objects: &[Object], own_data: Range<usize>) -> Vec<Part> {
    let mut parts: Vec<Part> = objects.iter().flat_map(Object::parts).collect();
    parts.push(Part { offset: own_data.start, len: own_data.len(), kind: PartKind::Data });
    parts
}
