//! A library that is loaded later, with what it needs besides: read and resolved.

use crate::closure::{self, Closure};
use crate::elf::{Elf, Role};
use crate::functions::Functions;
use crate::object::Object;
use crate::order::dependencies_first;
use crate::place::place_objects;
use crate::plan::{Plan, near_objects};
use crate::resolve::Resolver;
use crate::scope::Scope;
use crate::thread_locals::{Block, Blocks};
use crate::{Imports, LoadError, PAGE, Program};

use super::records::{Late, Records};

/// What is to be added to a rank's image.
pub struct Addition {
    pub objects: Vec<Object>,
    /// The same, to be written down.
    pub late: Vec<Late>,
    pub plan: Plan,
    pub functions: Functions,
    /// Where what follows may begin.
    pub end: usize,
}

/// A library that a rank wants.
pub enum Wanted {
    /// It is there: its number among the rank's objects.
    Known(usize),
    New(Box<Addition>),
}

/// Who wants it.
pub struct Request<'a> {
    pub program: &'a Program,
    /// What the rank has loaded later so far.
    pub late: &'a [Late],
    pub name: &'a str,
    /// The number of the object that asks.
    pub asking: usize,
    pub is_global: bool,
    pub batch: usize,
    /// The first free offset.
    pub start: usize,
}

impl Request<'_> {
    pub fn prepare(&self, imports: &dyn Imports) -> Result<Wanted, LoadError> {
        let known = self.read_known()?;
        let first = known.len();
        let (closure, library) =
            closure::read_later(known, self.name, self.asking, self.program.search(), imports)?;
        if library < first {
            return Ok(Wanted::Known(library));
        }
        self.add(closure, first, imports).map(|addition| Wanted::New(Box::new(addition)))
    }

    /// The rank's objects so far.
    fn read_known(&self) -> Result<Vec<Elf>, LoadError> {
        let own = self.program.all_objects().iter().map(|object| &*object.path);
        let paths = own.chain(self.late.iter().map(|late| &*late.path));
        let role = |number| if number == 0 { Role::FixedProgram } else { Role::Library };
        paths.enumerate().map(|(number, path)| Elf::open(path, role(number))).collect()
    }

    fn add(&self, closure: Closure, first: usize, imports: &dyn Imports) -> Result<Addition, LoadError> {
        let Closure { objects, needs, mut shared, .. } = closure;
        let (_, new) = objects.split_at(first);
        let start = self.start + Records::len_of(new.iter().map(|elf| &*elf.path));
        let (own, end) = place_objects(new, start.next_multiple_of(PAGE))?;
        let mut offsets: Vec<usize> = self.program.all_objects().iter().map(|object| object.offset).collect();
        offsets.extend(self.late.iter().map(|late| late.offset).chain(own.iter().copied()));
        let visible = self.visible(first, &needs);
        let scope = Scope::of_visible(&objects, |object| visible[object])?;
        let cells = self.program.cells();
        let mut resolver = Resolver::new(&objects, &offsets, &scope, cells, imports, &mut shared);
        let near = near_objects(&mut resolver, first)?;
        let mut blocks = self.blocks();
        blocks.add(new, &near[first..], end)?;
        let end = blocks.end.next_multiple_of(PAGE);
        self.check_room(&objects[first], end)?;
        check_near(&objects, &near, &blocks)?;
        let order = order_of_new(&needs, first);
        let plan = Plan::of_later(&mut resolver, &blocks, &order)?;
        resolver.check_missing()?;
        let functions = Functions::of(&objects, &offsets, &order, &plan)?;
        let late = (first..objects.len()).map(|object| Late {
            path: objects[object].path.clone(),
            offset: offsets[object],
            thread_locals: blocks.image(object),
            batch: self.batch,
            is_global: self.is_global,
        });
        let late: Vec<Late> = late.collect();
        let new = objects.into_iter().skip(first).zip(own);
        let objects: Result<Vec<Object>, LoadError> =
            new.map(|(elf, offset)| Object::new(elf, offset)).collect();
        Ok(Addition { objects: objects?, late, plan, functions, end })
    }

    /// Thread-locals so far.
    fn blocks(&self) -> Blocks {
        let mut blocks = self.program.blocks().clone();
        self.late.iter().for_each(|late| blocks.add_known(late.thread_locals));
        blocks
    }

    fn check_room(&self, library: &Elf, end: usize) -> Result<(), LoadError> {
        let room = self.program.room_for_later();
        if end <= room.end {
            return Ok(());
        }
        Err(LoadError::TooLarge {
            path: library.path.clone(),
            room: "addresses for libraries that are loaded later",
            bytes: end - room.start,
            limit: room.len(),
        })
    }

    /// Whether the library may use an object: the program's, those that are for all, and what it needs itself.
    fn visible(&self, first: usize, needs: &[Vec<usize>]) -> Vec<bool> {
        let program = self.program.all_objects().len();
        let is_global = |object: usize| object < program || object >= first;
        let mut visible: Vec<bool> = (0..needs.len()).map(is_global).collect();
        for (number, late) in self.late.iter().enumerate() {
            visible[program + number] |= late.is_global;
        }
        let mut next: Vec<usize> = (first..needs.len()).collect();
        let mut seen = vec![false; needs.len()];
        while let Some(object) = next.pop() {
            if !std::mem::replace(&mut seen[object], true) {
                visible[object] = true;
                next.extend(&needs[object]);
            }
        }
        visible
    }
}

/// Thread-locals that are reached from the thread pointer have to be in the pad, which has its length from the
/// beginning.
fn check_near(objects: &[Elf], near: &[bool], blocks: &Blocks) -> Result<(), LoadError> {
    let is_far = |object: &usize| near[*object] && !matches!(blocks.of_objects[*object], Block::Pad(_));
    match (0..objects.len()).find(is_far) {
        None => Ok(()),
        Some(object) => {
            let feature =
                "more initial-exec thread-locals than libraries that are loaded later have room for";
            Err(objects[object].unsupported(feature, "link the program with it (-Wl,--no-as-needed)"))
        }
    }
}

/// Dependencies first; the library that was asked for is the first new one, and comes last.
fn order_of_new(needs: &[Vec<usize>], first: usize) -> Vec<usize> {
    let own = |needs: &Vec<usize>| needs.iter().filter_map(|needed| needed.checked_sub(first)).collect();
    let needs: Vec<Vec<usize>> = needs[first..].iter().map(own).collect();
    dependencies_first(&needs).into_iter().map(|object| first + object).collect()
}
