//! What a status tells (MPI-3.1, 3.2.5, 3.8.4, 4.1.11 and 12.3).

use std::ffi::c_int;

use talisman_ampi::datatype::{Basic, Datatype};
use talisman_ampi::objects::Kind;

use super::call::{Outcome, known, local, put};
use crate::abi::{Abi, Count, Told};
use crate::class::Class;

/// How many values of a datatype so many bytes are.
unsafe fn count_of<A: Abi>(status: usize, datatype: A::Handle) -> Result<Option<i64>, Class> {
    // SAFETY: the caller's promise.
    let (told, datatype) = unsafe { (A::read_status(status), known::<A>(Kind::Datatype, datatype)?) };
    local(|process| Ok(process.datatypes.get(datatype)?.count(told.bytes).map(|count| count as i64)))
}

/// How many basic values so many bytes of a datatype are; none if a part of one is left.
fn elements(datatype: &Datatype, bytes: u64) -> Option<i64> {
    let (size, mut each) = (datatype.size(), 0u64);
    if size == 0 {
        return (bytes == 0).then_some(0);
    }
    datatype.map().each_run(0, &mut |_, _, n| each += n);
    // Values of what is there in part, up to the first that is not there.
    let (mut rest, mut more, mut is_over) = (bytes % size, 0u64, false);
    datatype.map().each_run(0, &mut |_, basic: Basic, n| {
        let here = if is_over { 0 } else { n.min(rest / basic.size()) };
        is_over |= here < n;
        (rest, more) = (rest - here * basic.size(), more + here);
    });
    (rest == 0).then_some((bytes / size * each + more) as i64)
}

unsafe fn elements_of<A: Abi>(status: usize, datatype: A::Handle) -> Result<Option<i64>, Class> {
    // SAFETY: the caller's promise.
    let (told, datatype) = unsafe { (A::read_status(status), known::<A>(Kind::Datatype, datatype)?) };
    local(|process| Ok(elements(process.datatypes.get(datatype)?, told.bytes)))
}

/// A number, or `MPI_UNDEFINED` if it is none or does not fit.
unsafe fn put_count<A: Abi, N: Count>(to: *mut N, count: Option<i64>) -> Outcome {
    let undefined = N::of(i64::from(A::UNDEFINED)).ok_or(Class::Intern)?;
    // SAFETY: the caller's promise.
    unsafe { put(to, count.and_then(N::of).unwrap_or(undefined)) }
}

/// The status says that so many basic values have come.
unsafe fn set_elements<A: Abi>(status: usize, datatype: A::Handle, count: i64) -> Outcome {
    // SAFETY: the caller's promise.
    let datatype = unsafe { known::<A>(Kind::Datatype, datatype) }?;
    let count = u64::try_from(count).map_err(|_| Class::Count)?;
    let bytes = local(|process| {
        let datatype = process.datatypes.get(datatype)?;
        let mut each = 0u64;
        datatype.map().each_run(0, &mut |_, _, n| each += n);
        let (mut left, mut bytes) = (count % each.max(1), count / each.max(1) * datatype.size());
        datatype.map().each_run(0, &mut |_, basic, n| {
            let here = n.min(left);
            (left, bytes) = (left - here, bytes + here * basic.size());
        });
        Ok(bytes)
    })?;
    // SAFETY: the caller's promise.
    unsafe {
        let told = A::read_status(status);
        A::write_status(status, Told { bytes, ..told });
    }
    Ok(())
}

/// `MPI_Status_c2f` and `MPI_Status_f2c`: a status is the same in both.
///
/// # Safety
/// Both are statuses of the program.
pub unsafe extern "C" fn convert<A: Abi>(from: *const u8, to: *mut u8) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy(from, to, A::STATUS_SIZE) };
    0
}

/// Names and addresses of conversions.
pub fn others<A: Abi>() -> Vec<(&'static str, usize)> {
    let at = convert::<A> as *const () as usize;
    vec![("MPI_Status_c2f", at), ("MPI_Status_f2c", at)]
}

super::calls! {
    "Status_get_source" status_get_source<>(status: usize, source: *mut c_int) => {
        put(source, A::read_status(status).source)
    };
    "Status_get_tag" status_get_tag<>(status: usize, tag: *mut c_int) => put(tag, A::read_status(status).tag);
    "Status_get_error" status_get_error<>(status: usize, error: *mut c_int) => {
        put(error, A::error_of(status).read_unaligned())
    };
    "Status_set_source" status_set_source<>(status: usize, source: c_int) => {
        A::write_status(status, Told { source, ..A::read_status(status) });
        Ok(())
    };
    "Status_set_tag" status_set_tag<>(status: usize, tag: c_int) => {
        A::write_status(status, Told { tag, ..A::read_status(status) });
        Ok(())
    };
    "Status_set_error" status_set_error<>(status: usize, error: c_int) => put(A::error_of(status), error);
    "Get_count" get_count<N>(status: usize, datatype: A::Handle, count: *mut N) => {
        put_count::<A, N>(count, count_of::<A>(status, datatype)?)
    };
    "Get_elements" get_elements<N>(status: usize, datatype: A::Handle, count: *mut N) => {
        put_count::<A, N>(count, elements_of::<A>(status, datatype)?)
    };
    "Get_elements_x" get_elements_x<>(status: usize, datatype: A::Handle, count: *mut i64) => {
        put_count::<A, i64>(count, elements_of::<A>(status, datatype)?)
    };
    "Test_cancelled" test_cancelled<>(status: usize, flag: *mut c_int) => {
        put(flag, c_int::from(A::read_status(status).is_cancelled))
    };
    "Status_set_cancelled" status_set_cancelled<>(status: usize, flag: c_int) => {
        let told = A::read_status(status);
        A::write_status(status, Told { is_cancelled: flag != 0, ..told });
        Ok(())
    };
    "Status_set_elements" status_set_elements<N>(status: usize, datatype: A::Handle, count: N) => {
        set_elements::<A>(status, datatype, count.get())
    };
    "Status_set_elements_x" status_set_elements_x<>(status: usize, datatype: A::Handle, count: i64) => {
        set_elements::<A>(status, datatype, count)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_part_are_counted() {
        let pair =
            Datatype::structure(&[(1, &Datatype::of(Basic::I32)), (1, &Datatype::of(Basic::F64))], &[0, 8])
                .unwrap();
        assert_eq!(
            (elements(&pair, 24), elements(&pair, 16), elements(&pair, 12)),
            (Some(4), Some(3), Some(2))
        );
        assert_eq!((elements(&pair, 18), elements(&pair, 0)), (None, Some(0)));
    }
}
