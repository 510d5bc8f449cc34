! Files in Fortran: offsets, a view, the ignored status, names with blanks behind them. The first argument is how often,
! the second a name that files begin with.
program records
  use mpi
  implicit none
  integer :: rank, size, error, file, turn, count, i, class, round, rounds
  integer :: status(MPI_STATUS_SIZE)
  integer(kind=MPI_OFFSET_KIND) :: at, length, displacement
  integer :: etype, filetype
  character(len=MPI_MAX_DATAREP_STRING) :: form
  character(len=200) :: prefix, number
  double precision :: mine(100), theirs(100)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call get_command_argument(1, number)
  call get_command_argument(2, prefix)
  read (number, *) rounds
  do round = 1, rounds
    mine = [(rank * 1000d0 + i, i = 1, 100)]
    call MPI_File_open(MPI_COMM_WORLD, trim(prefix)//'-records   ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
    if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 91, error)
    at = rank * 800_MPI_OFFSET_KIND
    call MPI_File_write_at(file, at, mine, 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    call MPI_File_sync(file, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    at = mod(rank + 1, size) * 800_MPI_OFFSET_KIND
    call MPI_File_read_at_all(file, at, theirs, 100, MPI_DOUBLE_PRECISION, status, error)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, error)
    call MPI_File_get_size(file, length, error)
    print '(A, I4, A, F10.1, I6, I8)', 'records', rank, ':', theirs(100), count, length
    call MPI_File_close(file, error)
    ! Another one: what a lost node has overwritten stays so, and would be read by who goes back.
    call MPI_File_open(MPI_COMM_WORLD, trim(prefix)//'-turns', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
    if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 91, error)
    call MPI_Type_vector(50, 1, size, MPI_DOUBLE_PRECISION, turn, error)
    call MPI_Type_commit(turn, error)
    displacement = rank * 8
    call MPI_File_set_view(file, displacement, MPI_DOUBLE_PRECISION, turn, 'native', MPI_INFO_NULL, error)
    call MPI_File_write_all(file, mine, 50, MPI_DOUBLE_PRECISION, status, error)
    call MPI_File_get_view(file, displacement, etype, filetype, form, error)
    print '(A, I4, A, I4, L2, A8)', 'view', rank, ':', displacement, etype == MPI_DOUBLE_PRECISION, trim(form)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    at = 0
    displacement = 0
    call MPI_File_set_view(file, displacement, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'native', MPI_INFO_NULL, error)
    call MPI_File_read_at(file, at, theirs, 2 * size, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    print '(A, I4, A, 20F9.1)', 'turns', rank, ':', theirs(1:2 * size)
    call MPI_Type_free(turn, error)
    call MPI_File_close(file, error)
    if (file /= MPI_FILE_NULL) call MPI_Abort(MPI_COMM_WORLD, 92, error)
    call MPI_File_open(MPI_COMM_SELF, '/nowhere/at/all', MPI_MODE_RDONLY, MPI_INFO_NULL, file, error)
    call MPI_Error_class(error, class, error)
    if (class /= MPI_ERR_NO_SUCH_FILE) call MPI_Abort(MPI_COMM_WORLD, 93, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
