//! Looking symbols up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use talisman_ampi::rank::{CallError, call};
use talisman_ampi::slot::on_process_heap;

use crate::abi::Abi;
use crate::common::{self, attribute, errhandler};
use crate::data::Data;
use crate::{Interface, fortran, mpich, openmpi, refused, standard};

/// What a name is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A function.
    Function(usize),
    /// A function that ends the job with its name when it is called.
    Refusal(usize),
    /// Data: where they are, and how many bytes may be copied.
    Data(usize, usize),
}

type Table = BTreeMap<&'static str, Answer>;

static MPICH: LazyLock<Table> = LazyLock::new(|| on_process_heap(|| table(Interface::Mpich)));
static OPEN_MPI: LazyLock<Table> = LazyLock::new(|| on_process_heap(|| table(Interface::OpenMpi)));

static STANDARD: LazyLock<Table> = LazyLock::new(|| on_process_heap(|| table(Interface::Standard)));

fn table_of(interface: Interface) -> &'static Table {
    match interface {
        Interface::Mpich => &MPICH,
        Interface::OpenMpi => &OPEN_MPI,
        Interface::Standard => &STANDARD,
    }
}

fn table(interface: Interface) -> Table {
    let mut table: Table =
        refused::functions().into_iter().map(|(name, at)| (name, Answer::Refusal(at))).collect();
    let functions = match interface {
        Interface::Mpich => {
            [of_c::<mpich::Mpich>(), fortran::functions::<mpich::MpichFortran>(), special_of_mpich()]
        }
        Interface::OpenMpi => [
            of_c::<openmpi::OpenMpi>(),
            fortran::functions::<openmpi::OpenMpiFortran>(),
            special_of_open_mpi(),
        ],
        Interface::Standard => [of_c::<standard::Standard>(), standard::functions(), Vec::new()],
    };
    table.extend(functions.into_iter().flatten().map(|(name, at)| (name, Answer::Function(at))));
    let (data, own) = data_of(interface);
    let data = (0..).zip(data).map(|(symbol, data)| (data.name, Answer::Data(own(symbol), data.of_bytes)));
    table.extend(data);
    table
}

fn data_of(interface: Interface) -> (&'static [Data], fn(u32) -> usize) {
    match interface {
        Interface::Mpich => (mpich::DATA, mpich::own),
        Interface::OpenMpi => (openmpi::DATA, openmpi::own),
        // It has functions and numbers only.
        Interface::Standard => (&[], |_| 0),
    }
}

/// The functions of C.
fn of_c<A: Abi>() -> Vec<(&'static str, usize)> {
    [
        common::attribute::functions::<A>(),
        common::buffers::functions::<A>(),
        common::communicator::functions::<A>(),
        common::darray::functions::<A>(),
        common::datatype::functions::<A>(),
        common::described::functions::<A>(),
        common::environment::functions::<A>(),
        common::environment::others::<A>(),
        common::status::others::<A>(),
        common::errhandler::functions::<A>(),
        common::graphs::functions::<A>(),
        common::group::functions::<A>(),
        common::info::functions::<A>(),
        common::io::functions::<A>(),
        common::matched::functions::<A>(),
        common::neighborhood::functions::<A>(),
        common::neighborhood::again::functions::<A>(),
        common::op::functions::<A>(),
        common::own_request::functions::<A>(),
        common::pack::functions::<A>(),
        common::partitioned::functions::<A>(),
        common::ports::functions::<A>(),
        common::spawn::functions::<A>(),
        common::spawn::others::<A>(),
        common::persistent::functions::<A>(),
        common::point_to_point::functions::<A>(),
        common::probe::functions::<A>(),
        common::reductions::functions::<A>(),
        common::reductions::again::functions::<A>(),
        common::request::functions::<A>(),
        common::request_statuses::functions::<A>(),
        common::rooted::functions::<A>(),
        common::rooted::again::functions::<A>(),
        common::session::functions::<A>(),
        common::session::others::<A>(),
        common::several::functions::<A>(),
        common::status::functions::<A>(),
        common::to_all::functions::<A>(),
        common::to_all::again::functions::<A>(),
        common::tool::functions::<A>(),
        common::topology::functions::<A>(),
        common::window::functions::<A>(),
    ]
    .concat()
}

fn special_of_mpich() -> Vec<(&'static str, usize)> {
    let mut all =
        [mpich::attributes::functions(), mpich::cplusplus::functions(), fortran::sizeof::functions()]
            .concat();
    all.extend([
        (
            "MPII_Grequest_set_lang_f77",
            common::own_request::set_fortran::<mpich::Mpich> as *const () as usize,
        ),
        // What it called these before they were the standard's.
        ("MPIX_Delete_error_class", errhandler::remove_error_class::<mpich::Mpich> as *const () as usize),
        ("MPIX_Delete_error_code", errhandler::remove_error_code::<mpich::Mpich> as *const () as usize),
        ("MPIX_Delete_error_string", errhandler::remove_error_string::<mpich::Mpich> as *const () as usize),
        ("MPIR_Dup_fn", attribute::copy_always::<mpich::Mpich> as *const () as usize),
        // Files alone are addresses there.
        ("MPI_File_c2f", common::io::to_fortran::<mpich::Mpich> as *const () as usize),
        ("MPI_File_f2c", common::io::to_c::<mpich::Mpich> as *const () as usize),
    ]);
    all
}

