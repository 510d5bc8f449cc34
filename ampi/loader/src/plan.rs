//! All relocations of a program, resolved: what each rank's copy of its data needs to be given.

use crate::elf::{Elf, Kind, Relocation};
use crate::linker;
use crate::resolve::{Original, Resolver, Target};
use crate::thread_locals::{Block, Blocks, thread_pointer};
use crate::{LoadError, Malformed};

/// Of variables that are answered for, so much is copied at most.
const COPY_MAX: usize = 4096;

/// A word of the image: its offset, and its value or the offset that it points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub at: usize,
    pub value: usize,
}

/// What cannot be done before the words are there, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes from another place of the image.
    Copy { at: usize, from: usize, len: usize },
    /// Bytes of the process.
    CopyFromProcess { at: usize, from: usize, len: usize },
    /// What a function of the image returns, plus `addend`.
    Call { at: usize, function: usize, addend: usize },
}

/// Offsets are those in the image.
#[derive(Debug, Default)]
pub struct Plan {
    /// Become the address of the image plus the value.
    pub relative: Vec<Word>,
    /// Become the value, which is the same in all ranks.
    pub fixed: Vec<Word>,
    /// Copies and indirect functions.
    pub steps: Vec<Step>,
    /// Those of `steps` that give thread-locals their first values: places, where from, how many bytes.
    pub first_values: Vec<(usize, usize, usize)>,
}

/// Finds objects whose thread-locals are reached from the thread pointer, by this object or one after it.
pub fn near_objects(resolver: &mut Resolver<'_>, first: usize) -> Result<Vec<bool>, LoadError> {
    let objects = resolver.objects;
    let mut near = vec![false; objects.len()];
    for (i, elf) in objects.iter().enumerate().skip(first) {
        for relocation in elf.relocations().map_err(|fault| elf.damaged(fault))? {
            if relocation.kind != Kind::ThreadOffset {
                continue;
            }
            if relocation.symbol == 0 {
                near[i] = true;
            } else if let Target::ThreadLocal { object, .. } = resolver.target(i, relocation.symbol)? {
                near[object] = true;
            }
        }
    }
    Ok(near)
}

impl Plan {
    /// `order`: the objects, dependencies first.
    pub fn build(resolver: &mut Resolver<'_>, blocks: &Blocks, order: &[usize]) -> Result<Plan, LoadError> {
        let mut builder = Builder { plan: Plan::default(), blocks, copies: Vec::new(), calls: Vec::new() };
        for object in order {
            builder.add_object(resolver, *object)?;
        }
        for (at, value) in resolver.cells.values() {
            builder.plan.fixed.push(Word { at, value });
        }
        for object in 0..resolver.objects.len() {
            builder.add_first_values(resolver, object)?;
        }
        Ok(builder.plan)
    }

    /// For objects that are loaded later: nothing of the others is given values again.
    pub fn of_later(
        resolver: &mut Resolver<'_>,
        blocks: &Blocks,
        order: &[usize],
    ) -> Result<Plan, LoadError> {
        let mut builder = Builder { plan: Plan::default(), blocks, copies: Vec::new(), calls: Vec::new() };
        for object in order {
            builder.add_object(resolver, *object)?;
        }
        for object in order {
            builder.add_first_values(resolver, *object)?;
        }
        Ok(builder.plan)
    }
}

struct Builder<'a> {
    plan: Plan,
    blocks: &'a Blocks,
    /// Of the object that is looked at.
    copies: Vec<Step>,
    calls: Vec<Step>,
}

