"""How many examples hypothesis draws: fewer where CI is set, so that a run on two cores stays under 20 minutes.

A test that names a number of its own keeps it. `--hypothesis-profile thorough` draws more.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", max_examples=20, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
