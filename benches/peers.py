#!/usr/bin/env python3
"""Writes the page of the book that has ours beside the machine's limit and beside other systems, in one run.

    cargo build --profile bench --examples
    benches/peers.py                      writes the page
    benches/peers.py --starts 3 latency   only parts whose name contains a word; printed, not written

Each part of a benchmark is started anew several times: the processes, and where they lie in memory, are others then. A row
has the median over the starts, and the least and the most. Other systems are those that the benchmarks find installed.
"""

import argparse
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "src" / "appendix" / "peers.md"

# Benchmark, part.
PARTS = [
    ("between_nodes", "latency"),
    ("between_nodes", "rate"),
    ("between_nodes", "stream"),
    ("between_nodes", "migration"),
    ("between_nodes", "collectives"),
    ("between_nodes", "crowd"),
    ("between_nodes", "start"),
    ("between_pes", "hops"),
    ("between_pes", "crowd"),
    ("collective", "reach"),
    ("collective", "spawn"),
]

# Other systems are measured in the same run; figures that were taken elsewhere are left out.
NOT_IN_THIS_RUN = {"Charm++"}

# Why another system is ahead: a part of the row's name, and the reason.
REASONS = [
    ("tcp, 8 B", "beside the socket's system calls there are the checksum and the queue of the PE"),
    ("tcp, 8 KiB", "beside the socket's system calls there are the checksum and the queue of the PE"),
    ("shm, 8 B", "a number has the name of its object, entry and collection with it, by which its receiver is found"),
    ("shm, 1 KiB", "a vector is made for each message, where the others fill a buffer that is there"),
    ("shm, 8 KiB", "a vector is made for each message, where the others fill a buffer that is there"),
    ("16 B", "each message goes to one of a thousand objects, where the others have one receiver"),
    ("64 B", "each message goes to one of a thousand objects, where the others have one receiver"),
    ("1 MiB", "each message has memory of its own, where the others send one buffer again and again"),
    ("16 MiB", "each message has memory of its own, where the others send one buffer again and again"),
]

TITLE = re.compile(r"^(.+) \(([^;()]+); medians over the rounds")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--starts", type=int, default=5, help="how often each part is started (5)")
    arguments.add_argument("words", nargs="*", help="only parts with one of these in their names")
    given = arguments.parse_args()
    if given.starts < 1:
        arguments.error("--starts: give 1 at least")
    parts = [part for part in PARTS if not given.words or any(word in " ".join(part) for word in given.words)]
    if not parts:
        arguments.error(f"no part is called {' or '.join(given.words)}; there are {', '.join(map(' '.join, PARTS))}")
    tables = {}
    for bench, part in parts:
        for start in range(given.starts):
            print(f"{bench} {part}: start {start + 1} of {given.starts}", file=sys.stderr, flush=True)
            read(run(bench, part), tables)
    page = written(tables, given.starts)
    if given.words:
        print(page)
    else:
        PAGE.write_text(page)


def run(bench, part):
    command = ["cargo", "bench", "--quiet", "--bench", bench, "--", part]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return done.stdout


def read(text, tables):
    """Adds a run's rows: title and unit → row → column → figures of all starts."""
    rows, columns = None, []
    for line in text.splitlines():
        title = TITLE.match(line)
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        # A row's name may itself have the sign between two columns.
        name, values = split(line, len(columns))
        if title:
            rows, columns = tables.setdefault((title[1], title[2]), {}), []
        elif cells and rows is not None and not columns:
            columns = cells[1:]
        elif values and rows is not None and not set(line) <= set("|-: "):
            row = rows.setdefault(name, {})
            for column, value in zip(columns, values):
                figure = re.match(r"[0-9.]+$", value)
                if figure and column not in NOT_IN_THIS_RUN:
                    row.setdefault(column, []).append(float(value))


def split(line, columns):
    if not line.startswith("|") or columns == 0:
        return "", []
    # What misses its budget says so behind the last column.
    cells = [cell.strip() for cell in line[1:line.rindex("|")].split("|")]
    return " | ".join(cells[:-columns]), cells[-columns:]


def written(tables, starts):
    lines = [
        "# Beside other systems",
        "",
        "Written by `benches/peers.py`: ours, what the machine itself allows (*limit*), and other systems, all measured in the",
        f"same run, each part in {starts} starts of its processes. A figure is the median over the starts; in brackets are the least and",
        "the most. *Ahead* is a system that took less than the least of ours.",
        "",
        f"On {machine()}, {datetime.date.today()}.",
    ]
    for (title, unit), rows in tables.items():
        peers = sorted({column for row in rows.values() for column in row} - {"ours", "limit", "ratio"})
        lines += ["", f"## {title} ({unit})", ""]
        lines += ["| what | ours | limit | ratio |" + "".join(f" {peer} |" for peer in peers) + (" ahead |" if peers else "")]
        lines += ["|---|---:|---:|---:|" + "---:|" * len(peers) + ("---|" if peers else "")]
        lines += [line(name, row, peers) for name, row in rows.items() if "ours" in row]
    return "\n".join(lines) + "\n"


def line(name, row, peers):
    ours = row["ours"]
    cells = [name.replace("|", "beside"), spread(ours)]
    cells += [middle(row.get(column)) for column in ["limit", "ratio", *peers]]
    if peers:
        ahead = [peer for peer in peers if peer in row and statistics.median(row[peer]) < min(ours)]
        why = next((why for part, why in REASONS if part in name), "not explained")
        cells.append(f"{' and '.join(ahead)}: {why}" if ahead else "")
    return "| " + " | ".join(cells) + " |"


def spread(values):
    return middle(values) if len(values) == 1 else f"{middle(values)} ({short(min(values))}–{short(max(values))})"


def middle(values):
    return short(statistics.median(values)) if values else "–"


def short(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def machine():
    model = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}), Linux {platform.release()}"


if __name__ == "__main__":
    main()
