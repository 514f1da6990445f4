"""Small drawings: icons from the sprite, ticks of a track record, sizes of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup

from sayso.model.verdicts import Verdict
from sayso.web.look.assets import asset

SHAPE_WORDS = {
    "critical": "Critical risk",
    "high": "High risk",
    "medium": "Medium risk",
    "low": "Low risk",
    "none": "Risk not stated",
}
_STEP, _WIDTH, _HEIGHT = 12, 8, 24
# How high a tick stands says what was decided, for those who do not see its colour.
_TICKS: dict[Verdict, tuple[str, int]] = {
    "approve": ("tick-approved", 16),
    "edit": ("tick-edited", 19),
    "reject": ("tick-rejected", 24),
    "respond": ("tick-rejected", 24),
}


@lru_cache(maxsize=512)  # a page has hundreds of them, of a few dozen kinds
def icon(name: str, label: str | None = None) -> Markup:
    """Draw an icon; without a label it is decoration, and nobody reads it out."""
    use = Markup('<use href="{}#{}"/>').format(asset("icons.svg"), name)
    kind = "icon shape" if name.startswith("risk-") else "icon"
    if label is None:
        return Markup('<svg class="{}" aria-hidden="true">{}</svg>').format(kind, use)
    return Markup('<svg class="{}" role="img" aria-label="{}">{}</svg>').format(kind, label, use)


def ticks(verdicts: Sequence[Verdict], words: str) -> Markup:
    """Draw the last decisions as ticks: approved low, edited higher, rejected highest."""
    width = max(len(verdicts) * _STEP - (_STEP - _WIDTH), 1)
    drawn = Markup("").join(
        Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>').format(
            name, number * _STEP, _HEIGHT - high, _WIDTH, high
        )
        for number, (name, high) in enumerate(_TICKS[verdict] for verdict in verdicts)
    )
    return Markup(
        '<svg class="ticks" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">'
        "{}</svg>"
    ).format(words, width, _HEIGHT, width, _HEIGHT, drawn)


_MARK_STEP, _MARK_WIDTH = 7, 5
# What was said of a key: how high a tick stands, and how wide; what is thin is about the grant.
_MARKS: Mapping[str, tuple[str, int, int]] = {
    "+": ("tick-approved", 14, _MARK_WIDTH),
    "?": ("tick-edited", 19, _MARK_WIDTH),
    "x": ("tick-rejected", 24, _MARK_WIDTH),
    "o": ("tick-approved", 19, _MARK_WIDTH),
    "!": ("tick-rejected", 24, _MARK_WIDTH),
    "G": ("tick-granted", 24, 2),
    "D": ("tick-taken", 24, 2),
    "R": ("tick-taken", 24, 2),
    "O": ("tick-granted", 24, 2),
}


def record_ticks(marks: str, words: str) -> Markup:
    """Draw what was said of a key: fine low, flagged higher, harmful highest, grants as strokes."""
    width = max(len(marks) * _MARK_STEP - (_MARK_STEP - _MARK_WIDTH), 1)
    drawn = Markup("").join(
        Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>').format(
            name, number * _MARK_STEP, _HEIGHT - high, wide, high
        )
        for number, (name, high, wide) in enumerate(_MARKS[mark] for mark in marks)
    )
    return Markup(
        '<svg class="ticks marks" role="img" aria-label="{}" width="{}" height="{}" '
        'viewBox="0 0 {} {}">{}</svg>'
    ).format(words, width, _HEIGHT, width, _HEIGHT, drawn)


_SPARK_WIDTH, _SPARK_HEIGHT = 100, 32


def spark(values: Sequence[float | None], words: str) -> Markup:
    """Draw how a figure went as a line; where there was nothing to measure the line is broken.

    Two points make a line, and fewer nothing.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    low, high = min(known), max(known)
    step, room = _SPARK_WIDTH / max(len(values) - 1, 1), (high - low) or 1.0
    path, broken = "", True
    for number, value in enumerate(values):
        if value is None:
            broken = True
            continue
        height = _SPARK_HEIGHT / 2 if high == low else _SPARK_HEIGHT * (high - value) / room
        # A point alone is a line of no length, whose round ends make it a dot.
        path += f"{'M' if broken else 'L'}{number * step:.1f} {height:.1f}{'h0' if broken else ''}"
        broken = False
    return Markup(
        '<svg class="spark" role="img" aria-label="{}" viewBox="0 0 {} {}" '
        'preserveAspectRatio="none"><path d="{}"/></svg>'
    ).format(words, _SPARK_WIDTH, _SPARK_HEIGHT, path)


def bytes_(size: int) -> str:
    """Write the size of a file: `812 bytes`, `3.4 KB`, `1.2 MB`."""
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    if size < 1_000_000:
        return f"{size / 1000:.1f} KB"
    return f"{size / 1_000_000:.1f} MB"
