r"""Texts and numbers as people read them, and escaped for Markdown and LaTeX so that no text is taken for markup.

Also the frames that tables share: a pipe table, a `tabular`, a document around it. HTML is escaped by its templates
(`html.py`), CSV by `fader.csvtext`. Knows nothing of what a table shows.

Golden case: `S_e & a, b` is `S\_e &amp; a, b` in Markdown and `S\_e \& a, b` in LaTeX.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence

from fader.corpus.analysis import cut_marks

MINUS = "−"
NOTHING = "–"
MOST_CODE = 4000  # characters of a value in a list

# Characters that turn the direction of the text around them could make a page read other than it is.
_DIRECTION_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": "$|$", "<": "$<$", ">": "$>$", '"': "''",
    "↓": r"$^\downarrow$", "–": "--", "—": "---", "…": r"\ldots{}", "−": "$-$", "×": r"$\times$", "·": r"$\cdot$",
    "⊕": r"$\oplus$", "≤": r"$\le$", "≥": r"$\ge$", "Σ": r"$\Sigma$", "Δ": r"$\Delta$", "∑": r"$\sum$", "ₑ": "$_e$",
    "’": "'", "‘": "`", "“": "``", "”": "''", "\xa0": "~", "†": r"$^\dagger$",
    "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$", "ε": r"$\varepsilon$", "θ": r"$\theta$",
    "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "π": r"$\pi$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$",
    "φ": r"$\varphi$", "χ": r"$\chi$", "ω": r"$\omega$",
}  # fmt: skip  # a table
# Accents that LaTeX composes without a package.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#|~$!^])")


# Plain texts and numbers


def clean_text(text: str, limit: int = 1000) -> str:
    """A text fit to be shown on one line: no control characters, none that turn its direction, not too long."""
    text = " ".join(_DIRECTION_MARKS.sub("\ufffd", text[: 4 * limit]).split())
    text = "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def format_count(number: int, one: str, many: str = "") -> str:
    """`1 query`, `1,884 queries`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_number(value: float | None, digits: int, sign: str = "") -> str:
    """A number with a real minus sign, and none if it prints as 0; a dash for None and nan."""
    if value is None or math.isnan(value):
        return NOTHING
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", MINUS)


def format_p(p: float | None) -> str:
    """A p-value for people: three digits, `<0.001` below."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


# Markdown


def escape_markdown(text: str) -> str:
    """No text adds a column or a line, opens a tag, or is emphasised."""
    escaped = _MARKDOWN.sub(r"\\\1", clean_text(text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def format_pipe_table(lines: Sequence[Sequence[str]]) -> str:
    """A table of escaped cells, the heads first; all but the first column are aligned to the right."""
    ruled = [lines[0], ["---", *["---:"] * (len(lines[0]) - 1)], *lines[1:]]
    return "".join(f"| {' | '.join(line)} |\n" for line in ruled)


def format_list(items: Mapping[str, str]) -> str:
    """A list of names and values; values are set as code, so that a command can be copied as it is."""
    lines = []
    for key, value in items.items():
        text = clean_text(value, MOST_CODE)
        fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))  # longer than any in the text
        code = f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}" if text.strip() else NOTHING
        lines.append(f"- {escape_markdown(key)}: {code}\n")
    return "".join(lines)


# LaTeX


def escape_latex(text: str) -> str:
    """A character that plain LaTeX cannot set is named by its code point rather than lost."""
    return "".join(_escape_character(c) for c in unicodedata.normalize("NFC", cut_marks(clean_text(text))))


def _escape_character(c: str) -> str:
    if c in _LATEX:
        return _LATEX[c]
    parts = unicodedata.normalize("NFD", c)
    if parts[0].isascii() and parts[0].isprintable() and _ACCENTS.issuperset(parts[1:]):
        return c
    return c if c in "ßæøåÆØłŁœŒ" else f"[U+{ord(c):04X}]"


def format_latex_number(text: str) -> str:
    """A formatted number as LaTeX sets it: signs need mathematics."""
    if text == NOTHING:
        return "--"
    return text if text[0].isdigit() else f"${text.replace(MINUS, '-')}$"


def format_tabular(lines: Sequence[Sequence[str]]) -> str:
    """A `tabular` of escaped cells, the heads first."""
    body = "\n".join(" & ".join(line) + r" \\ \hline" for line in lines)
    return f"\\begin{{tabular}}{{|l|{'c|' * (len(lines[0]) - 1)}}}\n\\hline\n{body}\n\\end{{tabular}}\n"


def wrap_document(body: str) -> str:
    """A LaTeX document that compiles alone."""
    return f"\\documentclass{{article}}\n\\pagestyle{{empty}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
