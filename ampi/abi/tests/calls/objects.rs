//! Hints, error handlers, and what a program asks about where it is.

use std::ffi::c_int;

use talisman_abi::{Interface, bind, symbol};

use crate::Rank;
use crate::library::{Library, code_of, count, mpi};

pub fn check<L: Library>(rank: Rank) {
    hints::<L>(rank);
    handlers::<L>(rank);
    codes::<L>(rank);
    buffers::<L>(rank);
    statuses::<L>();
}

/// Error classes and codes of the program come, and go again.
fn codes<L: Library>(rank: Rank) {
    let (mut class, mut code, mut other, mut found) = (0, 0, 0, 0);
    mpi!(L, "MPI_Add_error_class", &mut class);
    mpi!(L, "MPI_Add_error_code", class, &mut code);
    mpi!(L, "MPI_Add_error_string", code, c"out of paper".as_ptr());
    rank.hop();
    let (mut text, mut len) = ([0u8; 512], 0);
    mpi!(L, "MPI_Error_string", code, text.as_mut_ptr(), &mut len);
    assert_eq!(&text[..len as usize], b"out of paper");
    mpi!(L, "MPI_Remove_error_string", code);
    mpi!(L, "MPI_Error_string", code, text.as_mut_ptr(), &mut len);
    assert_eq!(len, 0);
    assert_ne!(code_of!(L, "MPI_Remove_error_class", class), 0, "it has a code");
    assert_ne!(code_of!(L, "MPI_Remove_error_code", class), 0, "it is a class");
    mpi!(L, "MPI_Add_error_code", class, &mut other);
    mpi!(L, "MPI_Remove_error_code", code);
    mpi!(L, "MPI_Error_class", other, &mut found);
    assert_eq!(found, class, "the other one stays");
    mpi!(L, "MPI_Remove_error_code", other);
    mpi!(L, "MPI_Remove_error_class", class);
    assert_ne!(code_of!(L, "MPI_Remove_error_class", class), 0, "it is gone");
}

/// A communicator has a buffer of its own beside that of all.
fn buffers<L: Library>(rank: Rank) {
    const AUTOMATIC: usize = 2;
    let (mut of_all, mut own, mut at, mut len) = ([0u8; 100], [0u8; 50], 0usize, -1);
    let (mut twin, mut request, mut value) = (L::object("COMM_NULL"), L::no_request(), 0);
    mpi!(L, "MPI_Comm_dup", L::world(), &mut twin);
    mpi!(L, "MPI_Buffer_attach", &mut of_all, 100);
    mpi!(L, "MPI_Comm_attach_buffer", twin, &mut own, 50);
    assert_ne!(code_of!(L, "MPI_Comm_attach_buffer", twin, &mut own, 50), 0, "it has one");
    mpi!(L, "MPI_Bsend", &rank.number, 1, L::int(), rank.after(), 3, twin);
    mpi!(L, "MPI_Comm_flush_buffer", twin);
    mpi!(L, "MPI_Comm_iflush_buffer", twin, &mut request);
    rank.hop();
    mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
    mpi!(L, "MPI_Recv", &mut value, 1, L::int(), rank.before(), 3, twin, L::IGNORE);
    assert_eq!(value, rank.before());
    mpi!(L, "MPI_Comm_detach_buffer", twin, &mut at, &mut len);
    assert_eq!((at, len), (own.as_ptr() as usize, 50));
    assert_ne!(code_of!(L, "MPI_Comm_detach_buffer", twin, &mut at, &mut len), 0, "it has none");
    mpi!(L, "MPI_Comm_attach_buffer", twin, AUTOMATIC, 7);
    mpi!(L, "MPI_Comm_detach_buffer_c", twin, &mut at, &mut [9i64; 1]);
    assert_eq!(at, AUTOMATIC);
    mpi!(L, "MPI_Buffer_flush");
    mpi!(L, "MPI_Buffer_iflush", &mut request);
    mpi!(L, "MPI_Wait", &mut request, L::IGNORE);
    mpi!(L, "MPI_Buffer_detach", &mut at, &mut len);
    assert_eq!((at, len), (of_all.as_ptr() as usize, 100));
    // What a communicator has goes with it.
    mpi!(L, "MPI_Comm_attach_buffer", twin, &mut own, 50);
    mpi!(L, "MPI_Comm_free", &mut twin);
}

