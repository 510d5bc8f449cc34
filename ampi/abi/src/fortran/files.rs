//! Functions of files, but for those with texts.

use std::ffi::c_int;

use crate::common::io::{blocking, errors, later, open, pointer, shared, split, state};

super::fortran! {
    mpi_file_close(p file) => open::file_close::<A>;
    mpi_file_get_size(v file, p size) => state::file_get_size::<A>;
    mpi_file_set_size(v file, a size) => state::file_set_size::<A>;
    mpi_file_preallocate(v file, a size) => state::file_preallocate::<A>;
    mpi_file_sync(v file) => state::file_sync::<A>;
    mpi_file_get_amode(v file, p mode) => state::file_get_amode::<A>;
    mpi_file_get_group(v file, p group) => state::file_get_group::<A>;
    mpi_file_set_info(v file, v info) => state::file_set_info::<A>;
    mpi_file_get_info(v file, p info) => state::file_get_info::<A>;
    mpi_file_set_atomicity(v file, v flag) => state::file_set_atomicity::<A>;
    mpi_file_get_atomicity(v file, p flag) => state::file_get_atomicity::<A>;
    mpi_file_get_type_extent(v file, v datatype, p extent) => state::file_get_type_extent::<A>;
    mpi_file_seek(v file, a offset, v whence) => pointer::file_seek::<A>;
    mpi_file_get_position(v file, p offset) => pointer::file_get_position::<A>;
    mpi_file_get_byte_offset(v file, a offset, p bytes) => pointer::file_get_byte_offset::<A>;
    mpi_file_seek_shared(v file, a offset, v whence) => shared::file_seek_shared::<A>;
    mpi_file_get_position_shared(v file, p offset) => shared::file_get_position_shared::<A>;
    mpi_file_create_errhandler(f function, p handler) => errors::file_create_errhandler::<A>;
    mpi_file_set_errhandler(v file, v handler) => errors::file_set_errhandler::<A>;
    mpi_file_get_errhandler(v file, p handler) => errors::file_get_errhandler::<A>;
    mpi_file_call_errhandler(v file, v code) => errors::file_call_errhandler::<A>;
    mpi_file_read(v file, b at, v count, v datatype, s status) => blocking::file_read::<A, c_int>;
    mpi_file_read_all(v file, b at, v count, v datatype, s status) => blocking::file_read_all::<A, c_int>;
    mpi_file_read_shared(v file, b at, v count, v datatype, s status) => shared::file_read_shared::<A, c_int>;
    mpi_file_read_ordered(v file, b at, v count, v datatype, s status) => shared::file_read_ordered::<A, c_int>;
    mpi_file_read_at(v file, a offset, b at, v count, v datatype, s status) => blocking::file_read_at::<A, c_int>;
    mpi_file_read_at_all(v file, a offset, b at, v count, v datatype, s status) => blocking::file_read_at_all::<A, c_int>;
    mpi_file_iread(v file, b at, v count, v datatype, p request) => later::file_iread::<A, c_int>;
    mpi_file_iread_all(v file, b at, v count, v datatype, p request) => later::file_iread_all::<A, c_int>;
    mpi_file_iread_shared(v file, b at, v count, v datatype, p request) => later::file_iread_shared::<A, c_int>;
    mpi_file_iread_at(v file, a offset, b at, v count, v datatype, p request) => later::file_iread_at::<A, c_int>;
    mpi_file_iread_at_all(v file, a offset, b at, v count, v datatype, p request) => later::file_iread_at_all::<A, c_int>;
    mpi_file_read_all_begin(v file, b at, v count, v datatype) => split::file_read_all_begin::<A, c_int>;
    mpi_file_read_all_end(v file, b at, s status) => split::file_read_all_end::<A>;
    mpi_file_read_ordered_begin(v file, b at, v count, v datatype) => split::file_read_ordered_begin::<A, c_int>;
    mpi_file_read_ordered_end(v file, b at, s status) => split::file_read_ordered_end::<A>;
    mpi_file_read_at_all_begin(v file, a offset, b at, v count, v datatype) => split::file_read_at_all_begin::<A, c_int>;
    mpi_file_read_at_all_end(v file, b at, s status) => split::file_read_at_all_end::<A>;
    mpi_file_write(v file, b at, v count, v datatype, s status) => blocking::file_write::<A, c_int>;
    mpi_file_write_all(v file, b at, v count, v datatype, s status) => blocking::file_write_all::<A, c_int>;
    mpi_file_write_shared(v file, b at, v count, v datatype, s status) => shared::file_write_shared::<A, c_int>;
    mpi_file_write_ordered(v file, b at, v count, v datatype, s status) => shared::file_write_ordered::<A, c_int>;
    mpi_file_write_at(v file, a offset, b at, v count, v datatype, s status) => blocking::file_write_at::<A, c_int>;
    mpi_file_write_at_all(v file, a offset, b at, v count, v datatype, s status) => blocking::file_write_at_all::<A, c_int>;
    mpi_file_iwrite(v file, b at, v count, v datatype, p request) => later::file_iwrite::<A, c_int>;
    mpi_file_iwrite_all(v file, b at, v count, v datatype, p request) => later::file_iwrite_all::<A, c_int>;
    mpi_file_iwrite_shared(v file, b at, v count, v datatype, p request) => later::file_iwrite_shared::<A, c_int>;
    mpi_file_iwrite_at(v file, a offset, b at, v count, v datatype, p request) => later::file_iwrite_at::<A, c_int>;
    mpi_file_iwrite_at_all(v file, a offset, b at, v count, v datatype, p request) => later::file_iwrite_at_all::<A, c_int>;
    mpi_file_write_all_begin(v file, b at, v count, v datatype) => split::file_write_all_begin::<A, c_int>;
    mpi_file_write_all_end(v file, b at, s status) => split::file_write_all_end::<A>;
    mpi_file_write_ordered_begin(v file, b at, v count, v datatype) => split::file_write_ordered_begin::<A, c_int>;
    mpi_file_write_ordered_end(v file, b at, s status) => split::file_write_ordered_end::<A>;
    mpi_file_write_at_all_begin(v file, a offset, b at, v count, v datatype) => split::file_write_at_all_begin::<A, c_int>;
    mpi_file_write_at_all_end(v file, b at, s status) => split::file_write_at_all_end::<A>;
}
