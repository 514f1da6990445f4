"""A policy for agents that ask as fast as they can, which is not what a pace is for."""

from __future__ import annotations

from dataclasses import replace

from sayso.asks.lawbook import default_policy
from sayso.policy.paces import LIFTED

IN_A_HURRY = replace(default_policy(), paces=LIFTED)
