! Fortran 90 with the module `mpi`: allocatable arrays, a derived type, collectives in place, a topology.
program modern
  use mpi
  implicit none
  type particle
    sequence
    double precision :: at(3)
    integer :: number, kind
  end type
  integer :: rank, size, error, i, grid, type, before, after
  integer :: dims(1), coords(1), lengths(2), types(2)
  integer(kind=MPI_ADDRESS_KIND) :: places(2)
  logical :: around(1)
  type(particle), allocatable :: mine(:), theirs(:)
  double precision, allocatable :: all(:), block(:, :), sum(:)
  integer, allocatable :: counts(:), starts(:)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  dims = size
  around = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, around, .false., grid, error)
  call MPI_Cart_coords(grid, rank, 1, coords, error)
  call MPI_Cart_shift(grid, 0, 1, before, after, error)

  allocate (mine(20), theirs(20))
  do i = 1, 20
    mine(i) = particle([dble(i), dble(rank), i * 0.5d0], i, rank)
  end do
  lengths = [3, 2]
  types = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
  call MPI_Get_address(mine(1)%at, places(1), error)
  call MPI_Get_address(mine(1)%number, places(2), error)
  places = places - places(1)
  call MPI_Type_create_struct(2, lengths, places, types, type, error)
  call MPI_Type_commit(type, error)
  call MPI_Sendrecv(mine, 20, type, after, 1, theirs, 20, type, before, 1, grid, MPI_STATUS_IGNORE, error)
  call MPI_Type_free(type, error)
  print '(A, I4, A, 3F8.2, 2I4)', 'particles', rank, ':', theirs(7)%at, theirs(7)%number, theirs(7)%kind

  allocate (counts(size), starts(size), all(size * (size + 1) / 2))
  do i = 1, size
    counts(i) = i
    starts(i) = i * (i - 1) / 2
  end do
  all = -1
  all(starts(rank + 1) + 1:starts(rank + 1) + rank + 1) = [(rank * 10d0 + i, i = 0, rank)]
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, starts, MPI_DOUBLE_PRECISION, grid, error)
  print '(A, I4, A, 100F7.1)', 'gathered', rank, ':', all

  allocate (block(3, size), sum(3 * size))
  block = reshape([(dble(i * (rank + 1)), i = 1, 3 * size)], [3, size])
  call MPI_Allreduce(block, sum, 3 * size, MPI_DOUBLE_PRECISION, MPI_SUM, grid, error)
  call MPI_Alltoall(MPI_IN_PLACE, 3, MPI_DOUBLE_PRECISION, block, 3, MPI_DOUBLE_PRECISION, grid, error)
  print '(A, I4, A, 100F7.1)', 'exchanged', rank, ':', sum(3), block(:, size)
  call MPI_Comm_free(grid, error)
  deallocate (mine, theirs, all, block, sum)
  call MPI_Finalize(error)
end program
