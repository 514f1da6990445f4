"""Whole numbers on the command line; what is none is said in plain words."""

from __future__ import annotations

from typing import Any

import click

from sayso.model.text import one_line


class Whole(click.IntRange):
    """A whole number from one to another, or of at least so much."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Read what was typed.

        Raises:
            BadParameter: it is no number of these.
        """
        try:
            number: int | None = int(value)
        except ValueError:
            number = None
        low, high = self.min or 0, self.max
        if number is None or number < low or (high is not None and number > high):
            wanted = f", {low} or more" if high is None else f" from {low} to {high}"
            self.fail(f"{one_line(str(value), 40)!r} is not a whole number{wanted}.", param, ctx)
        return number
