from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
parts = world.gather({"rank": rank, "square": rank ** 2})
total = world.allreduce(rank + 1, op=MPI.SUM)
names = world.bcast(["a", "b"] if rank == 0 else None)
if rank == 0:
    request = world.isend(("tuple", 7), dest=1, tag=3)
    request.wait()
elif rank == 1:
    print("got", world.recv(source=0, tag=3), flush=True)
half = world.Split(rank % 2, rank)
most = half.allreduce(rank, op=MPI.MAX)
own = bytearray(b"%d" % rank)
world.Bcast([own, MPI.BYTE], root=size - 1)
print(rank, size, parts, total, names, most, bytes(own), MPI.Get_processor_name() != "", flush=True)
