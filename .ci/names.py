#!/usr/bin/env python3
"""Compares the public names of `talisman`, as its documentation lists them, with `.ci/names.txt`.

    RUSTDOCFLAGS= cargo doc --workspace --no-deps && python3 .ci/names.py            what differs; status 1 if anything does
    python3 .ci/names.py --write                                                     takes what the documentation has
    python3 .ci/names.py --documentation FOLDER                                      of another folder than target/doc

A name that is not meant to be public is hidden (`#[doc(hidden)]`) where it is exported. Whoever removes or renames one of
these breaks programs.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOWN = ROOT / ".ci" / "names.txt"
ITEM = re.compile(r'<a href="(?:[a-z_0-9]+/)*([a-z]+)\.[^"]*\.html">([^<]*)</a>')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--documentation", type=pathlib.Path, default=ROOT / "target" / "doc")
    arguments = parser.parse_args()
    names = documented(arguments.documentation / "talisman" / "all.html")
    if arguments.write:
        KNOWN.write_text("".join(f"{name}\n" for name in names))
        return
    known = KNOWN.read_text().splitlines()
    for name in sorted(set(names) - set(known)):
        print(f"public, and not in .ci/names.txt: {name}", file=sys.stderr)
    for name in sorted(set(known) - set(names)):
        print(f"in .ci/names.txt, and not public: {name}", file=sys.stderr)
    sys.exit(names != known)


def documented(page):
    """Kind and path of each item, in order."""
    return sorted({f"{kind} {path}" for kind, path in ITEM.findall(page.read_text())})


if __name__ == "__main__":
    main()
