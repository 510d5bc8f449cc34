//! Parts of arrays that are distributed over processes (MPI-3.1, 4.1.4), and datatypes by precision (17.2.6).

use std::ffi::c_int;

use talisman_ampi::datatype::{Combiner, Datatype, Envelope, Named};
use talisman_ampi::objects::Kind;

use super::call::{Outcome, known, list, local, put};
use super::collective::{checked, numbers};
use crate::abi::{Abi, Count};
use crate::class::Class;

/// One dimension: how long the array is, how it is dealt out, to how many, and to which of these.
#[derive(Clone, Copy)]
struct Dimension {
    length: u64,
    /// Values that are dealt out together; none if all are one process's.
    block: Option<u64>,
    /// Blocks are dealt out again and again.
    is_cyclic: bool,
    processes: u64,
    process: u64,
}

impl Dimension {
    /// What the process has: where pieces begin, and how long they are.
    fn pieces(&self) -> (Vec<u64>, Vec<u64>) {
        let Some(block) = self.block else { return (vec![0], vec![self.length]) };
        let step = block.saturating_mul(self.processes).max(1);
        let first = self.process.saturating_mul(block);
        let starts = (first..self.length).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        let starts: Vec<u64> = if self.is_cyclic { starts.collect() } else { starts.take(1).collect() };
        let lengths = starts.iter().map(|start| block.min(self.length - start)).collect();
        (starts, lengths)
    }
}

/// What a call says of each dimension.
struct Said {
    lengths: Vec<i64>,
    distributions: Vec<c_int>,
    arguments: Vec<c_int>,
    processes: Vec<c_int>,
}

/// The dimensions, as one process sees them. Processes are numbered with the last dimension running fastest.
fn dimensions<A: Abi>(said: &Said, process: u64) -> Result<Vec<Dimension>, Class> {
    let [block, cyclic, none, default] = A::DISTRIBUTE;
    let (mut rest, mut all) = (process, Vec::new());
    for at in (0..said.lengths.len()).rev() {
        let length = checked(said.lengths[at])?;
        let processes = u64::try_from(said.processes[at]).map_err(|_| Class::Arg)?.max(1);
        let even = length.div_ceil(processes);
        let given = match said.arguments[at] {
            argument if argument == default => None,
            argument => Some(u64::try_from(argument).ok().filter(|n| *n > 0).ok_or(Class::Arg)?),
        };
        let (block, is_cyclic) = match said.distributions[at] {
            kind if kind == block => (Some(given.unwrap_or(even)), false),
            kind if kind == cyclic => (Some(given.unwrap_or(1)), true),
            kind if kind == none && processes == 1 => (None, false),
            _ => return Err(Class::Arg),
        };
        all.push(Dimension { length, block, is_cyclic, processes, process: rest % processes });
        rest /= processes;
    }
    all.reverse();
    if rest == 0 { Ok(all) } else { Err(Class::Arg) }
}

/// The part, made from the dimension that runs fastest outwards. Its extent is that of the whole.
fn part<'a>(value: &Datatype, inner_first: impl Iterator<Item = &'a Dimension>) -> Result<Datatype, Class> {
    let mut made = value.clone();
    let mut stride = value.extent().1;
    for dimension in inner_first {
        let (starts, lengths) = dimension.pieces();
        let at = |start: &u64| i64::try_from(*start).ok()?.checked_mul(stride);
        let places: Vec<i64> = starts.iter().map(at).collect::<Option<_>>().ok_or(Class::Arg)?;
        let whole = i64::try_from(dimension.length).ok().and_then(|length| length.checked_mul(stride));
        made = made.hindexed(&lengths, &places)?;
        stride = whole.ok_or(Class::Arg)?;
        made = made.resized(0, stride);
    }
    Ok(made)
}

unsafe fn create<A: Abi, N: Count>(
    (size, rank, order): (c_int, c_int, c_int),
    said: &Said,
    of: A::Handle,
    to: *mut A::Handle,
) -> Outcome {
    if size <= 0 || !(0..size).contains(&rank) || !A::ORDERS.contains(&order) {
        return Err(Class::Arg);
    }
    let dimensions = dimensions::<A>(said, rank as u64)?;
    let wide = |numbers: &[c_int]| numbers.iter().map(|n| i64::from(*n)).collect::<Vec<_>>();
    let head = [i64::from(size), i64::from(rank), said.lengths.len() as i64];
    let [kinds, arguments, processes] =
        [&said.distributions, &said.arguments, &said.processes].map(|n| wide(n));
    let integers = [&head[..], &said.lengths, &kinds, &arguments, &processes, &[i64::from(order)]].concat();
    // SAFETY: the caller's promise.
    let of = unsafe { known::<A>(Kind::Datatype, of) }?;
    let number = local(|process| {
        let value = process.datatypes.get(of)?;
        let made = match order == A::ORDERS[0] {
            true => part(value, dimensions.iter().rev())?,
            false => part(value, dimensions.iter())?,
        };
        let (integers, datatypes) = (integers.clone(), vec![of]);
        let (combiner, is_large, addresses) = (Combiner::Darray, N::IS_LARGE, Vec::new());
        let envelope = Envelope { combiner, is_large, integers, addresses, datatypes };
        Ok(process.datatypes.insert_made(made, envelope))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Datatype, number)) }
}

