#!/usr/bin/env python3
"""The NAS Parallel Benchmarks under `talisman mpirun`, MPICH and Open MPI, in turns.

    benches/mpi/nas.py --mpich NPB3.4-MPI/bin [--openmpi OTHER/bin] [--talisman target/release/talisman]

Folders hold executables as NPB 3.4 builds and names them (`cg.A.x`), for MPICH and for Open MPI. Each round runs each
way once. A row of the first table has the medians of the ratios to two nodes of Talisman in the same round, and their
quartiles, of the time that the program tells; one of the second the same of what all processes of the job had of the
cores, from their start to their end. That does not depend on how many others want these, but who polls has more. A way
that fails, is not verified or takes too long is left out, and said.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

NEVER = "10h"
TIMED_OUT = 124


class Way:
    """A way to run a program: the words in front of it, and for which library it is built."""

    def __init__(self, name, library, words, at=None):
        self.name, self.library, self.words, self.at = name, library, words, at

    def command(self, options, ranks, program, seconds):
        if self.library == "mpich" and self.words is None:
            return ["mpirun.mpich", "-n", str(ranks), f"{options.mpich}/{program}.x"]
        if self.library == "openmpi":
            start = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
            return start + [f"{options.openmpi}/{program}.x"]
        words = self.words.split()
        if self.at is not None:
            words += ["--kill", f"1@{max(50, round(1000 * self.at * seconds))}ms"]
        return [options.talisman, "mpirun", "-n", str(ranks), *words, f"{options.mpich}/{program}.x"]


def talisman(name, words, at=None):
    return Way(name, "mpich", words, at)


REFERENCE = "2 nodes"
WAYS = [
    talisman(REFERENCE, "--nodes 2"),
    talisman("1 node", ""),
    talisman("4 nodes", "--nodes 4"),
    talisman("2, double", f"--nodes 2 --ft double --ckpt-every {NEVER}"),
    talisman("2, double, 1s", "--nodes 2 --ft double --ckpt-every 1s"),
    talisman("2, logging", f"--nodes 2 --ft logging --ckpt-every {NEVER}"),
    talisman("2, logging, 1s", "--nodes 2 --ft logging --ckpt-every 1s"),
    talisman("4, double", f"--nodes 4 --ft double --ckpt-every {NEVER}"),
    talisman("4, double, 1s", "--nodes 4 --ft double --ckpt-every 1s"),
    talisman("4, logging", f"--nodes 4 --ft logging --ckpt-every {NEVER}"),
    talisman("4, logging, 1s", "--nodes 4 --ft logging --ckpt-every 1s"),
    talisman("4, ticket", f"--nodes 4 --ft logging:ticket --ckpt-every {NEVER}"),
    talisman("4, double, 1s, killed", "--nodes 4 --ft double --ckpt-every 1s --respawn", at=0.5),
    talisman("4, logging, 1s, killed", "--nodes 4 --ft logging --ckpt-every 1s", at=0.5),
    talisman("4, ticket, 1s, killed", "--nodes 4 --ft logging:ticket --ckpt-every 1s", at=0.5),
    Way("MPICH", "mpich", None),
    Way("Open MPI", "openmpi", None),
]


def cores():
    """What processes that have ended had of the cores."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, limit):
    """The seconds that the program tells, and those on the cores; or why there are none."""
    before = cores()
    with tempfile.TemporaryDirectory() as folder:
        # A launcher that is told to end takes its processes along.
        command = ["timeout", "-k", "5", str(limit), *command]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode == TIMED_OUT:
        return f"more than {limit} s"
    told = re.search(r"Time in seconds\s*=\s*([\d.]+)", done.stdout)
    if done.returncode != 0 or not told:
        return f"status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    # EP says nothing of the kind if a sum is wrong.
    if not re.search(r"Verification\s*=\s*SUCCESSFUL", done.stdout):
        return "not verified"
    return max(float(told.group(1)), 0.005), cores() - before


def measure(options, program, ranks):
    """The times of each way in each round: a round without the reference does not count."""
    rounds, out = [], {}
    seconds = None
    for _ in range(options.rounds):
        times = {}
        for way in options.ways:
            if way.name in out or way.library == "openmpi" and not options.openmpi:
                continue
            if way.at is not None and seconds is None:
                continue
            told = run(way.command(options, ranks, program, seconds), options.limit)
            if isinstance(told, str):
                print(f"{program}, {ranks} ranks, {way.name}: {told}", file=sys.stderr, flush=True)
                # A long wait is not repeated.
                if told.startswith("more than"):
                    out[way.name] = told
                continue
            times[way.name] = told
            if way.name == REFERENCE:
                seconds = told[0]
        if REFERENCE in times:
            rounds.append(times)
    return rounds, out


def entry(rounds, name, out, kind):
    if name in out:
        return "> limit"
    ratios = [times[name][kind] / times[REFERENCE][kind] for times in rounds if name in times]
    if not ratios:
        return "–"
    if len(ratios) < 3:
        return f"{statistics.median(ratios):.2f}"
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def row(names, rounds, out, kind):
    seconds = statistics.median(times[REFERENCE][kind] for times in rounds) if rounds else float("nan")
    return f"{seconds:.2f} | " + " | ".join(entry(rounds, name, out, kind) for name in names[1:]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpich", required=True, help="folder of executables built for MPICH")
    parser.add_argument("--openmpi", help="the same for Open MPI")
    parser.add_argument("--talisman", default="target/release/talisman")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60, help="most seconds for a run")
    parser.add_argument("--ranks", default="4,16")
    parser.add_argument("--programs", default="cg.A,mg.A,ft.A,is.A,lu.W,bt.W")
    parser.add_argument("--ways", default=".", help="expression that names of ways have in them")
    options = parser.parse_args()
    for name in ["mpich", "openmpi", "talisman"]:
        given = getattr(options, name)
        setattr(options, name, given and os.path.abspath(given))
    options.ways = [way for way in WAYS if way.name == REFERENCE or re.search(options.ways, way.name)]
    names = [way.name for way in options.ways]
    head = f"| program, ranks | s | {' | '.join(names[1:])} |\n|---|---:|{'---:|' * len(names[1:])}"
    tables = [[f"Time\n\n{head}"], [f"On the cores\n\n{head}"]]
    for ranks in map(int, options.ranks.split(",")):
        for program in options.programs.split(","):
            rounds, out = measure(options, program, ranks)
            for kind, table in enumerate(tables):
                table.append(f"| {program}, {ranks} | {row(names, rounds, out, kind)}")
                print(table[-1], file=sys.stderr, flush=True)
    print("\n\n".join("\n".join(table) for table in tables))


if __name__ == "__main__":
    main()
