! Ranks that are started while the job runs, in Fortran. The program is its own child.
program spawn
  use mpi
  implicit none
  character(len=500) :: self
  character(len=20) :: arguments(3), matrix(2, 3), first, second
  character(len=500) :: commands(2)
  integer :: error, rank, all, parent, children, codes(2), n, total, round, rounds, ranks(2), infos(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, all, error)
  call MPI_Comm_get_parent(parent, error)
  call get_command_argument(1, first)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(2, second)
    if (command_argument_count() /= 2) call MPI_Abort(MPI_COMM_WORLD, 98, error)
    call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, parent, error)
    print '(6a, i0, a, i0, a, i0)', trim(first), ' ', trim(second), ': ', 'child', ' ', rank, ' of ', all, ', ', total
    call MPI_Comm_disconnect(parent, error)
  else
    read (first, *) rounds
    call get_command_argument(0, self)
    do round = 1, rounds
      arguments = [character(len=20) :: 'child', 'one', ' ']
      codes = 7
      call MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, error)
      if (any(codes /= MPI_SUCCESS)) call MPI_Abort(MPI_COMM_WORLD, 97, error)
      call told('one')
      commands = self
      matrix = reshape([character(len=20) :: 'first', 'second', 'a', 'b', ' ', ' '], [2, 3])
      ranks = [1, 2]
      infos = MPI_INFO_NULL
      call MPI_Comm_spawn_multiple(2, commands, matrix, ranks, infos, all - 1, MPI_COMM_WORLD, children, &
                                   MPI_ERRCODES_IGNORE, error)
      call told('several')
    end do
  end if
  call MPI_Finalize(error)
contains
  subroutine told(what)
    character(len=*), intent(in) :: what
    call MPI_Allreduce(100, total, 1, MPI_INTEGER, MPI_SUM, children, error)
    call MPI_Comm_remote_size(children, n, error)
    print '(2a, i0, a, i0, a, i0)', what, ' ', rank, ': ', n, ' ', total
    call MPI_Comm_disconnect(children, error)
  end subroutine
end program
