"""`python -m fader` is the same as the command `fader`."""

from fader.cli import main

main()
