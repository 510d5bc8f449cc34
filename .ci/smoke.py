#!/usr/bin/env python3
"""Runs every example shortly, as `cargo build --examples` makes it, in several ways, and compares what it reports.

An example gives the same results on 1, 2 and 8 PEs, with every message packed and every object repacked, and in
simulation; the same seed gives the same simulated run, event by event. Results whose name ends in `_s` (seconds, or
something per second) or `_ratio` (how evenly PEs were busy) are measurements and may differ; all others have to agree to the
last digit.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Arguments that make an example short; without an entry it runs as it is. An example that takes longer than
# LIMIT_S needs one.
SHORT = {"imbalance": ["--grid", "256", "--steps", "60"], "leanmd": ["--steps", "25"]}

LIMIT_S = 60

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What is added to these arguments; the first is what the others are compared with.
WAYS = {
    "1 PE": ["--pes", "1"],
    "2 PEs": ["--pes", "2"],
    "8 PEs": ["--pes", "8"],
    "packed": ["--pes", "2", "--pack-all", "--repack"],
    "simulated": ["--simulate", "--nodes", "3", "--pes", "2", "--seed", "1"],
    "simulated again": ["--simulate", "--nodes", "3", "--pes", "2", "--seed", "1"],
}

# Programs of MPI ranks have one PE a node.
WAYS_OF_RANKS = {
    "1 node": ["--pes", "1"],
    "2 nodes": ["--nodes", "2"],
    "4 nodes": ["--nodes", "4"],
    "packed": ["--nodes", "2", "--pack-all", "--repack"],
    "simulated": ["--simulate", "--nodes", "3", "--pes", "1", "--seed", "1"],
    "simulated again": ["--simulate", "--nodes", "3", "--pes", "1", "--seed", "1"],
}
OF_RANKS = "mpi_"

# Ends with an error on purpose (`tests/ranks.rs`).
STUCK = {"mpi_hang"}

REPORT_NAMES = {
    "program", "nodes", "pes", "wall_s", "steps", "results", "messages", "pe", "failures", "not_injected",
    "checkpoints", "balancing",
}
TRACE_HASH = re.compile(r"trace.*\b([0-9a-f]{16})\b", re.IGNORECASE)


class Failure(Exception):
    """What went wrong, for the one who reads the log."""


def main():
    folder, examples = built_examples()
    if not examples:
        sys.exit("there is no example to run")
    # Two at a time: while one begins or ends the other computes.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        checked = pool.map(lambda name: check_example(folder / name, name), examples)
        failures = [failure for of_one in checked for failure in of_one]
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


def built_examples():
    """The folder of the built examples, and the names of those that are for people, not for tests."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    targets = [target for package in metadata["packages"] for target in package["targets"]]
    shown = [target for target in targets if target["kind"] == ["example"] and "/examples/" in target["src_path"]]
    names = sorted({target["name"] for target in shown} - STUCK)
    return pathlib.Path(metadata["target_directory"]) / "debug" / "examples", names


def check_example(program, name):
    """Runs one example in all ways; returns what failed."""
    try:
        ways = WAYS_OF_RANKS if name.startswith(OF_RANKS) else WAYS
        reports = {way: run(program, name, added) for way, added in ways.items()}
        compare(name, reports)
        check_usage_error(program, name)
        check_closed_output(program, name, list(ways.values())[1])
    except Failure as failure:
        return [failure]
    return []


def run(program, name, added):
    """Runs an example once and returns its report, with the hash of the trace if it was simulated."""
    arguments = SHORT.get(name, []) + added
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        start = time.monotonic()
        done = execute([str(program), *arguments, "--report", str(file)])
        shown = " ".join([name, *arguments])
        print(f"{time.monotonic() - start:6.2f} s  {shown}", flush=True)
        if done.returncode != 0:
            raise Failure(f"{shown}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        report = read_report(file, shown)
    check_report(report, added, shown)
    report["trace_hash"] = TRACE_HASH.findall(done.stdout + done.stderr)
    return report


def execute(command, stdout=subprocess.PIPE):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TALISMAN_")}
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S,
            env=environment, cwd=ROOT,
        )
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)}: no end after {LIMIT_S} s") from None
    except OSError as error:
        raise Failure(f"{command[0]}: {error}") from None


def read_report(file, shown):
    """Numbers stay text, so that comparing them compares every digit."""
    try:
        return json.loads(file.read_text(), parse_float=str)
    except (OSError, ValueError) as error:
        raise Failure(f"{shown}: the report cannot be read: {error}") from None


def check_report(report, arguments, shown):
    missing = REPORT_NAMES - report.keys()
    if missing:
        raise Failure(f"{shown}: the report lacks {', '.join(sorted(missing))}")
    nodes, pes = value_of(arguments, "--nodes", 1), value_of(arguments, "--pes", 1)
    if (report["nodes"], report["pes"], len(report["pe"])) != (nodes, pes, nodes * pes):
        raise Failure(f"{shown}: the report is about {report['nodes']} nodes of {report['pes']} PEs, "
                      f"with times of {len(report['pe'])}")
    if not compared(report):
        raise Failure(f"{shown}: the report has no results to compare")


def value_of(arguments, option, default):
    return int(arguments[arguments.index(option) + 1]) if option in arguments else default


def compared(report):
    return {name: value for name, value in report["results"].items() if not name.endswith(("_s", "_ratio"))}


def compare(name, reports):
    (reference_way, reference), *others = reports.items()
    for way, report in others:
        if compared(report) != compared(reference):
            raise Failure(f"{name}: results differ\n  {reference_way}: {compared(reference)}\n  {way}: {compared(report)}")
    first, again = (reports[way]["trace_hash"] for way in ("simulated", "simulated again"))
    if not first:
        raise Failure(f"{name}: a simulated run prints no hash of its trace")
    if first != again:
        raise Failure(f"{name}: two simulated runs with one seed differ: {first} and {again}")


def check_usage_error(program, name):
    status = execute([str(program), "--pes", "0"]).returncode
    if status != 2:
        raise Failure(f"{name} --pes 0: exit status {status} instead of 2")


def check_closed_output(program, name, added):
    """A reader that goes away, as in `example | head -0`, is no reason to panic."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = execute([str(program), *SHORT.get(name, []), *added], stdout=writer)
    finally:
        os.close(writer)
    if done.returncode != 0 or "panicked" in done.stderr:
        raise Failure(f"{name} with closed output: exit status {done.returncode}\n{done.stderr}")


if __name__ == "__main__":
    main()
