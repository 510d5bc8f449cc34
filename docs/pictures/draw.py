#!/usr/bin/env python3
"""Draws the book's pictures from the texts beside this file.

    python3 docs/pictures/draw.py            writes NAME.svg in docs/src/pictures/ for each NAME.txt here
    python3 docs/pictures/draw.py --check    ends with status 1 if one of them is not what its text says

A line of a text is one of these; coordinates are pixels, and `#` begins a remark:

    size WIDTH HEIGHT
    title TEXT                      what a reader hears who does not see the picture
    frame X Y WIDTH HEIGHT LABEL    a dashed frame with its label at the top
    box X Y WIDTH HEIGHT LABEL      a box with its label in the middle; `|` begins another line
    strong X Y WIDTH HEIGHT LABEL   the same, emphasized
    gone X Y WIDTH HEIGHT LABEL     the same, for what is lost
    arrow X Y X Y [X Y …]           an arrow through these points
    dashed X Y X Y [X Y …]          a dashed one
    text X Y TEXT                   to the right of this point
    centre X Y TEXT                 around this point
"""

import html
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
DRAWN = FOLDER.parent / "src" / "pictures"

STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 12px; fill: #57606a; }
rect { fill: #f6f8fa; stroke: #57606a; }
.frame { fill: none; stroke-dasharray: 5 4; }
.strong { fill: #ddf4ff; stroke: #0969da; }
.gone { fill: #ffebe9; stroke: #cf222e; stroke-dasharray: 3 3; }
path { fill: none; stroke: #0969da; stroke-width: 1.5; }
.dashed { stroke-dasharray: 5 4; }
marker path { fill: #0969da; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  rect { fill: #21262d; stroke: #9198a1; }
  .frame { fill: none; }
  .strong { fill: #0c2d6b; stroke: #4493f8; }
  .gone { fill: #490202; stroke: #f85149; }
  path { stroke: #4493f8; }
  marker path { fill: #4493f8; }
}
"""

MARKER = ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
          'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>')


def main():
    stale = []
    for source in sorted(FOLDER.glob("*.txt")):
        drawn, target = drawing(source.read_text()), DRAWN / f"{source.stem}.svg"
        if "--check" not in sys.argv[1:]:
            target.write_text(drawn)
        elif not target.exists() or target.read_text() != drawn:
            stale.append(target.name)
    if stale:
        sys.exit(f"not as their texts say: {', '.join(stale)}; run python3 docs/pictures/draw.py")


def drawing(text):
    """The picture of a text, as SVG."""
    width = height = 0
    title, shapes = "", []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("", "#"):
            continue
        if word == "size":
            width, height = rest.split()
        elif word == "title":
            title = html.escape(rest)
        else:
            shapes += SHAPES[word](word, rest)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img"><title>{title}</title><style>{STYLE}</style>')
    return "\n".join([head, MARKER, *shapes, "</svg>", ""])


def box(kind, rest):
    x, y, width, height, label = rest.split(" ", 4)
    x, y, width, height = (float(n) for n in (x, y, width, height))
    shape = f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'
    if kind == "frame":
        return [shape, words(x + 8, y + 17, label, "small", "start")]
    lines = label.split("|")
    first = y + height / 2 + 5 - 9 * (len(lines) - 1)
    return [shape, *(words(x + width / 2, first + 18 * n, line, "small" if n else "", "middle")
                     for n, line in enumerate(lines))]


def arrow(kind, rest):
    numbers = rest.split()
    points = " L".join(f"{x} {y}" for x, y in zip(numbers[::2], numbers[1::2]))
    return [f'<path class="{kind}" d="M{points}" marker-end="url(#head)"/>']


def text(kind, rest):
    x, y, label = rest.split(" ", 2)
    return [words(float(x), float(y), label, "small", "middle" if kind == "centre" else "start")]


def words(x, y, label, kind, anchor):
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(label.strip())}</text>'


SHAPES = {"box": box, "strong": box, "gone": box, "frame": box, "arrow": arrow, "dashed": arrow, "text": text,
          "centre": text}

if __name__ == "__main__":
    main()
