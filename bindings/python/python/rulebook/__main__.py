"""The command `rulebook`, which comes along with the package: `rulebook --help` says what it does."""

import signal
import sys

from ._engine import command


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit status."""
    # The engine does not return to Python in between: an interrupt ends the process, as it ends any other command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["rulebook", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
