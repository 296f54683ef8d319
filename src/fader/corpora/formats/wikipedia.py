"""Wikipedia: a pages-articles dump to documents, mentions, entities and types.

    articles                    documents, and entities with the title as name; the id is the title with underscores
    links                       mentions, with the letters right behind them; redirects followed, sections cut off
    redirects, bold words       other names of an entity
    categories, infoboxes,      types (`wiki.kinds`): wikicat_German_physicists below physicist, below scientist
    first sentences, brackets
    links to absent pages       mentions of entities that have no document

It reads a dump twice: first for redirects, titles and the graph of categories, which are kept in tables that all
processes share (`wiki.redirects`: 20 bytes and the target for each redirect), then for the texts. The alternative, to
write titles as they are and resolve them later, would read and write the whole corpus once more. Lists of meanings
(disambiguation pages) are no documents. Other namespaces than articles and categories are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.base import Batch, EntityRow, Importer, MentionRow, Records, option
from fader.corpora.frame.faults import tally
from fader.corpora.frame.inputs import head, mark_batches
from fader.corpora.frame.store import Store
from fader.corpora.parsers.wiki import dump, titles
from fader.corpora.parsers.wiki.kinds import Kinds, is_disambiguation, make_noun_id
from fader.corpora.parsers.wiki.markup import CATEGORY, WikiPage, parse
from fader.corpora.parsers.wiki.nouns import find_category_nouns
from fader.corpora.parsers.wiki.propagate import PROPAGATE, list_own_names, propagate_links
from fader.corpora.parsers.wiki.redirects import Redirects, Spool
from fader.corpora.parsers.wiki.titles import ARTICLE, CATEGORY_SPACE, Site, Targets, find_target, make_id, make_title
from fader.corpus.documents import Faults
from fader.corpus.readers import file_size
from fader.progress import Progress

MORE_SUPPORT = (1000, 50_000)  # categories from which on two, and three, pairs must agree


class _First(NamedTuple):
    """What the first pass finds, beside the tables in files."""

    site: Site
    above: dict[str, tuple[str, ...]]  # nouns above a noun
    counts: dict[str, int]


class _State(NamedTuple):
    """What a worker has."""

    first: _First
    redirects: Redirects
    targets: Targets


class _Article(NamedTuple):
    title: str
    number: str
    page: WikiPage


@dataclass(frozen=True)
class Wikipedia(Importer):
    """A pages-articles dump of any Wikipedia."""

    name: ClassVar[str] = "wikipedia"
    title: ClassVar[str] = "a Wikipedia dump, pages-articles.xml"
    example: ClassVar[str] = "fader import wikipedia enwiki-latest-pages-articles.xml.bz2 -o corpus/"
    citation: ClassVar[str] = "https://www.mediawiki.org/wiki/Help:Export, schema export-0.11; text as Help:Formatting"
    passes: ClassVar[int] = 2
    state_type: ClassVar[Any] = _First

    propagate: bool = option(False, PROPAGATE)
    absent: bool = option(True, "Links to pages that the dump does not have are mentions too.")
    categories: bool = option(
        True, "Categories are types themselves, beside their nouns; always where the language is not English."
    )
    support: int = option(
        0, "Pairs of categories that must agree for one noun to be below another; 0: 1 to 3, by their number.", least=0
    )
    min_length: int = option(1, "Characters of text that an article needs to be a document.", least=0)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return mark_batches(sources, faults, dump.END)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """The first pass: redirects, titles, categories. Faults in pages are reported by the second."""
        site = titles.read_site(head(sources[0]).partition(b"<page>")[0].decode("utf-8", "replace"))
        targets = Targets(site)
        spool, pairs, ignored = Spool(folder), Counter[tuple[str, str]](), Faults()
        total, before, last = sum(map(file_size, sources)), 0, ""
        sizes = {source: file_size(source) for source in sources}
        without, categories = set(sources), 0
        for batch in mark_batches(sources, ignored, dump.END):
            before += sizes.get(last, 0) if batch.source != last and last else 0
            last = batch.source
            if b"<page>" in batch.payload:
                without.discard(batch.source)
            for page in dump.read_pages(batch.payload, batch.place, batch.source, ignored):
                if page.space == CATEGORY_SPACE:
                    categories += 1
                    _count_pairs(page, targets, site, pairs)
                elif page.space == ARTICLE:
                    written = dump.find_redirect(page)
                    space, title = find_target(site, written) if written else (ARTICLE, "")
                    if not written:
                        spool.article(page.title)
                    elif space == ARTICLE:
                        spool.redirect(page.title, title)
            progress.update(before + batch.consumed, total, "redirects and categories")
        for source in sorted(without):
            hint = "give a pages-articles dump, in UTF-8 (`iconv -f utf-16 -t utf-8` makes it so)"
            faults.add("sources without a page", f"{source}: no <page> in it; {hint}")
        above: dict[str, tuple[str, ...]] = {}
        enough = self.support or 1 + sum(categories >= size for size in MORE_SUPPORT)
        for (noun, other), count in sorted(pairs.items()):
            if count >= enough:
                above[noun] = (*above.get(noun, ()), other)
        return _First(site, above, spool.finish())

    def open_state(self, state: _First, folder: Path) -> _State:
        return _State(state, Redirects(folder), Targets(state.site))

    def convert(self, batch: Batch, state: _State, faults: Faults) -> Records:
        out = Records()
        site = state.first.site
        kinds = Kinds(state.first.above, site.english, self.categories)
        articles: list[_Article] = []
        leading: list[str] = []  # titles of redirects
        for raw in dump.read_pages(batch.payload, batch.place, batch.source, faults):
            if raw.space == CATEGORY_SPACE:
                kinds.below(find_target(site, raw.title).title, _list_categories(raw, state.targets, site))
            elif raw.space != ARTICLE:
                tally(out.counts, "pages of other namespaces")
            elif dump.find_redirect(raw):
                leading.append(raw.title)
            else:
                self._article(raw, batch.source, state, faults, articles, out)
        self._records(articles, leading, state, kinds, out)
        out.types = kinds.rows
        return out

    def _article(
        self, raw: dump.RawPage, source: str, state: _State, faults: Faults, articles: list[_Article], out: Records
    ) -> None:
        page = parse(dump.check_text(raw, source, faults), state.targets)
        if is_disambiguation(raw.title, page.templates):
            tally(out.counts, "disambiguation pages")
        elif len(page.text) < max(self.min_length, 1):
            tally(out.counts, "articles without text")
        else:
            articles.append(_Article(raw.title, raw.number, page))

    def _records(self, articles: list[_Article], leading: list[str], state: _State, kinds: Kinds, out: Records) -> None:
        """Documents and entities; titles are looked up for all articles of a batch at once."""
        named = {link[2] for article in articles for link in article.page.links}
        final = state.redirects.resolve({*named, *leading})
        entity = {title: final.get(title, title).replace(" ", "_") for title in named}
        if not self.absent:
            there = state.redirects.articles({make_title(end) for end in entity.values()})
            entity = {title: end for title, end in entity.items() if make_title(end) in there}
        for article in articles:
            self._document(article, entity, state, kinds, out)
        there = state.redirects.articles({final[title] for title in leading if title in final})
        for title in leading:
            if final.get(title) in there:
                out.entities.append(EntityRow(make_id(final[title]), "", (), (title,)))
                tally(out.counts, "redirects to articles")

    def _document(self, article: _Article, entity: dict[str, str], state: _State, kinds: Kinds, out: Records) -> None:
        title, page, own = article.title, article.page, make_id(article.title)
        found = [(start, end, e) for start, end, name in page.links if (e := entity.get(name))]
        mentions: list[MentionRow] = [{"start": start, "end": end, "entity": e} for start, end, e in found]
        categories = [_name_category(state.first.site, written) for written in page.categories]
        types = kinds.of_article(title, page.text, categories, page.templates)
        if self.propagate:
            names = list_own_names(title, page.bold, kinds.includes(types, "person"))
            more = propagate_links(page.text, found, names, own)
            mentions += [{"start": a, "end": b, "entity": e, "confidence": sure} for a, b, e, sure in more]
            tally(out.counts, "mentions propagated", len(more))
        document = {"id": own, "text": page.text, "mentions": mentions, "title": title}
        if state.first.site.base:
            document["url"] = state.first.site.base + own
        out.documents.append(document)
        aliases = [name.strip() for name in page.bold if name.strip() != title]
        out.entities.append(EntityRow(own, title, types, aliases))
        tally(out.counts, "links", len(page.links))

    def finish(self, state: _State, store: Store) -> None:
        """The report's numbers of the first pass."""
        store.count(state.first.counts)

    def unknown(self, name: str, surface: str, state: _State) -> EntityRow:
        """An entity that has links but no page: it is named by its title, and typed by what is in its brackets."""
        title = make_title(name)
        nouns = Kinds({}, True, False).find_bracketed(title) if state.first.site.english else []
        return EntityRow(name, title, [make_noun_id(noun) for noun in nouns])


def _name_category(site: Site, written: str) -> str:
    """The name of a category, from a link to it."""
    return find_target(site, written.strip().lstrip(":")).title


def _list_categories(page: dump.RawPage, targets: Targets, site: Site) -> list[str]:
    """The parents of a category, from its page."""
    text = dump.unescape(page.body.decode("utf-8", "replace"))
    found = (piece.partition("]]")[0].partition("|")[0] for piece in text.split("[[")[1:])
    return [_name_category(site, written) for written in found if "\n" not in written and targets[written] is CATEGORY]


def _count_pairs(page: dump.RawPage, targets: Targets, site: Site, pairs: Counter[tuple[str, str]]) -> None:
    """How often the noun of a category and that of its parent differ in the same way."""
    nouns = find_category_nouns(find_target(site, page.title).title) if site.english else ()
    if not nouns:
        return
    for parent in _list_categories(page, targets, site):
        others = find_category_nouns(parent)
        pairs.update((noun, other) for noun in nouns for other in others if noun != other)
