"""The rules of `fader.corpora.parsers.wiki.strip` as plain Python, by character or by splitting: slow, obvious."""

from __future__ import annotations

import re


def unwrapped(text: str) -> str:
    """Line ends made one, comments and references taken out."""
    text = "\n" + text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.DOTALL)
    head, *rest = text.split("<ref")
    return head + "".join(_reference(piece) for piece in rest)


def _reference(piece: str) -> str:
    """What is left of a text from behind `<ref` to before the next."""
    if not piece or not (piece[0] in ">/" or piece[0] <= " "):
        return "<ref" + piece
    tag = re.match(r"[^<>]*>", piece)
    if not tag:
        return piece
    end = tag.end() - 1
    if end > 0 and piece[end - 1] == "/":
        return piece[end + 1 :]
    closed = piece.find("</ref", end)
    if closed < 0:
        return piece[end + 1 :]
    return re.sub(r"\A</ref[^<>]*>?", "", piece[closed:])


def without_templates(text: str) -> tuple[str, list[str]]:
    """Templates taken out with a stack, and the inside of each outermost one."""
    out: list[str] = []
    opened: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    for match in re.finditer(r"\{\{+|\}\}+|.", text, re.DOTALL):
        token = match[0]
        if token.startswith("{{"):
            opened += [(len(out), match.end())] * (len(token) // 2)
        elif token.startswith("}}"):
            for _ in range(len(token) // 2):
                if opened:
                    size, begin = opened.pop()
                    del out[size:]
                    spans = [span for span in spans if span[0] < begin] + [(begin, match.start())]
        else:
            out.append(token)
    return "".join(out), [text[begin:end] for begin, end in spans]


def without_line_marks(text: str) -> str:
    """Headings, then lists, indents and rules."""
    text = re.sub(r"\n(={1,6})[ \t]*([^\n]*?)[ \t]*\1[ \t]*(?=\n|\Z)", r"\n\2\n", text)
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    return re.sub(r"\n(?:[*#:;]+[ \t]*|[ \t]+|-{4,})", "\n", text)


def closed_up(text: str) -> str:
    """Blanks, empty parentheses and empty lines left out, to a fixed point where the order could matter."""
    text = text.replace("\t", " ")
    text = _parentheses(text)
    text = re.sub(" +", " ", text)
    text = re.sub(" ?\n ?", "\n", text)
    text = re.sub("\n\n\n+", "\n\n", text)
    text = re.sub(r" (?=[,;)]|\.(?:\s|\Z))", "", text)
    return re.sub(",,+", ",", text).strip()


def _parentheses(text: str) -> str:
    out, i = "", 0
    while i < len(text):
        if text[i] != "(":
            out += text[i]
            i += 1
            continue
        inside = re.compile(r"[ ,;:–]*").match(text, i + 1)
        assert inside is not None
        if text[inside.end() : inside.end() + 1] == ")":
            i = inside.end() + 1
        else:
            out += "("
            i = inside.end() if "–" not in inside[0] else i + 1
    return out