/// The first of several predefined datatypes that has such a precision and such a range; what is not given is no
/// matter.
fn fitting<A: Abi>(precision: c_int, range: c_int, all: &[(c_int, c_int, &str)]) -> Result<u32, Class> {
    let enough = |wanted: c_int, has: c_int| wanted == A::UNDEFINED || wanted <= has;
    let found =
        all.iter().find(|(digits, exponents, _)| enough(precision, *digits) && enough(range, *exponents));
    found.and_then(|(.., name)| Named::handle(name)).ok_or(Class::Arg)
}

/// A datatype of Fortran that the program describes by numbers: the same one each time, which says how it was made.
fn described<A: Abi>(
    combiner: Combiner,
    said: &[c_int],
    like: Result<u32, Class>,
    to: *mut A::Handle,
) -> Outcome {
    let like = like?;
    let number = local(|process| {
        let integers = said.iter().map(|number| i64::from(*number)).collect();
        let envelope = Envelope { combiner, integers, ..Envelope::NAMED };
        if let Some(known) = process.datatypes.made_by(&envelope) {
            return Ok(known);
        }
        let value = process.datatypes.get(like)?.clone();
        Ok(process.datatypes.insert_made(value, envelope))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Datatype, number)) }
}

const REALS: [(c_int, c_int, &str); 3] =
    [(6, 37, "MPI_REAL4"), (15, 307, "MPI_REAL8"), (33, 4_931, "MPI_REAL16")];
const COMPLEXES: [(c_int, c_int, &str); 3] =
    [(6, 37, "MPI_COMPLEX8"), (15, 307, "MPI_COMPLEX16"), (33, 4_931, "MPI_COMPLEX32")];
const INTEGERS: [(c_int, c_int, &str); 4] =
    [(0, 2, "MPI_INTEGER1"), (0, 4, "MPI_INTEGER2"), (0, 9, "MPI_INTEGER4"), (0, 18, "MPI_INTEGER8")];

super::calls! {
    "Type_create_darray" type_create_darray<N>(
        size: c_int, rank: c_int, n: c_int, lengths: *const N, distributions: *const c_int,
        arguments: *const c_int, processes: *const c_int, order: c_int, of: A::Handle, to: *mut A::Handle,
    ) => {
        let count = u32::try_from(n).map_err(|_| Class::Arg)?;
        let given = |at: *const c_int| Ok::<_, Class>(list(at, count as usize)?.to_vec());
        let said = Said {
            lengths: numbers(lengths, count)?,
            distributions: given(distributions)?,
            arguments: given(arguments)?,
            processes: given(processes)?,
        };
        create::<A, N>((size, rank, order), &said, of, to)
    };
    "Type_create_f90_real" type_create_f90_real<>(precision: c_int, range: c_int, to: *mut A::Handle) => {
        described::<A>(Combiner::F90Real, &[precision, range], fitting::<A>(precision, range, &REALS), to)
    };
    "Type_create_f90_complex" type_create_f90_complex<>(precision: c_int, range: c_int, to: *mut A::Handle) => {
        let like = fitting::<A>(precision, range, &COMPLEXES);
        described::<A>(Combiner::F90Complex, &[precision, range], like, to)
    };
    "Type_create_f90_integer" type_create_f90_integer<>(range: c_int, to: *mut A::Handle) => {
        described::<A>(Combiner::F90Integer, &[range], fitting::<A>(A::UNDEFINED, range, &INTEGERS), to)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_dealt_out_once() {
        for (length, block, is_cyclic) in [(10, Some(3), false), (10, Some(2), true), (7, Some(1), true)] {
            let processes = 4;
            let of = |process| Dimension { length, block, is_cyclic, processes, process };
            let mut all: Vec<u64> = (0..processes)
                .flat_map(|process| {
                    let (starts, lengths) = of(process).pieces();
                    starts
                        .into_iter()
                        .zip(lengths)
                        .flat_map(|(start, n)| start..start + n)
                        .collect::<Vec<_>>()
                })
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..length).collect::<Vec<_>>());
        }
    }
}
