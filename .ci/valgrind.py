#!/usr/bin/env python3
"""Runs tests of unsafe code under valgrind: no invalid access, no use of unset memory, no lost block.

    .ci/valgrind.py                        the selection below
    .ci/valgrind.py talisman_core=report   the tests of a crate whose name contains a text
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

# (crate, part of the tests' names): what has `unsafe` in it. A selection that fits no test is an error, so that
# renaming a module does not silently end its checking.
SELECTED = [
    ("talisman_pup", ""),
    ("talisman_sched", ""),
    ("talisman_kernel", "message::"),
    ("talisman_kernel", "pe::"),
    ("talisman_kernel", "location::"),
    # No unsafe code: what may not be looked at without a trace cannot be read.
    ("talisman_core", "untraced"),
    ("talisman_store", "slabs"),
    ("talisman_store", "versions"),
    # Threads and slots of ranks are out of its reach: ampi/src/thread/README.md.
    ("talisman_ampi", "engine::"),
    ("talisman_ampi", "process::"),
    # Whole jobs: objects made, moved and dropped, on threads and simulated.
    ("api", "kinds"),
    ("storm", "in_simulation"),
]

LIMIT_S = 300

ROOT = pathlib.Path(__file__).resolve().parent.parent

VALGRIND = [
    "valgrind", "--quiet", "--error-exitcode=99", "--fair-sched=try",
    f"--suppressions={ROOT / '.ci' / 'valgrind.supp'}",
    "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
]


def main():
    selected = [tuple(argument.split("=", 1)) for argument in sys.argv[1:]] or SELECTED
    programs = test_programs()
    # Valgrind runs one thread of a program at a time: each core has a program.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checked = pool.map(lambda one: check(programs.get(one[0]), *one), selected)
        failures = [failure for failure in checked if failure]
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


def test_programs():
    """Crate, or file in tests/, → executable with its tests; the same build as `cargo test --workspace`."""
    targets = ["--lib", "--test", "api", "--test", "storm"]
    command = ["cargo", "test", "--workspace", *targets, "--no-run", "--message-format=json"]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    messages = (json.loads(line) for line in built.splitlines() if line.startswith("{"))
    return {message["target"]["name"]: message["executable"] for message in messages if message.get("executable")}


def check(program, crate, part):
    """Runs the selected tests; returns what failed."""
    if program is None:
        return f"{crate}: there is no such crate with unit tests, nor file in tests/"
    start = time.monotonic()
    try:
        done = subprocess.run(
            # Proptest's usual number of cases takes minutes under valgrind and finds no other paths.
            # One storm likewise.
            ["env", "PROPTEST_CASES=8", "TALISMAN_STORM_SEED=3", *VALGRIND, program, "--test-threads=1", part],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return f"{crate} {part}: no end after {LIMIT_S} s"
    passed = re.search(r"(\d+) passed", done.stdout)
    count = int(passed.group(1)) if passed else 0
    print(f"{time.monotonic() - start:6.2f} s  {crate} {part or '(all)'}: {count} tests", flush=True)
    if done.returncode != 0:
        return f"{crate} {part}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    if count == 0:
        return f"{crate} {part}: selects no test; correct SELECTED in .ci/valgrind.py"
    return None


if __name__ == "__main__":
    main()
