"""Which names of types are never suggested: those with a word by which people are insulted.

Catalogs that were made from dictionaries have such types. Who asks for one by its name gets it; nobody is offered one
for another word, neither as the nearest spelling nor as another sense. The list is short and English. Its words insult
whenever they are used of people; those that have a harmless meaning too ("queer", "fairy") are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from fader.index.names import name_key

_INSULTS = frozenset(
    """arsehole asshole bastard bimbo bitch chink coolie coon cretin cripple cunt darkie darky dyke fag faggot
    fatso floozy fucker gook harlot honky hussy imbecile jap kike mongoloid moron motherfucker mulatto
    negress negro nigga nigger nympho nymphomaniac octoroon paki pervert pickaninny poof pouf quadroon
    raghead redskin retard sambo shithead shyster sissy skank slattern slut sodomite spastic spic squaw
    strumpet tranny trollop twat wetback whore whoremaster whoremonger wog wop yid""".split()
)


def is_insult(label: str) -> bool:
    """Whether a label has a word that insults."""
    return not _INSULTS.isdisjoint(name_key(label))


def choose_offered(labels: Iterable[str]) -> list[str]:
    """The labels that may be suggested."""
    return [label for label in labels if not is_insult(label)]
