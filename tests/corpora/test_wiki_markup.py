"""Wikitext to text and links: golden cases, each a rule of MediaWiki, and what must hold of any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.wiki.markup import parse
from fader.corpora.parsers.wiki.titles import Targets, read_site

SITE = read_site(
    '<mediawiki xml:lang="en"><siteinfo><case>first-letter</case><namespaces>'
    '<namespace key="6" case="first-letter">File</namespace><namespace key="14">Category</namespace>'
    '<namespace key="4">Testpedia</namespace></namespaces></siteinfo>'
)
TARGETS = Targets(SITE)


def linked(wikitext: str) -> tuple[str, list[tuple[str, str]]]:
    """The text, and the words and titles of its links."""
    page = parse(wikitext, TARGETS)
    return page.text, [(page.text[start:end], title) for start, end, title in page.links]


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("[[cat]]s sleep", "cats sleep", [("cats", "Cat")]),
        ("[[cat|Cats]]' food", "Cats' food", [("Cats", "Cat")]),
        ("[[Cat food]]x1", "Cat foodx1", [("Cat foodx", "Cat food")]),
        ("[[cat_food#Dry|dry]]", "dry", [("dry", "Cat food")]),
        ("see [[#Dry|below]]", "see below", []),
        ("[[ cat ]]", "cat", [("cat", "Cat")]),
        ("[[Cat|]]", "Cat", [("Cat", "Cat")]),
        ("[[Cat|a [small] cat]]", "a [small] cat", [("a [small] cat", "Cat")]),
        ("[[Cat|a|b]]", "a|b", [("a|b", "Cat")]),
        ("[[Cat|two\nlines]]", "two lines", [("two lines", "Cat")]),
        ("[[AT&amp;T]] and [[Caf%C3%A9]]", "AT&T and Caf%C3%A9", [("AT&T", "AT&T"), ("Caf%C3%A9", "Café")]),
        ("[[straße]]n, [[ßeta]]", "straßen, ßeta", [("straßen", "Straße"), ("ßeta", "ßeta")]),
        ("a [[Category:Cats]] b[[category:Dogs|x]]", "a b", []),
        ("[[:Category:Cats]] and [[:Category:Cats|these]]", "Category:Cats and these", []),
        ("x\n[[fr:Chat]]\n[[zh-min-nan:Niau]]\ny", "x\ny", []),
        ("[[:fr:Chat|le chat]] [[wikt:cat|cat]] [[w:Cat|cat]]", "le chat cat cat", [("cat", "Cat")]),
        ("[[Talk:Cat|talk]] [[Testpedia:About]]", "talk Testpedia:About", []),
        ("[[2001: A Space Odyssey]]", "2001: A Space Odyssey", [("2001: A Space Odyssey", "2001: A Space Odyssey")]),
        ("a [[File:x.jpg|thumb|A [[cat]] and [[dog|a dog]]]] b [[image:y.png]]c", "a b c", []),
        ("[[:File:x.jpg]]", "File:x.jpg", []),
        ("'''Bold''' ''it'' '''''both''''' l''''amour'''", "Bold it both l'amour", []),
        ("a {{b|{{c|[[d]]}}|{{{e|}}}}} f", "a f", []),
        ("a {{unclosed [[cat]]", "a unclosed cat", [("cat", "Cat")]),
        ("a }} b {{ c", "a b c", []),
        ("x ({{IPA|x}}; born 1850) y ({{a}}) z", "x (born 1850) y z", []),
        ("a<ref>b [[c]]</ref> d<ref name=x/> e<ref name='y'>{{f}}</ref>.", "a d e.", []),
        ("a<ref>never closed. <ref>b</ref> c", "anever closed. c", []),
        ("a<!-- [[b]] --> c<!-- d", "a c", []),
        ("a\n{|\n| b || [[c]]\n|-\n{|\n| d\n|}\n|}\ne", "a\ne", []),
        ("a\n{|\n| b\n== H ==\nc", "a\nH\n\nc", []),
        ("<nowiki>[[a]] {{b}} '''c'''</nowiki> d", "[[a]] {{b}} '''c''' d", []),
        ("a <math>x_{1}</math> b <gallery>\nFile:x|[[y]]\n</gallery> c <source>d</source>", "a b c", []),
        ("a<br />b<br>c <small>d</small> <span style='x'>e</span>", "a\nb\nc d e", []),
        ("[http://a.b c d] [https://a.b] [//a.b e [f] g] http://x.y", "c d e [f] g http://x.y", []),
        ("== H ==\n* a\n*# b\n: c\n; d\n----\ne", "H\n\na\nb\nc\nd\n\ne", []),
        ("x > 1 &lt; 2 &nbsp;&amp; &#91;3&#93; &foo;", "x > 1 < 2 & [3] &foo;", []),
        ("__NOTOC__a __TOC__", "a", []),
        ("{{lang|fr|le chat}} is {{nowrap|a cat}}", "le chat is a cat", []),
        ("''a''<sub>''i''</sub> = b", "ai = b", []),
        ("{{convert|3|km|mi|abbr=on}} or {{cvt|3|to|5|m2}}", "3 km or 3 to 5 m2", []),
        ("such as {{a}}, {{b}}, and c", "such as, and c", []),
        ("[[a [[b]] c]]", "a b c", [("b", "B")]),
        ("[[broken\nlink]]", "broken\nlink", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_golden(wikitext: str, text: str, links: list[tuple[str, str]]) -> None:
    """Text and links of small pages."""
    assert linked(wikitext) == (text, links)


def test_categories_templates_bold() -> None:
    """What types are made of."""
    page = parse("{{Infobox person|name={{nowrap|A}}}}'''Ann''' [[Category:Cats|x]] {{b}}", TARGETS)
    assert page.categories == ["Category:Cats"]
    assert [template[:14] for template in page.templates] == ["Infobox person", "b"]
    assert page.bold == ["Ann"]


@pytest.mark.parametrize(
    ("wikitext", "bold"),
    [
        ("'''A''' and the single '''[[B]]''' or '''a b'''", ["a b"]),
        ("''x''\n\n'''''An ''A''''' (or '''( )''', '''AT&amp;T''')\n\n'''not''' here", ["An A", "AT&T"]),
        ("[[File:x|thumb|'''caption''']]\n'''Ann'''", ["Ann"]),
        ("x\n== H ==\n'''heading'''", []),
        ("'''never closed", []),
    ],
)
def test_bold(wikitext: str, bold: list[str]) -> None:
    """Other names are the bold words of the first paragraph that has some, never what stands between them."""
    assert parse(wikitext, TARGETS).bold == bold


PIECES = [
    "[[", "]]", "{{", "}}", "{|", "|}", "\n", "|", "Cat", "dog", " ", "'''", "<ref>", "</ref>", "<nowiki>",
    "</nowiki>", "é", "𝄞", "File:", "Category:", "fr:", ":", "#", "&amp;", "&#91;", "<!--", "-->", "==", "*",
    "(", ")", ",", "http://x",
]  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text(wikitext: str) -> None:
    """Of any page: links lie in the text in order, do not overlap or begin or end with blanks; no markup is left."""
    page = parse(wikitext, TARGETS)
    last = 0
    for start, end, title in page.links:
        assert last <= start < end <= len(page.text)
        assert page.text[start:end] == page.text[start:end].strip()
        assert title
        last = end
    page.text.encode()
    if "<nowiki>" not in wikitext and "&#91;" not in wikitext:
        assert "[[" not in page.text
    assert parse(wikitext.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").encode(), TARGETS) == page
