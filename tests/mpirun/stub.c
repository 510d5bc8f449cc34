/* A library to link programs with: what is in it is never called. */
#include <mpi.h>

#ifdef OPENMPI
struct object ompi_mpi_comm_world = {{1}}, ompi_mpi_char = {{1}}, ompi_mpi_int = {{1}}, ompi_mpi_long = {{1}};
struct object ompi_mpi_double = {{1}}, ompi_mpi_op_max = {{1}}, ompi_mpi_op_sum = {{1}};
struct object ompi_mpi_info_null = {{1}};
#endif

#define STUB(name) void *stub_##name(void) __asm__(#name); void *stub_##name(void) { return 0; }
STUB(MPI_Init)
STUB(MPI_Finalize)
STUB(MPI_Abort)
STUB(MPI_Comm_rank)
STUB(MPI_Comm_size)
STUB(MPI_Comm_split)
STUB(MPI_Comm_dup)
STUB(MPI_Comm_free)
STUB(MPI_Send)
STUB(MPI_Recv)
STUB(MPI_Sendrecv)
STUB(MPI_Isend)
STUB(MPI_Irecv)
STUB(MPI_Test)
STUB(MPI_Waitall)
STUB(MPI_Get_count)
STUB(MPI_Barrier)
STUB(MPI_Bcast)
STUB(MPI_Allreduce)
STUB(MPI_Initialized)
STUB(MPI_Is_thread_main)
STUB(MPI_File_open)
STUB(MPI_File_write_at)
STUB(MPI_File_write_at_all)
STUB(MPI_File_write_shared)
STUB(MPI_File_write_ordered)
STUB(MPI_File_read_at)
STUB(MPI_File_read_at_all)
STUB(MPI_File_set_view)
STUB(MPI_File_set_size)
STUB(MPI_File_get_size)
STUB(MPI_File_seek)
STUB(MPI_File_get_position)
STUB(MPI_File_get_position_shared)
STUB(MPI_File_close)
STUB(MPI_File_delete)
STUB(MPI_Wtime)