/// What is in a status, by functions.
fn statuses<L: Library>() {
    let (mut status, mut found) = ([0 as c_int; 8], [0; 3]);
    mpi!(L, "MPI_Status_set_elements", &mut status, L::int(), 3);
    mpi!(L, "MPI_Status_set_source", &mut status, 4);
    mpi!(L, "MPI_Status_set_tag", &mut status, 5);
    mpi!(L, "MPI_Status_set_error", &mut status, 6);
    assert_eq!(L::STATUS.map(|at| status[at]), [4, 5, 6]);
    assert_eq!(count::<L>(&status, L::int()), 3, "the others stay");
    mpi!(L, "MPI_Status_get_source", &status, &mut found[0]);
    mpi!(L, "MPI_Status_get_tag", &status, &mut found[1]);
    mpi!(L, "MPI_Status_get_error", &status, &mut found[2]);
    assert_eq!(found, [4, 5, 6]);
    let (mut resources, mut keys) = (L::object("INFO_NULL"), -1);
    mpi!(L, "MPI_Get_hw_resource_info", &mut resources);
    mpi!(L, "MPI_Info_get_nkeys", resources, &mut keys);
    assert_eq!(keys, 0, "a rank is bound to nothing");
    mpi!(L, "MPI_Info_free", &mut resources);
    if L::INTERFACE == Interface::Standard {
        let mut text = [0u8; 8];
        let mut flag = 0;
        mpi!(L, "MPI_Abi_get_info", &mut resources);
        mpi!(L, "MPI_Info_get", resources, c"mpi_count_size".as_ptr(), 7, text.as_mut_ptr(), &mut flag);
        assert_eq!((flag, &text[..2]), (1, &b"8\0"[..]));
        mpi!(L, "MPI_Info_free", &mut resources);
    }
}

fn hints<L: Library>(rank: Rank) {
    let (mut hints, mut twin) = (L::object("INFO_NULL"), L::object("INFO_NULL"));
    mpi!(L, "MPI_Info_create", &mut hints);
    for (key, value) in [(c"one", c"1"), (c"two", c"zwei"), (c"one", c"eins")] {
        mpi!(L, "MPI_Info_set", hints, key.as_ptr(), value.as_ptr());
    }
    mpi!(L, "MPI_Info_dup", hints, &mut twin);
    mpi!(L, "MPI_Info_delete", hints, c"two".as_ptr());
    rank.hop();
    let (mut keys, mut flag, mut len, mut text) = (0, 0, 0, [b'x'; 256]);
    mpi!(L, "MPI_Info_get_nkeys", hints, &mut keys);
    assert_eq!(keys, 1);
    mpi!(L, "MPI_Info_get", twin, c"two".as_ptr(), 2, text.as_mut_ptr(), &mut flag);
    assert_eq!((flag, &text[..4]), (1, &b"zw\0x"[..]));
    mpi!(L, "MPI_Info_get_valuelen", twin, c"one".as_ptr(), &mut len, &mut flag);
    assert_eq!((flag, len), (1, 4));
    mpi!(L, "MPI_Info_get", hints, c"two".as_ptr(), 9, text.as_mut_ptr(), &mut flag);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Info_get_nthkey", twin, 1, text.as_mut_ptr());
    assert_eq!(&text[..4], b"two\0");
    for hints in [&mut hints, &mut twin] {
        mpi!(L, "MPI_Info_free", &mut *hints);
        assert_eq!(*hints, L::object("INFO_NULL"));
    }
}

/// Notes the error code in the rank's communicator's name.
unsafe extern "C" fn note<L: Library>(communicator: *mut L::Handle, code: *mut c_int) {
    // SAFETY: MPI's promise.
    let (communicator, code) = unsafe { (*communicator, *code) };
    let name = std::ffi::CString::new(format!("error {code}")).unwrap();
    mpi!(L, "MPI_Comm_set_name", communicator, name.as_ptr());
}

