! Messages in parts in Fortran, with `use mpi` and with `use mpi_f08`. The first argument is how often all is done.
module by_numbers
  ! The module of MPICH 4.0 says that its flag is an integer.
  use mpi, parrived_with_integer => MPI_Parrived
  implicit none
  external :: MPI_Parrived
contains
  subroutine numbers(round)
    integer, intent(in) :: round
    integer :: rank, size, error, again, part, own(4, 6), got(4, 6), requests(2), statuses(MPI_STATUS_SIZE, 2)
    integer(kind=MPI_COUNT_KIND) :: count
    logical :: flag
    asynchronous :: got
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    count = 4
    call MPI_Psend_init(own, 6, count, MPI_INTEGER, mod(rank + 1, size), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(1), error)
    call MPI_Precv_init(got, 6, count, MPI_INTEGER, mod(rank + size - 1, size), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(2), error)
    do again = 1, 2
      own = reshape([(1000 * rank + 10 * part + again + round, part = 1, 24)], [4, 6])
      got = -1
      call MPI_Startall(2, requests, error)
      call MPI_Pready_list(2, [5, 0], requests(1), error)
      call MPI_Pready(3, requests(1), error)
      call MPI_Pready_range(1, 2, requests(1), error)
      call MPI_Pready(4, requests(1), error)
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(requests(2), 5, flag, error)
      end do
      if (got(4, 6) /= 1000 * mod(rank + size - 1, size) + 240 + again + round) &
        call MPI_Abort(MPI_COMM_WORLD, 91, error)
      call MPI_Waitall(2, requests, statuses, error)
    end do
    call MPI_Request_free(requests(1), error)
    call MPI_Request_free(requests(2), error)
    if (requests(1) /= MPI_REQUEST_NULL) call MPI_Abort(MPI_COMM_WORLD, 92, error)
    print '(a,i3,24i6)', 'numbers ', rank, got
  end subroutine
end module

module by_types
  use mpi_f08
  implicit none
contains
  subroutine types(round)
    integer, intent(in) :: round
    integer :: rank, size, part
    double precision :: own(8), got(8)
    type(MPI_Request) :: requests(2)
    logical :: flag
    asynchronous :: got
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    own = [(rank + 0.5d0 * part + round, part = 1, 8)]
    got = -1
    call MPI_Psend_init(own, 4, 2_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 7, MPI_COMM_WORLD, &
                        MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(got, 4, 2_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, mod(rank + size - 1, size), 7, &
                        MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Pready_list(2, [3, 1], requests(1))
    call MPI_Pready(0, requests(1))
    call MPI_Pready_range(2, 2, requests(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(requests(2), 1, flag)
    end do
    if (got(4) /= mod(rank + size - 1, size) + 2 + round) call MPI_Abort(MPI_COMM_WORLD, 93)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    print '(a,i3,8f7.2)', 'types ', rank, got
  end subroutine
end module

program main
  use mpi, only: MPI_Init, MPI_Finalize
  use by_numbers, only: numbers
  use by_types, only: types
  implicit none
  integer :: error, round, rounds
  character(len=8) :: word
  call get_command_argument(1, word)
  read (word, *) rounds
  call MPI_Init(error)
  do round = 1, rounds
    call numbers(round)
    call types(round)
  end do
  call MPI_Finalize(error)
end program
