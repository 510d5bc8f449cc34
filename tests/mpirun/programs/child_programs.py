from mpi4py import MPI
import os
import subprocess
import sys

world = MPI.COMM_WORLD
child = subprocess.run([sys.executable, "-c", "print(input()[::-1])"], input=f"rank {world.rank}", capture_output=True, text=True)
failed = subprocess.run(["sh", "-c", "echo gone >&2; exit 3"], stderr=subprocess.PIPE)
os.environ["NAMED"] = f"name {world.rank}"
shell = subprocess.check_output("echo $NAMED", shell=True, text=True)
total = world.allreduce(failed.returncode)
print(child.stdout.strip(), failed.stderr, shell.strip(), os.system("exit 4") >> 8, total, flush=True)
