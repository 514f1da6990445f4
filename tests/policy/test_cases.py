"""Cases: what a call that a case leaves half unsaid is like."""

from __future__ import annotations

from sayso.policy.cases import differences, read_cases
from sayso.policy.reading import read

POLICY = read("""
[[rules]]
name = "the till pays nothing"
tool = "pay"
when = 'agent == "till"'
effect = "deny"

[[rules]]
name = "everything else is fine"
tool = "pay"
when = 'agent != "till" && kind == "action"'
effect = "allow"
""")


def told(case: str) -> list[str]:
    """Return what the policy says otherwise than one case expects."""
    (read_case,) = read_cases(f'[[cases]]\nname = "x"\ntool = "pay"\n{case}')
    return [f"{one.what} {one.found}" for one in differences(POLICY, read_case)]


def test_a_case_may_name_the_agent_that_calls_or_none() -> None:
    assert told('agent = "till"\nexpect = "deny"') == []
    assert told('agent = "shop"\nexpect = "allow"') == []
    assert told('expect = "allow"') == []
    assert told('expect = "deny"') == ["effect allow"]