impl Builder<'_> {
    fn add_object(&mut self, resolver: &mut Resolver<'_>, object: usize) -> Result<(), LoadError> {
        let (elf, offset) = (&resolver.objects[object], resolver.offsets[object]);
        let damaged = |fault| elf.damaged(fault);
        for (at, value) in elf.compact_relocations().map_err(damaged)? {
            check_place(elf, at, 8)?;
            self.relative(offset + at, offset.wrapping_add(value));
        }
        for relocation in elf.relocations().map_err(damaged)? {
            check_place(elf, relocation.at, relocation.kind.len())?;
            self.add(resolver, object, relocation)?;
        }
        // A function that chooses may look at copies.
        self.plan.steps.append(&mut self.copies);
        self.plan.steps.append(&mut self.calls);
        Ok(())
    }

    fn add(&mut self, resolver: &mut Resolver<'_>, object: usize, r: Relocation) -> Result<(), LoadError> {
        let offset = resolver.offsets[object];
        let at = offset.wrapping_add(r.at);
        match r.kind {
            Kind::None => {}
            Kind::Relative => self.relative(at, offset.wrapping_add(r.addend)),
            Kind::Symbol | Kind::Call => match target(resolver, object, r)? {
                Target::Image(to) => self.relative(at, to.wrapping_add(r.addend)),
                Target::Fixed(to) => self.fixed(at, to.wrapping_add(r.addend)),
                Target::Indirect(function) => self.call(at, function, r.addend),
                Target::ThreadLocal { value, .. } => self.fixed(at, value.wrapping_add(r.addend)),
                Target::Nothing => self.fixed(at, 0),
            },
            Kind::Indirect => {
                let function = resolver.indirect(object, r.addend)?;
                self.call(at, function, 0);
            }
            Kind::Copy => self.copy(resolver, object, r)?,
            Kind::Module | Kind::ModuleOffset | Kind::ThreadOffset | Kind::ThreadDescriptor => {
                self.thread_local(resolver, object, at, r)?;
            }
            Kind::Other(number) => {
                let feature = format!("relocations of kind {number}");
                return Err(resolver.objects[object].unsupported(feature, "compile it with -fPIC or -fPIE"));
            }
        }
        Ok(())
    }

    fn thread_local(
        &mut self,
        resolver: &mut Resolver<'_>,
        object: usize,
        at: usize,
        r: Relocation,
    ) -> Result<(), LoadError> {
        let found = if r.symbol == 0 {
            Target::ThreadLocal { object, value: 0 }
        } else {
            resolver.target(object, r.symbol)?
        };
        let (block, value) = match found {
            Target::ThreadLocal { object, value } => (self.blocks.of_objects[object], value),
            // A variable of the process's libraries: where it is from the thread pointer is the same in all threads.
            Target::Fixed(address) => (Block::Pad(thread_pointer().wrapping_sub(address)), 0),
            Target::Nothing => (Block::Nowhere, 0),
            Target::Image(_) | Target::Indirect(_) => {
                let fault = Malformed { what: "a thread-local is something else", at: r.at };
                return Err(resolver.objects[object].damaged(fault));
            }
        };
        self.place_thread_local(at, r.kind, block, value.wrapping_add(r.addend));
        Ok(())
    }

    /// See [`linker::tls`] for what these words are.
    fn place_thread_local(&mut self, at: usize, kind: Kind, block: Block, value: usize) {
        let near = |distance: usize| value.wrapping_sub(distance);
        match (kind, block) {
            (Kind::Module, Block::Image(block)) => self.relative(at, block),
            (Kind::Module, Block::Pad(distance)) => self.fixed(at, distance.wrapping_neg()),
            (Kind::ModuleOffset, _) => self.fixed(at, value),
            (Kind::ThreadOffset, Block::Pad(distance)) => self.fixed(at, near(distance)),
            (Kind::ThreadDescriptor, Block::Pad(distance)) => {
                self.fixed(at, linker::tls::near_descriptor());
                self.fixed(at + 8, near(distance));
            }
            (Kind::ThreadDescriptor, Block::Image(block)) => {
                self.fixed(at, linker::tls::far_descriptor());
                self.relative(at + 8, block.wrapping_add(value));
            }
            (Kind::ThreadDescriptor, Block::Nowhere) => {
                self.fixed(at, linker::tls::far_descriptor());
                self.fixed(at + 8, 0);
            }
            // A weak reference without a definition.
            _ => self.fixed(at, 0),
        }
    }

    fn copy(&mut self, resolver: &mut Resolver<'_>, object: usize, r: Relocation) -> Result<(), LoadError> {
        let elf = &resolver.objects[object];
        let size = elf.symbol(r.symbol).map_err(|fault| elf.damaged(fault))?.size;
        check_place(elf, r.at, size)?;
        let at = resolver.offsets[object] + r.at;
        match resolver.original(object, r.symbol)? {
            Original::Image(from, len) => {
                self.copies.push(Step::Copy { at, from, len: len.min(size) });
            }
            Original::Process(from) if size <= COPY_MAX => {
                self.copies.push(Step::CopyFromProcess { at, from, len: size });
            }
            Original::Process(_) => {
                let feature = format!("a copy of a shared variable of {size} bytes");
                return Err(elf.unsupported(feature, "compile it with -fPIE"));
            }
            Original::Nothing => {}
        }
        Ok(())
    }

    /// They may have been relocated, so they are copied from where they were loaded to.
    fn add_first_values(&mut self, resolver: &Resolver<'_>, object: usize) -> Result<(), LoadError> {
        let elf = &resolver.objects[object];
        let (Some(tls), Some(at)) = (elf.segments.thread_locals, self.blocks.image(object)) else {
            return Ok(());
        };
        if tls.file_len > 0 {
            elf.bytes_at(tls.at, tls.file_len).map_err(|fault| elf.damaged(fault))?;
            let from = resolver.offsets[object] + tls.at;
            self.plan.steps.push(Step::Copy { at, from, len: tls.file_len });
            self.plan.first_values.push((at, from, tls.file_len));
        }
        Ok(())
    }

    fn relative(&mut self, at: usize, value: usize) {
        self.plan.relative.push(Word { at, value });
    }

    fn fixed(&mut self, at: usize, value: usize) {
        self.plan.fixed.push(Word { at, value });
    }

    fn call(&mut self, at: usize, function: usize, addend: usize) {
        self.calls.push(Step::Call { at, function, addend });
    }
}

fn target(resolver: &mut Resolver<'_>, object: usize, r: Relocation) -> Result<Target, LoadError> {
    match (r.symbol, r.kind) {
        // The beginning of the object.
        (0, _) => Ok(Target::Image(resolver.offsets[object])),
        (symbol, Kind::Call) => resolver.called(object, symbol),
        (symbol, _) => resolver.target(object, symbol),
    }
}

/// Relocations are for data alone, and inside of it.
fn check_place(elf: &Elf, at: usize, len: usize) -> Result<(), LoadError> {
    if len == 0 {
        return Ok(());
    }
    match elf.segments.holding(at, len) {
        Some(segment) if segment.writable => Ok(()),
        Some(_) => Err(elf.unsupported("relocations in its code", "compile all of it with -fPIC or -fPIE")),
        None => Err(elf.damaged(Malformed { what: "a relocation lies outside", at })),
    }
}
