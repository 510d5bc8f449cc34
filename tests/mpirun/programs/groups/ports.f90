! Ports and names of services in Fortran.
program ports
  use mpi
  implicit none
  character(len=MPI_MAX_PORT_NAME) :: port, found
  character(len=20) :: service, argument
  integer :: error, rank, all, between, half, n, total, round, rounds, class
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, all, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call get_command_argument(1, argument)
  read (argument, *) rounds
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  do round = 1, rounds
    write (service, '(a, i0)') 'of Fortran ', round
    port = ' '
    found = ' '
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, error)
      call MPI_Publish_name(service, MPI_INFO_NULL, port, error)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Lookup_name(service, MPI_INFO_NULL, found, error)
    if (rank == 0 .and. found /= port) call MPI_Abort(MPI_COMM_WORLD, 98, error)
    if (mod(rank, 2) == 0) then
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, between, error)
    else
      call MPI_Comm_connect(found, MPI_INFO_NULL, 0, half, between, error)
    end if
    call MPI_Comm_remote_size(between, n, error)
    call MPI_Allreduce(rank + round, total, 1, MPI_INTEGER, MPI_SUM, between, error)
    call MPI_Comm_disconnect(between, error)
    if (between /= MPI_COMM_NULL) call MPI_Abort(MPI_COMM_WORLD, 97, error)
    if (rank == 0) then
      call MPI_Unpublish_name(service, MPI_INFO_NULL, port, error)
      call MPI_Close_port(port, error)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Lookup_name(service, MPI_INFO_NULL, found, error)
    call MPI_Error_class(error, class, error)
    if (class /= MPI_ERR_NAME) call MPI_Abort(MPI_COMM_WORLD, 96, error)
    print '(a, i0, a, i0, a, i0)', 'fortran ', rank, ': ', n, ' ', total
  end do
  call MPI_Finalize(error)
end program
