//! Libraries that a rank loads later (`dlopen`): behind what is in its image.
//!
//! Their data are copied into the image, where it is the rank's from the beginning: it moves as other touched pages do.
//! Code and constants are mapped from the file. What was loaded is written down in the image ([`records`]), so that it
//! is mapped again where the rank arrives.

mod prepare;
mod records;

use std::sync::Arc;

use prepare::{Addition, Request, Wanted};
pub use records::Late;
use records::Records;

use crate::elf::{Elf, Role};
use crate::linker::{late_imports, loaded};
use crate::object::Object;
use crate::{LoadError, Program};

/// A library that was loaded later, in this process.
#[derive(Clone, Debug)]
pub struct LateObject {
    pub object: Arc<Object>,
    pub late: Late,
}

/// What a rank has opened.
pub struct Opened {
    /// Among its objects.
    pub number: usize,
    /// To be called now, and at the end: addresses.
    pub initializers: Vec<usize>,
    pub finalizers: Vec<usize>,
}

/// Maps code and constants of what was loaded later again; the first library that is not there any more.
///
/// # Safety
/// The image is at `base` with all its pages, and its rank does not run.
pub unsafe fn map_again(program: &Program, base: usize) -> (Vec<LateObject>, Option<LoadError>) {
    // SAFETY: the caller's promise.
    let records = unsafe { Records::new(base, program.room_for_later()) };
    let (mut late, mut missing) = (Vec::new(), None);
    for one in records.all() {
        let mapped = Elf::open(&one.path, Role::Library).and_then(|elf| {
            let object = Object::new(elf, one.offset)?;
            // SAFETY: the same; it was there before.
            unsafe { object.map_text(base) }?;
            Ok(object)
        });
        match mapped {
            Ok(object) => late.push(LateObject { object: Arc::new(object), late: one }),
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    (late, missing)
}

/// Loads a library for the rank of a copy, if it is not there yet. `asking`: the number of the object that wants it.
///
/// # Errors
/// If it cannot be loaded: then nothing has changed.
///
/// # Safety
/// The rank runs on this thread, and `malloc` gives memory of the process.
pub unsafe fn open(
    copy: &loaded::Copy,
    name: &str,
    asking: usize,
    is_global: bool,
) -> Result<Opened, LoadError> {
    // SAFETY: the caller's promise.
    let mut records = unsafe { Records::new(copy.base, copy.program.room_for_later()) };
    let late = records.all();
    let request = Request {
        program: &copy.program,
        late: &late,
        name,
        asking,
        is_global,
        batch: records.next_batch(),
        start: records.end(),
    };
    match request.prepare(&late_imports(&copy.program))? {
        Wanted::Known(number) => {
            if let Some(known) = number.checked_sub(copy.program.all_objects().len()).filter(|_| is_global) {
                records.make_global(late[known].batch);
                loaded::make_global(copy.base, late[known].batch);
            }
            Ok(Opened { number, initializers: Vec::new(), finalizers: Vec::new() })
        }
        Wanted::New(addition) => {
            let number = copy.program.all_objects().len() + late.len();
            // SAFETY: the caller's promise; the addition was made for this image.
            unsafe { load(copy, &mut records, *addition, number) }
        }
    }
}

/// # Safety
/// As for [`open`]; the addition was prepared for this image as it is.
unsafe fn load(
    copy: &loaded::Copy,
    records: &mut Records,
    addition: Addition,
    number: usize,
) -> Result<Opened, LoadError> {
    let base = copy.base;
    let Addition { objects, late, plan, functions, end } = addition;
    // SAFETY: places are free, and inside of the image.
    unsafe {
        for object in &objects {
            object.copy_data(base)?;
            object.map_text(base)?;
        }
        plan.carry_out(base);
        // The rank runs: those in the pad are the thread's now.
        let pad = copy.program.thread_locals();
        for (at, _, len) in plan.first_values.iter().filter(|(at, ..)| pad.contains(*at)) {
            pad.enter_late(base, *at, *len);
        }
        records.add(&late, end);
    }
    let new = objects.into_iter().zip(late);
    loaded::extend(base, new.map(|(object, late)| LateObject { object: Arc::new(object), late }));
    let addresses = |functions: Vec<crate::functions::Function>| {
        functions.into_iter().map(|function| function.address(base)).collect()
    };
    Ok(Opened { number, initializers: addresses(functions.before), finalizers: addresses(functions.after) })
}
