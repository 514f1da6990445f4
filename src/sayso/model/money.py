"""Dollars as people read them."""

from __future__ import annotations

from decimal import Decimal

_LARGE = 100  # from here on cents are exact enough; below it, four digits that count


def say_dollars(amount: float) -> str:
    """Write an amount without powers of ten: `$12,345.67`, `$0.0125`, `$0.0000123`."""
    rounded = Decimal(f"{amount:.4g}")
    if abs(rounded) >= _LARGE:
        return f"${amount:,.2f}"
    return f"${rounded:f}"
