from mpi4py import MPI
import numpy

world = MPI.COMM_WORLD
own = numpy.arange(5, dtype="d")
total = numpy.empty_like(own)
world.Allreduce(own, total, op=MPI.SUM)
square = numpy.outer(own, own) @ numpy.ones(5)
if world.rank == 0:
    print(total, square @ numpy.array([0, 1, 0, 0, 2.0]))
