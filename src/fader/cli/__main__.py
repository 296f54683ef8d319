"""`python -m fader.cli`."""

from fader.cli import main

main()
