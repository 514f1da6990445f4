"""Questions asked of the journal: what was decided before, and what people prefer.

Nothing here decides anything. What is found is shown to people and to models; to
the policy it can only say that nothing like a call was ever decided.
"""
