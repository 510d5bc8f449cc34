c Fortran 77 with mpif.h: messages, special values, an operation of the program, a datatype.
      program fixed
      implicit none
      include 'mpif.h'
      integer rank, size, error, i, op, type, request, key
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
      integer requests(2)
      integer out(100), in(100), whole(10), next, last
      integer (kind=MPI_ADDRESS_KIND) place, low, extent
      double precision mine, sum
      character*(MPI_MAX_PROCESSOR_NAME) name
      logical flag
      external larger
      common /kept/ next, last
      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, error)
      next = mod(rank + 1, size)
      last = mod(rank + size - 1, size)
      do i = 1, 100
        out(i) = rank * 100 + i
        in(i) = 0
      end do
      call MPI_IRECV(in, 100, MPI_INTEGER, last, 3, MPI_COMM_WORLD,
     &               requests(1), error)
      call MPI_ISEND(out, 100, MPI_INTEGER, next, 3, MPI_COMM_WORLD,
     &               requests(2), error)
      call MPI_WAITALL(2, requests, statuses, error)
      call MPI_GET_COUNT(statuses(1, 1), MPI_INTEGER, i, error)
      if (i .ne. 100 .or. statuses(MPI_SOURCE, 1) .ne. last) then
        call MPI_ABORT(MPI_COMM_WORLD, 99, error)
      end if
      call MPI_SENDRECV(out, 5, MPI_INTEGER, next, 4, in, 5,
     &                  MPI_INTEGER, last, 4, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, error)
      write (*, '(A, I4, A, 2I8)') 'messages', rank, ':', in(5), in(100)
      mine = rank + 0.5d0
      call MPI_ALLREDUCE(mine, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &                   MPI_COMM_WORLD, error)
      call MPI_ALLREDUCE(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION,
     &                   MPI_MAX, MPI_COMM_WORLD, error)
      write (*, '(A, I4, A, 2F10.3)') 'reduced', rank, ':', sum, mine
      call MPI_OP_CREATE(larger, .true., op, error)
      call MPI_ALLREDUCE(out, in, 100, MPI_INTEGER, op, MPI_COMM_WORLD,
     &                   error)
      call MPI_OP_FREE(op, error)
      write (*, '(A, I4, A, I8)') 'operation', rank, ':', in(50)
      call MPI_TYPE_VECTOR(5, 1, 2, MPI_INTEGER, type, error)
      call MPI_TYPE_COMMIT(type, error)
      call MPI_TYPE_GET_EXTENT(type, low, extent, error)
      do i = 1, 10
        whole(i) = -1
      end do
      call MPI_SENDRECV(out, 1, type, next, 5, whole, 1, type, last, 5,
     &                  MPI_COMM_WORLD, status, error)
      call MPI_TYPE_FREE(type, error)
      write (*, '(A, I4, A, 10I5, I4)') 'vector', rank, ':', whole,
     &       int(extent)
      call MPI_GET_ADDRESS(out, place, error)
      call MPI_SEND_INIT(out, 2, MPI_INTEGER, next, 6, MPI_COMM_WORLD,
     &                   request, error)
      call MPI_START(request, error)
      call MPI_PROBE(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, status, error)
      call MPI_RECV(in, 2, MPI_INTEGER, status(MPI_SOURCE), 6,
     &              MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
      call MPI_REQUEST_FREE(request, error)
      call MPI_GET_PROCESSOR_NAME(name, i, error)
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, place, flag,
     &                       error)
      write (*, '(A, I4, A, 2I6, 2L2)') 'others', rank, ':', in(1),
     &       in(2), flag .and. place .ge. 32767, i .gt. 0
      call MPI_FINALIZE(error)
      end

      subroutine larger(left, right, count, type)
      implicit none
      include 'mpif.h'
      integer count, type, i, left(count), right(count), rank, error, n
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_TYPE_SIZE(type, n, error)
      if (n .ne. 4 .or. type .ne. MPI_INTEGER .or. rank .lt. 0) then
        call MPI_ABORT(MPI_COMM_WORLD, 98, error)
      end if
      do i = 1, count
        right(i) = max(left(i), right(i))
      end do
      end
