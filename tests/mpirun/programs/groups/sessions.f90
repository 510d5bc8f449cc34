! Sessions in Fortran, with `use mpi` and with `use mpi_f08`. The first argument is how often all is done.
module by_numbers
  use mpi
  implicit none
  integer :: errors = 0
contains
  subroutine counted(session, code)
    integer :: session, code
    if (session /= 0 .and. code /= MPI_SUCCESS) errors = errors + 1
  end subroutine

  subroutine numbers(round)
    integer, intent(in) :: round
    integer :: session, group, comm, info, handler, error, n, length, rank, size, total
    character(len=40) :: name, value
    logical :: flag
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, error)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, error)
    length = len(name)
    name = 'none'
    ! MPICH counts them from 1 in Fortran.
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, length, name, error)
    if (n < 2 .or. name(1:6) /= 'mpi://' .or. name(12:) /= ' ') stop 91
    name = 'mpi://WORLD'
    call MPI_Session_get_pset_info(session, 'mpi://SELF  ', info, error)
    call MPI_Info_get(info, 'mpi_size', 40, value, flag, error)
    if (.not. flag .or. value /= '1') stop 92
    call MPI_Info_free(info, error)
    call MPI_Group_from_session_pset(session, name, group, error)
    call MPI_Comm_create_from_group(group, 'numbers ', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, error)
    call MPI_Group_free(group, error)
    call MPI_Comm_rank(comm, rank, error)
    call MPI_Comm_size(comm, size, error)
    call MPI_Allreduce(rank + round, total, 1, MPI_INTEGER, MPI_SUM, comm, error)
    call MPI_Comm_free(comm, error)
    call MPI_Session_create_errhandler(counted, handler, error)
    call MPI_Session_set_errhandler(session, handler, error)
    call MPI_Errhandler_free(handler, error)
    call MPI_Session_call_errhandler(session, MPI_ERR_OTHER, error)
    if (errors /= round) stop 93
    call MPI_Session_finalize(session, error)
    if (total /= size * (size - 1) / 2 + size * round) stop 94
    print '(a,4i5)', 'numbers ', rank, size, total, errors
  end subroutine
end module

module by_types
  use mpi_f08
  implicit none
contains
  subroutine types(round)
    integer, intent(in) :: round
    type(MPI_Session) :: session
    type(MPI_Group) :: all, even, odd
    type(MPI_Comm) :: comm, between
    integer :: rank, size, n, i, total, half
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    call MPI_Group_from_session_pset(session, 'mpi://WORLD', all)
    call MPI_Comm_create_from_group(all, 'types', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, size)
    call MPI_Group_incl(all, (size + 1) / 2, [(2 * i, i = 0, (size - 1) / 2)], even)
    call MPI_Group_difference(all, even, odd)
    half = mod(rank, 2)
    if (half == 1) then
      call MPI_Intercomm_create_from_groups(odd, 0, even, 0, 'halves', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, between)
    else
      call MPI_Intercomm_create_from_groups(even, 0, odd, 0, 'halves', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, between)
    end if
    call MPI_Comm_remote_size(between, n)
    call MPI_Allreduce(10 * rank + round, total, 1, MPI_INTEGER, MPI_SUM, between)
    call MPI_Comm_free(between)
    call MPI_Comm_free(comm)
    call MPI_Group_free(even)
    call MPI_Group_free(odd)
    call MPI_Group_free(all)
    call MPI_Session_finalize(session)
    ! What the other half has.
    if (total /= sum([(10 * i + round, i = 1 - half, size - 1, 2)])) stop 95
    print '(a,4i5)', 'types ', rank, size, n, total
  end subroutine
end module

program main
  use by_numbers, only: numbers
  use by_types, only: types
  implicit none
  integer :: round, rounds
  character(len=8) :: word
  call get_command_argument(1, word)
  read (word, *) rounds
  do round = 1, rounds
    call numbers(round)
    call types(round)
  end do
end program
