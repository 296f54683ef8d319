"""Wordings of the relations between two entities, in both directions.

Knows grammar only: which verb phrases say that one thing was born in, wrote or hangs in
another. ``{o}`` stands for the other entity, ``{y}`` for the year, ``{his}`` for the
possessive of the subject.
"""

from __future__ import annotations

from dataclasses import dataclass

POSSESSIVES = {"m": "his", "f": "her", "n": "its", "p": "their"}


@dataclass(frozen=True)
class Relation:
    """Verb phrases of a relation; ``dated`` ones need a year, ``event`` is for timelines."""

    forward: tuple[str, ...]
    dated: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()
    event: str = ""

    def fill_forward(self, target: str, year: str, gender: str) -> tuple[str, ...]:
        phrases = self.forward + (self.dated if year else ())
        return tuple(_fill(phrase, target, year, gender) for phrase in phrases)

    def fill_inverse(self, source: str, gender: str) -> tuple[str, ...]:
        return tuple(_fill(phrase, source, "", gender) for phrase in self.inverse)


def _fill(phrase: str, other: str, year: str, gender: str) -> str:
    return phrase.format(o=f"[{other}]", y=year, his=POSSESSIVES[gender])


RELATIONS = {
    "born": Relation(
        ("was born in {o}", "first saw the light of day in {o}"),
        ("was born in {o} in {y}", "came into the world in {o} in {y}"),
        ("is the birthplace of {o}", "is where {o} was born"),
        "is born in",
    ),
    "died": Relation(
        ("died in {o}", "spent {his} last days in {o}"),
        ("died in {o} in {y}",),
        ("is where {o} died",),
        "dies in",
    ),
    "lived": Relation(
        ("lived in {o} for years", "made a home in {o}"),
        (),
        ("was for years the home of {o}",),
    ),
    "studied": Relation(
        ("studied at {o}", "was a student at {o}"),
        (),
        ("counts {o} among its former students", "once had {o} as a student"),
    ),
    "taught": Relation(
        ("taught at {o}", "gave lectures at {o}"),
        (),
        ("once had {o} on its staff", "counts {o} among its former teachers"),
    ),
    "wrote": Relation(
        ("wrote {o}", "is the author of {o}"),
        ("wrote {o}, which came out in {y}",),
        ("was written by {o}", "came from the pen of {o}"),
        "publishes",
    ),
    "composed": Relation(
        ("composed {o}", "is the composer of {o}"),
        (),
        ("was composed by {o}", "is a work of {o}"),
    ),
    "recorded": Relation(("recorded {o}",), ("recorded {o}, which came out in {y}",), ("was recorded by {o}",)),
    "painted": Relation(
        ("painted {o}", "is the painter of {o}"),
        (),
        ("was painted by {o}", "is a picture by {o}"),
    ),
    "sculpted": Relation(("made {o}", "is the sculptor of {o}"), (), ("is a work of {o}",)),
    "designed": Relation(("designed {o}", "was the architect of {o}"), (), ("was designed by {o}",)),
    "built": Relation(("built {o}",), ("built {o} in {y}",), ("was built by {o}",)),
    "directed": Relation(("directed {o}", "made {o}"), ("directed {o} in {y}",), ("was directed by {o}",)),
    "discovered": Relation(
        ("discovered {o}", "was among the discoverers of {o}"),
        ("discovered {o} in {y}",),
        ("was discovered by {o}",),
        "discovers",
    ),
    "developed": Relation(
        ("developed {o}", "is the father of {o}"),
        ("developed {o} and saw it used in {y}",),
        ("was developed by {o}",),
    ),
    "invented": Relation(("invented {o}",), (), ("was invented by {o}",)),
    "created": Relation(("created {o}", "is the father of {o}"), (), ("was created by {o}",)),
    "founded": Relation(("founded {o}",), ("founded {o} in {y}",), ("was founded by {o}",), "founds"),
    "cofounded": Relation(
        ("was one of the founders of {o}", "helped to found {o}"),
        (),
        ("counts {o} among its founders",),
    ),
    "capital": Relation(
        ("is the capital of {o}", "is the capital city of {o}"),
        (),
        ("has {o} as its capital", "calls {o} its capital"),
    ),
    "in": Relation(("lies in {o}", "is a city in {o}"), (), ("counts {o} among its cities",)),
    "incity": Relation(("stands in {o}", "can be visited in {o}"), (), ("is the home of {o}",)),
    "comes": Relation(("comes from {o}",), (), ("is the home of {o}",)),
    "through": Relation(("flows through {o}",), (), ("stands on the banks of {o}",)),
    "kept": Relation(("hangs in {o}", "can be seen in {o}"), (), ("owns {o}", "shows {o} to its visitors")),
    "keptcity": Relation(("can be seen in {o}",), (), ("draws visitors with {o}",)),
    "setin": Relation(("is set in {o}", "takes place in {o}"), (), ("is the scene of {o}",)),
}
