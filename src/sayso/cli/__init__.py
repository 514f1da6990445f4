"""The command line: one module per group of commands.

Nothing heavy is imported here: `click` and `rich` come with the first command.
"""


def main() -> None:
    """Run the command line."""
    from sayso.cli.front import front

    front(prog_name="sayso")
