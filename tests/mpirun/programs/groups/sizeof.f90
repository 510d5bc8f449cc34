! The module `mpi` of MPICH and Open MPI says how many bytes a value has, of any kind, alone or in an array.
program sizes
  use mpi
  implicit none
  integer :: rank, error, of(4)
  double precision :: several(3)
  character :: letter
  logical :: answers(2, 2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Sizeof(rank, of(1), error)
  call MPI_Sizeof(several, of(2), error)
  call MPI_Sizeof(letter, of(3), error)
  call MPI_Sizeof(answers(:, 1), of(4), error)
  print '(A, I4, A, 4I3)', 'sizes', rank, ':', of
  call MPI_Finalize(error)
end program
