"""Titles as MediaWiki reads them: namespaces, prefixes of other wikis and languages, sections, case of first letters.

A link's target is one of: an article, a category, a file, a page of another namespace, a language link, a link to
another wiki, a section of the same page. Namespaces are those of the dump's siteinfo; their English names always hold
too. An entity's id is its title with underscores for blanks. See https://www.mediawiki.org/wiki/Help:Links and
Help:Namespaces.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from fader.corpora.parsers.wiki.markup import CATEGORY, DROP, TEXT, show_hidden

# Prefixes of links that lead out of a wiki, as every Wikipedia knows them; a dump does not say them. See
# https://meta.wikimedia.org/wiki/Help:Interwiki_linking and List_of_Wikipedias.
_PROJECTS = """
wikt wiktionary s wikisource q wikiquote b wikibooks n wikinews v wikiversity voy wikivoyage species wikispecies
commons c d wikidata m meta metawikimedia mw mediawikiwiki foundation wmf incubator phabricator phab bugzilla mail doi
arxiv iarchive imdbname imdbtitle oeis rfc google hdl pmid jstor nost mediazilla outreach strategy testwiki toollabs
toolforge wikitech wikia wikimedia translatewiki betawikiversity f wikifunctions"""
_CODES = """
aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg
bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr
chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi
fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi
hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg
kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt
ltg lv mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah nan nap nds
nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc pdt pfl pi pih
pl pms pnb pnt ps pt pwn qu rki rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh
shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig
tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo
yue za zea zgh zh zh-classical zh-min-nan zh-yue zu"""

OTHER_WIKIS = frozenset(_PROJECTS.split())
LANGUAGES = frozenset(_CODES.split())

MEDIA_SPACE, ARTICLE, FILE_SPACE, CATEGORY_SPACE = -2, 0, 6, 14
LANGUAGE, OTHER_WIKI, SECTION, INVALID = -10, -11, -12, -13
_CANONICAL = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4, "wikipedia": 4, "wp": 4,
    "project talk": 5, "wikipedia talk": 5, "wt": 5, "file": FILE_SPACE, "image": FILE_SPACE, "file talk": 7,
    "image talk": 7, "mediawiki": 8, "mediawiki talk": 9, "template": 10, "template talk": 11, "help": 12,
    "help talk": 13,
    "category": CATEGORY_SPACE, "category talk": 15, "portal": 100, "portal talk": 101, "draft": 118, "draft talk": 119,
    "timedtext": 710, "module": 828, "module talk": 829,
}  # fmt: skip
_BLANKS = re.compile(r"[ _\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")  # directions, which titles never have
_FORBIDDEN = re.compile(r"[\[\]{}|<>\n#]")
_UNUSUAL = re.compile(
    "[#:&%_<>{}\udc00-\udc0d\u00a0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f\u3000]|  |\\A | \\Z|\\A\\Z"
)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")


class Target(NamedTuple):
    """What a link leads to: the number of a namespace or one of the constants above, and a title without prefix."""

    space: int
    title: str


@dataclass(frozen=True)
class Site:
    """What a dump says of its wiki."""

    language: str = "en"
    first_letter: bool = True  # the case of a title's first letter does not matter
    spaces: dict[str, int] = field(default_factory=lambda: dict(_CANONICAL))
    base: str = ""  # the address of an article, without its title

    @property
    def english(self) -> bool:
        return self.language in ("en", "simple")


_NAMESPACE = re.compile(r'<namespace key="(-?\d+)"[^>]*>([^<]+)</namespace>')


def read_site(head: str) -> Site:
    """The site of the beginning of a dump, up to its first page."""
    spaces = dict(_CANONICAL)
    for key, name in _NAMESPACE.findall(head):
        spaces[normalise_title(html.unescape(name)).lower()] = int(key)
    language = _find_first(r'xml:lang="([^"]+)"', head) or _find_first(r"<dbname>(\w+?)wiki</dbname>", head) or "en"
    base = html.unescape(_find_first(r"<base>([^<]*/)[^</]*</base>", head))
    return Site(language, _find_first(r"<case>([^<]*)</case>", head) != "case-sensitive", spaces, base)


def _find_first(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1] if match else ""


def normalise_title(title: str) -> str:
    """Blanks for underscores, none twice and none at the ends."""
    return _BLANKS.sub(" ", title).strip() if "_" in title or "  " in title or not title.isascii() else title.strip()


def capitalise(title: str) -> str:
    """The first letter in upper case; where that would be two letters, as it is."""
    upper = title[:1].upper()
    return upper + title[1:] if len(upper) == 1 else title


def find_target(site: Site, written: str) -> Target:
    """What the target of a link, as written, leads to; a leading colon has been taken off."""
    text = written.partition("#")[0]
    if "&" in text:
        text = html.unescape(text)
    if "%" in text and _PERCENT.search(text):
        text = unquote(text)
    if not text.isascii():
        text = _MARKS.sub("", text)
    text = normalise_title(text)
    if not text:
        return Target(SECTION if "#" in written else INVALID, "")
    space = ARTICLE
    if ":" in text:
        prefix, _colon, rest = text.partition(":")
        space, text = _resolve_prefix(site, prefix.strip().lower(), rest.strip(), text)
    if _FORBIDDEN.search(text):
        return Target(INVALID, text)
    if not text:
        return Target(INVALID if space >= 0 else space, "")
    return Target(space, capitalise(text) if site.first_letter else text)


def _resolve_prefix(site: Site, prefix: str, rest: str, text: str) -> tuple[int, str]:
    if prefix in site.spaces:
        return site.spaces[prefix], rest
    if prefix == "w":  # this very wiki, or one in another language
        inner, colon, further = rest.partition(":")
        return (OTHER_WIKI, further) if colon and inner.lower() in LANGUAGES else (ARTICLE, rest)
    if prefix in LANGUAGES:
        return LANGUAGE, rest
    if prefix in OTHER_WIKIS:
        return OTHER_WIKI, rest
    return ARTICLE, text


class Targets(dict[str, str]):
    """The table that `markup.parse` asks: a link's target as written to a title or a kind; it remembers so many."""

    def __init__(self, site: Site, most: int = 1 << 18) -> None:
        super().__init__()
        self._site, self._most = site, most
        names = [name for name, space in site.spaces.items() if space in (FILE_SPACE, MEDIA_SPACE)]
        # A first letter of either case, spelled out: patterns that ignore case are slow to search for.
        either = "|".join(f"[{name[0].upper()}{name[0]}]{re.escape(name[1:])}" for name in sorted(names) if name)
        self.files = re.compile(rf"\[\[[ _]*(?:{either})[ _]*:")

    def __missing__(self, written: str) -> str:
        if len(self) >= self._most:
            self.clear()
        if not _UNUSUAL.search(written):  # nearly all
            title = written if written[0].isupper() or not self._site.first_letter else capitalise(written)
            self[written] = title
            return title
        bare = show_hidden(written.strip())
        found = find_target(self._site, bare.lstrip(": "))
        kind = TEXT if bare.startswith(":") else {CATEGORY_SPACE: CATEGORY, LANGUAGE: DROP}.get(found.space, TEXT)
        self[written] = result = found.title if found.space == ARTICLE else kind
        return result


def make_id(title: str) -> str:
    """The id of an article as entity and as document."""
    return title.replace(" ", "_")


def make_title(identifier: str) -> str:
    """The title of an id."""
    return identifier.replace("_", " ")
