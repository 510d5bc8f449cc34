! One-sided communication in Fortran, with `use mpi` and with `use mpi_f08`. The first argument is how often all is done.
module by_numbers
  use mpi
  implicit none
contains
  subroutine numbers(round)
    integer, intent(in) :: round
    integer :: rank, size, error, window, i, key, length, own(10), got(4), memory(20)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, at, value
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, size, error)
    memory = -rank
    own = [(100 * rank + i + round, i = 1, 10)]
    bytes = 80
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag, error)
    if (.not. flag .or. value /= 80) call MPI_Abort(MPI_COMM_WORLD, 91, error)
    call MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, value, flag, error)
    if (.not. flag .or. value /= 4) call MPI_Abort(MPI_COMM_WORLD, 92, error)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, bytes, error)
    value = 77
    call MPI_Win_set_attr(window, key, value, error)
    value = 0
    call MPI_Win_get_attr(window, key, value, flag, error)
    if (.not. flag .or. value /= 77) call MPI_Abort(MPI_COMM_WORLD, 93, error)
    call MPI_Win_free_keyval(key, error)
    call MPI_Win_set_name(window, 'in numbers  ', error)
    call MPI_Win_get_name(window, name, length, error)
    call MPI_Win_fence(0, window, error)
    at = 5
    call MPI_Put(own, 10, MPI_INTEGER, mod(rank + 1, size), at, 10, MPI_INTEGER, window, error)
    call MPI_Win_fence(0, window, error)
    at = 0
    call MPI_Accumulate(own, 5, MPI_INTEGER, 0, at, 5, MPI_INTEGER, MPI_SUM, window, error)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, window, error)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window, error)
    at = 3
    call MPI_Get(got, 4, MPI_INTEGER, 0, at, 4, MPI_INTEGER, window, error)
    call MPI_Win_unlock(0, window, error)
    call MPI_Win_free(window, error)
    if (window /= MPI_WIN_NULL) call MPI_Abort(MPI_COMM_WORLD, 94, error)
    print '(2a,i3,20i6)', trim(name), ' ', rank, memory
    print '(a,i3,4i6)', 'got ', rank, got
  end subroutine
end module

module by_types
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
contains
  subroutine types(round)
    integer, intent(in) :: round
    integer :: rank, size, key
    integer(kind=MPI_ADDRESS_KIND) :: bytes, at, value
    integer, pointer :: there(:)
    integer, asynchronous :: before, one, none, swapped, got(2)
    type(c_ptr) :: base
    type(MPI_Win) :: window
    type(MPI_Request) :: request
    logical :: flag
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    ! MPICH 4.0 mistakes memory whose length is no multiple of 16.
    bytes = 64
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
    call c_f_pointer(base, there, [10])
    there = 0
    call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag)
    if (.not. flag .or. value /= 64) call MPI_Abort(MPI_COMM_WORLD, 95)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, bytes)
    value = 5
    call MPI_Win_set_attr(window, key, value)
    value = 0
    call MPI_Win_get_attr(window, key, value, flag)
    if (.not. flag .or. value /= 5) call MPI_Abort(MPI_COMM_WORLD, 96)
    call MPI_Win_free_keyval(key)
    call MPI_Barrier(MPI_COMM_WORLD)
    one = rank + 1 + round
    at = 2
    call MPI_Win_lock_all(0, window)
    call MPI_Fetch_and_op(one, before, MPI_INTEGER, 0, at, MPI_SUM, window)
    call MPI_Win_flush(0, window)
    at = 4
    swapped = -1
    none = 0
    call MPI_Compare_and_swap(one, none, swapped, MPI_INTEGER, mod(rank + 1, size), at, window)
    call MPI_Win_flush_all(window)
    call MPI_Rget(got, 2, MPI_INTEGER, mod(rank + 1, size), at, 2, MPI_INTEGER, window, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock_all(window)
    call MPI_Barrier(MPI_COMM_WORLD)
    print '(a,i3,4i6)', 'types ', rank, there(3), there(5), swapped, got(1)
    call MPI_Win_free(window)
  end subroutine
end module

program windows
  use mpi
  use by_numbers, only: numbers
  use by_types, only: types
  implicit none
  integer :: error, rounds, round
  character(len=20) :: number
  call MPI_Init(error)
  call get_command_argument(1, number)
  read (number, *) rounds
  do round = 1, rounds
    call numbers(round)
    call types(round)
  end do
  call MPI_Finalize(error)
end program
