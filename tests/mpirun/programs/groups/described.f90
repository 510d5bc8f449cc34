! `use mpi_f08`: handles are types, buffers are of any type, and errors need not be asked for.
module marks
  use mpi_f08
  implicit none
  integer(kind=MPI_ADDRESS_KIND), save :: step = 100
contains
  subroutine copy_mark(old, key, extra, mark, copied, flag, error)
    type(MPI_Comm) :: old
    integer :: key, error
    integer(kind=MPI_ADDRESS_KIND) :: extra, mark, copied
    logical :: flag
    copied = mark + extra
    flag = .true.
    error = MPI_SUCCESS
  end subroutine
  subroutine discard_mark(old, key, mark, extra, error)
    type(MPI_Comm) :: old
    integer :: key, error
    integer(kind=MPI_ADDRESS_KIND) :: mark, extra
    print '(a,2i5)', 'discarded', mark, extra
    error = MPI_SUCCESS
  end subroutine
  ! Of a request of the program's own.
  subroutine query(extra, status, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    type(MPI_Status) :: status
    integer :: error
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = int(extra)
    status%MPI_TAG = 7
    error = MPI_SUCCESS
  end subroutine
  subroutine let_go(extra, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: error
    step = extra
    error = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, is_complete, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: is_complete
    integer :: error
    error = MPI_SUCCESS
  end subroutine
end module

program ring
  use mpi_f08
  use marks
  implicit none
  integer :: rank, ranks, token, total, i
  type(MPI_Status) :: status
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half, twin
  integer :: key
  integer(kind=MPI_ADDRESS_KIND) :: mark, most_tags
  logical :: has_mark, has_tags
  type(MPI_Datatype) :: pair
  integer :: values(4), got(4), count
  double precision :: mine, most
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  values = [(rank * 10 + i, i = 1, 4)]
  call MPI_Irecv(got, 4, MPI_INTEGER, mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(values, 4, MPI_INTEGER, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  token = rank
  call MPI_Sendrecv_replace(token, 1, MPI_INTEGER, mod(rank + 1, ranks), 5, mod(rank + ranks - 1, ranks), 5, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  mine = rank * 1.5d0
  call MPI_Allreduce(mine, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, half)
  call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Bcast(values, 2, pair, 0, MPI_COMM_WORLD)
  call MPI_Type_free(pair)
  print '(a,i3,4i4,3i4,2f6.1,4i4,l2)', 'rank', rank, got, total, token, status%MPI_SOURCE, most, mine, values, &
    status%MPI_TAG == 5 .and. count == 1
  call MPI_Comm_create_keyval(copy_mark, discard_mark, key, step)
  mark = rank
  call MPI_Comm_set_attr(half, key, mark)
  call MPI_Comm_dup(half, twin)
  call MPI_Comm_get_attr(twin, key, mark, has_mark)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, most_tags, has_tags)
  print '(a,i3,i5,3l2)', 'marked', rank, mark, has_mark, has_tags, most_tags >= 32767
  call MPI_Comm_delete_attr(half, key)
  call MPI_Comm_get_attr(half, key, mark, has_mark)
  call MPI_Comm_free(twin)
  call MPI_Comm_free_keyval(key)
  print '(a,i3,l2)', 'unmarked', rank, has_mark
  mark = 20 + rank
  call MPI_Grequest_start(query, let_go, cancel, mark, requests(1))
  call MPI_Test(requests(1), has_mark, status)
  call MPI_Grequest_complete(requests(1))
  call MPI_Wait(requests(1), status)
  call MPI_Get_elements(status, MPI_INTEGER, count)
  print '(a,i3,l2,4i4)', 'own request', rank, has_mark, count, status%MPI_SOURCE, status%MPI_TAG, int(step)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, ranks)], MPI_UNWEIGHTED, MPI_INFO_NULL, &
    .false., twin)
  call MPI_Dist_graph_neighbors_count(twin, count, total, has_mark)
  call MPI_Dist_graph_neighbors(twin, count, got, MPI_UNWEIGHTED, total, values, MPI_UNWEIGHTED)
  print '(a,i3,2i3,l2,2i3)', 'neighbours', rank, count, total, has_mark, got(1), values(1)
  call MPI_Comm_free(twin)
  call MPI_Finalize()
end program
