//! Functions that run before and after a program.

use std::collections::HashMap;
use std::ops::Range;

use crate::LoadError;
use crate::elf::{Elf, Table};
use crate::plan::Plan;

/// A function that is called without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// At this offset in the image.
    Image(usize),
    /// Of the process.
    Fixed(usize),
}

impl Function {
    pub fn address(self, base: usize) -> usize {
        match self {
            Function::Image(offset) => base + offset,
            Function::Fixed(address) => address,
        }
    }
}

/// In the order in which they are called.
#[derive(Debug, Default)]
pub struct Functions {
    pub before: Vec<Function>,
    pub after: Vec<Function>,
}

impl Functions {
    /// `order`: the objects, dependencies first; the program is object 0.
    pub fn of(
        objects: &[Elf],
        offsets: &[usize],
        order: &[usize],
        plan: &Plan,
    ) -> Result<Functions, LoadError> {
        let arrays = Arrays::read(objects, offsets, plan)?;
        let mut functions = Functions::default();
        functions.before.extend(arrays.of(0, offsets, objects[0].dynamic.preinit_array));
        for object in order {
            let (dynamic, offset) = (&objects[*object].dynamic, offsets[*object]);
            functions.before.extend(dynamic.init.map(|at| Function::Image(offset.wrapping_add(at))));
            functions.before.extend(arrays.of(*object, offsets, dynamic.init_array));
        }
        for object in order.iter().rev() {
            let (dynamic, offset) = (&objects[*object].dynamic, offsets[*object]);
            functions.after.extend(arrays.of(*object, offsets, dynamic.fini_array).into_iter().rev());
            functions.after.extend(dynamic.fini.map(|at| Function::Image(offset.wrapping_add(at))));
        }
        Ok(functions)
    }
}

/// Functions of an array that is not relocated, as its addresses are fixed.
fn fixed(array: &[u8], offset: usize) -> impl Iterator<Item = (usize, Function)> {
    let words = array.chunks_exact(8).map(|word| word.try_into().map_or(0, usize::from_le_bytes));
    words.enumerate().map(move |(i, address)| (offset + i * 8, Function::Fixed(address)))
}

/// What arrays of functions have in them when all is relocated, by their offsets in the image.
struct Arrays(HashMap<usize, Function>);

impl Arrays {
    fn read(objects: &[Elf], offsets: &[usize], plan: &Plan) -> Result<Arrays, LoadError> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut known = HashMap::new();
        for (elf, offset) in objects.iter().zip(offsets) {
            let dynamic = &elf.dynamic;
            for table in [dynamic.preinit_array, dynamic.init_array, dynamic.fini_array] {
                if table.len > 0 {
                    let words = elf.bytes_at(table.at, table.len).map_err(|fault| elf.damaged(fault))?;
                    if elf.segments.start != 0 {
                        known.extend(fixed(words.0, offset + table.at));
                    }
                    ranges.push(offset + table.at..offset + table.at + table.len);
                }
            }
        }
        ranges.sort_by_key(|range| range.start);
        let inside = |at: usize| {
            let after = ranges.partition_point(|range| range.start <= at);
            after > 0 && ranges[after - 1].contains(&at)
        };
        let relative = plan.relative.iter().map(|word| (word.at, Function::Image(word.value)));
        let fixed = plan.fixed.iter().map(|word| (word.at, Function::Fixed(word.value)));
        known.extend(relative.chain(fixed).filter(|(at, _)| inside(*at)));
        Ok(Arrays(known))
    }

    /// Entries without a function are passed over.
    fn of(&self, object: usize, offsets: &[usize], table: Table) -> Vec<Function> {
        let start = offsets[object].wrapping_add(table.at);
        let entries = (0..table.len / 8).filter_map(|i| self.0.get(&start.wrapping_add(i * 8)));
        entries.copied().filter(|function| *function != Function::Fixed(0)).collect()
    }
}