fn handlers<L: Library>(rank: Rank) {
    let (mut handler, mut own, mut twin) =
        (L::object("ERRORS_RETURN"), L::object("COMM_NULL"), L::object("COMM_NULL"));
    mpi!(L, "MPI_Comm_dup", L::world(), &mut own);
    mpi!(L, "MPI_Comm_create_errhandler", note::<L> as *const () as usize, &mut handler);
    mpi!(L, "MPI_Comm_set_errhandler", own, handler);
    mpi!(L, "MPI_Errhandler_free", &mut handler);
    rank.hop();
    // A duplicate has the handler too.
    mpi!(L, "MPI_Comm_dup", own, &mut twin);
    let code = code_of!(L, "MPI_Send", &1, 1, L::int(), -9, 1, twin);
    assert_eq!(code, L::ERRORS[1]);
    let (mut name, mut len) = ([0u8; 128], 0);
    mpi!(L, "MPI_Comm_get_name", twin, name.as_mut_ptr(), &mut len);
    assert_eq!(&name[..len as usize], format!("error {code}").as_bytes());
    mpi!(L, "MPI_Comm_call_errhandler", own, 12);
    mpi!(L, "MPI_Comm_get_name", own, name.as_mut_ptr(), &mut len);
    assert_eq!(&name[..len as usize], b"error 12");
    mpi!(L, "MPI_Comm_free", &mut own);
    mpi!(L, "MPI_Comm_free", &mut twin);
}

pub fn environment<L: Library>(rank: Rank) {
    let (mut version, mut sub, mut text, mut len) = (0, 0, [0u8; 256], 0);
    mpi!(L, "MPI_Get_version", &mut version, &mut sub);
    assert!((version, sub) >= (3, 1));
    mpi!(L, "MPI_Get_processor_name", text.as_mut_ptr(), &mut len);
    assert!(len > 0 && text[len as usize] == 0);
    mpi!(L, "MPI_Get_library_version", text.as_mut_ptr(), &mut len);
    assert!(text.starts_with(b"Talisman"));
    let (mut level, mut flag) = (-1, -1);
    mpi!(L, "MPI_Query_thread", &mut level);
    mpi!(L, "MPI_Is_thread_main", &mut flag);
    assert_eq!((level, flag), (0, 1));
    let at = symbol(L::INTERFACE, "MPI_Wtime").unwrap();
    // SAFETY: the function has this type.
    let time: extern "C" fn() -> f64 = unsafe { std::mem::transmute(at) };
    let before = time();
    rank.hop();
    assert!(time() >= before);
    let mut memory = 0usize;
    mpi!(L, "MPI_Alloc_mem", 1_000i64, L::object("INFO_NULL"), &mut memory);
    // SAFETY: so many bytes are the rank's.
    unsafe { std::slice::from_raw_parts_mut(memory as *mut u8, 1_000) }.fill(3);
    mpi!(L, "MPI_Free_mem", memory);
    let (mut buffer, mut at, mut len) = ([0u8; 100], 0usize, 0);
    mpi!(L, "MPI_Buffer_attach", &mut buffer, 100);
    mpi!(L, "MPI_Buffer_detach", &mut at, &mut len);
    assert_eq!((at, len), (buffer.as_ptr() as usize, 100));
}

/// An executable has copies of the null handles: what it is given are the addresses of those.
pub fn bound<L: Library>(rank: Rank) {
    if L::INTERFACE != Interface::OpenMpi {
        return;
    }
    // SAFETY: the first word of a predefined object.
    let copy_of = |name: &str| Box::new(unsafe { *(symbol(L::INTERFACE, name).unwrap() as *const u64) });
    let (comm, request) = (copy_of("ompi_mpi_comm_null"), copy_of("ompi_request_null"));
    let address = |copy: &u64| std::ptr::from_ref(copy) as usize;
    bind(L::INTERFACE, |name| match name {
        "ompi_mpi_comm_null" => Some(address(&comm)),
        "ompi_request_null" => Some(address(&request)),
        _ => None,
    })
    .unwrap();
    let (mut part, mut pending) = (0usize, 0usize);
    mpi!(L, "MPI_Comm_split", L::world(), L::UNDEFINED, 0, &mut part);
    assert_eq!(part, address(&comm));
    rank.hop();
    mpi!(L, "MPI_Ibarrier", L::world(), &mut pending);
    mpi!(L, "MPI_Wait", &mut pending, L::IGNORE);
    assert_eq!(pending, address(&request));
    // The copy is known as a handle too.
    mpi!(L, "MPI_Wait", &mut pending, L::IGNORE);
}