fn special_of_open_mpi() -> Vec<(&'static str, usize)> {
    let always = attribute::copy_always::<openmpi::OpenMpi> as *const () as usize;
    let never = attribute::copy_never::<openmpi::OpenMpi> as *const () as usize;
    let nothing = attribute::delete_nothing::<openmpi::OpenMpi> as *const () as usize;
    let mut all = vec![
        ("OMPI_C_MPI_DUP_FN", always),
        ("OMPI_C_MPI_COMM_DUP_FN", always),
        ("OMPI_C_MPI_TYPE_DUP_FN", always),
        ("OMPI_C_MPI_WIN_DUP_FN", always),
        ("OMPI_C_MPI_NULL_COPY_FN", never),
        ("OMPI_C_MPI_COMM_NULL_COPY_FN", never),
        ("OMPI_C_MPI_TYPE_NULL_COPY_FN", never),
        ("OMPI_C_MPI_WIN_NULL_COPY_FN", never),
        ("OMPI_C_MPI_NULL_DELETE_FN", nothing),
        ("OMPI_C_MPI_COMM_NULL_DELETE_FN", nothing),
        ("OMPI_C_MPI_TYPE_NULL_DELETE_FN", nothing),
        ("OMPI_C_MPI_WIN_NULL_DELETE_FN", nothing),
    ];
    all.extend(openmpi::conversions());
    all
}

/// The interface that a library has, by the name that executables need it by; none if it is no library of MPI's.
///
/// ```
/// use talisman_abi::{Interface, interface_of};
/// assert_eq!(interface_of("libmpich.so.12"), Some(Interface::Mpich));
/// assert_eq!(interface_of("libmpi.so.40"), Some(Interface::OpenMpi));
/// assert_eq!(interface_of("libm.so.6"), None);
/// ```
pub fn interface_of(soname: &str) -> Option<Interface> {
    match soname {
        "libmpi.so.12" | "libmpich.so.12" | "libmpifort.so.12" | "libmpichfort.so.12" => {
            Some(Interface::Mpich)
        }
        "libmpi.so.40" | "libmpi_mpifh.so.40" | "libmpi_mpifh-gfortran.so.40" => Some(Interface::OpenMpi),
        "libmpi_abi.so.1" => Some(Interface::Standard),
        _ => None,
    }
}

/// What a symbol is answered by: functions of C and Fortran, those of profiling too, and data.
pub fn answer(interface: Interface, name: &str) -> Option<Answer> {
    let table = table_of(interface);
    if let Some(answer) = table.get(name) {
        return Some(*answer);
    }
    let of_profiling = || name.strip_prefix('P').filter(|rest| rest.starts_with("MPI"));
    if let Some(function) = of_profiling().and_then(|rest| table.get(rest)) {
        return Some(*function);
    }
    let inner = (interface == Interface::OpenMpi).then(|| openmpi::inner_name(name)).flatten();
    let bare = inner.or_else(|| fortran::canonical(name))?;
    table.get(bare.as_str()).copied().or_else(|| refusal_of_fortran(table, &bare))
}

/// A function of Fortran that is not here ends the job as that of C does.
fn refusal_of_fortran(table: &Table, bare: &str) -> Option<Answer> {
    let is_refused = |answer: &Answer| matches!(answer, Answer::Refusal(_));
    table
        .iter()
        .find(|(name, answer)| is_refused(answer) && name.eq_ignore_ascii_case(bare))
        .map(|(_, answer)| *answer)
}

/// The address of a symbol. A function that is not here and is one of MPI's has one too: calling it ends the job.
///
/// ```
/// use talisman_abi::{Interface, symbol};
/// let send = symbol(Interface::Mpich, "MPI_Send");
/// assert!(send.is_some());
/// assert_eq!(symbol(Interface::Mpich, "PMPI_Send"), send);
/// assert_eq!(symbol(Interface::Mpich, "printf"), None);
/// ```
pub fn symbol(interface: Interface, name: &str) -> Option<usize> {
    answer(interface, name).map(|answer| match answer {
        Answer::Function(at) | Answer::Refusal(at) | Answer::Data(at, _) => at,
    })
}

/// All names that are answered, functions of profiling and other spellings of Fortran's apart.
pub fn names(interface: Interface) -> impl Iterator<Item = &'static str> {
    table_of(interface).keys().copied()
}

/// Says which of the programs of its job the rank that calls runs (`MPI_APPNUM`). To be called before the program begins;
/// without it that is program 0.
///
/// # Errors
/// If no rank calls.
pub fn set_program(number: u32) -> Result<(), CallError> {
    // SAFETY: no buffer is given; a number is kept.
    unsafe { call(|process, _| process.objects.life.program = number) }
}

/// Says where the program of the rank that calls has the interface's data: an executable may have copies of them. To be
/// called before the program begins; `resolve` gives the address that the rank's objects have for a symbol.
///
/// # Errors
/// If no rank calls.
pub fn bind(interface: Interface, mut resolve: impl FnMut(&str) -> Option<usize>) -> Result<(), CallError> {
    let (data, own) = data_of(interface);
    for (symbol, data) in (0..).zip(data) {
        let Some(address) = resolve(data.name).filter(|address| *address != own(symbol)) else { continue };
        // SAFETY: no buffer is given; a number is kept.
        unsafe { call(|process, _| process.objects.places.set(symbol, address as u64)) }?;
    }
    if interface == Interface::Mpich {
        for (name, symbol) in mpich::POINTERS_OF_2008 {
            if let Some(address) = resolve(name) {
                // SAFETY: a pointer of the program's library, which nothing runs of yet.
                unsafe { (address as *mut usize).write(mpich::own(symbol)) };
            }
        }
    }
    Ok(())
}
