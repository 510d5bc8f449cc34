#!/usr/bin/env python3
"""Counts the instructions of a message on each of its ways, under callgrind, and compares them with what they may be.

    .ci/instructions.py              the tests' build: compared with the bounds below
    .ci/instructions.py --release    as users build it: printed only, for the book

The count does not depend on what else the machine does. Each way is a test of `core/src/tests/instructions.rs`. In the
tests' build there is also what only other tests need, which adds some sixty instructions; a build without it took longer
than all else here. A bound is a tenth above what was counted without it when it was set.
"""

import json
import pathlib
import re
import subprocess
import sys

# (way, test, most instructions of a message, or of a round, in the tests' build)
WAYS = [
    ("8 bytes on one PE", "a_number_on_a_pe", 1_300),
    ("8 bytes between PEs of a node", "a_number_between_pes", 1_830),
    ("8 bytes between nodes of a host", "a_number_between_nodes", 3_210),
    ("1 KiB between nodes of a host", "bytes_between_nodes", 5_670),
    ("a broadcast and its reduction over two PEs", "a_broadcast_and_its_reduction_over_two_pes", 25_700),
    ("an element that answers a broadcast", "an_element_that_answers_a_broadcast", 1_040),
]
# As the tests have it.
MESSAGES = 2_000

LIMIT_S = 300

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    is_release = sys.argv[1:] == ["--release"]
    program = built(is_release)
    missed = []
    for way, test, most in WAYS:
        counted = instructions(program, test)
        bound = "" if is_release else f"  (at most {most})"
        print(f"{counted:6.0f}  {way}{bound}", flush=True)
        if counted > most and not is_release:
            missed.append(way)
    if missed:
        sys.exit(f"FAILED: more instructions than a message may take: {', '.join(missed)}")


def built(is_release):
    """The executable of the tests."""
    packages = ["-p", "talisman-core", "--release"] if is_release else ["--workspace"]
    command = ["cargo", "test", *packages, "--lib", "--no-run", "--message-format=json"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    messages = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    made = [message for message in messages if message.get("executable")]
    found = [message["executable"] for message in made if message["target"]["name"] == "talisman_core"]
    if len(found) != 1:
        sys.exit(f"one executable with the tests was expected, not {found}")
    return found[0]


def instructions(program, test):
    name = f"tests::instructions::{test}"
    command = [
        "valgrind", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=/dev/null",
        program, "--test-threads=1", "--exact", name,
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or "1 passed" not in done.stdout or not collected or collected[1] == "0":
        sys.exit(f"{name} was not counted:\n{done.stdout}{done.stderr}")
    return int(collected[1]) / MESSAGES


if __name__ == "__main__":
    main()
