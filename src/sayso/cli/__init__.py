"""The command line: one module per group of commands."""


def main() -> None:
    """Run the command line."""
