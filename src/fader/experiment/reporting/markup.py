r"""Texts and numbers as HTML, Markdown, LaTeX and CSV: escaped, so that nothing in a text is taken for markup.

Also the frames that tables share: a pipe table, a `tabular`, a document around it. Knows nothing of what a table shows.

Golden case: `S_e & a, b` is `S_e &amp; a, b` in HTML, `S\_e &amp; a, b` in Markdown, `S\_e \& a, b` in LaTeX and
`"S_e & a, b"` in CSV.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from fader.experiment.comparison import shown

MINUS = "−"
MOST_CODE = 4000  # characters of a value in a list

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": "$|$", "<": "$<$", ">": "$>$", '"': "''",
    "↓": r"$^\downarrow$", "–": "--", "—": "---", "…": r"\ldots{}", "−": "$-$", "×": r"$\times$", "·": r"$\cdot$",
    "⊕": r"$\oplus$", "≤": r"$\le$", "≥": r"$\ge$", "Σ": r"$\Sigma$", "Δ": r"$\Delta$", "∑": r"$\sum$", "ₑ": "$_e$",
    "’": "'", "‘": "`", "“": "``", "”": "''", "\xa0": "~", "†": r"$^\dagger$",
    "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$", "ε": r"$\varepsilon$", "θ": r"$\theta$",
    "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "π": r"$\pi$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$",
    "φ": r"$\varphi$", "χ": r"$\chi$", "ω": r"$\omega$",
}  # fmt: skip
# Accents that LaTeX composes without a package.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327")
_QUOTED = re.compile(r'[,"\r\n]')
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#|~$!^])")


# HTML


def escaped(text: str, limit: int = 1000) -> str:
    """A text safe between HTML tags and in attributes, whatever is in it."""
    return html.escape(shown(text, limit), quote=True)


# Markdown


def markdown_text(text: str) -> str:
    """Escaped: no text adds a column or a line, opens a tag, or is emphasised."""
    escaped_text = _MARKDOWN.sub(r"\\\1", shown(text).replace("&", "&amp;"))
    return escaped_text.replace("<", "&lt;").replace(">", "&gt;")


def pipe_table(lines: Sequence[Sequence[str]]) -> str:
    """Ready cells in Markdown, the heads first; all but the first column are set to the right."""
    ruled = [lines[0], ["---", *["---:"] * (len(lines[0]) - 1)], *lines[1:]]
    return "".join(f"| {' | '.join(line)} |\n" for line in ruled)


def heading_markdown(text: str) -> str:
    """A heading of the first level, on one line whatever the text is."""
    return f"# {markdown_text(text)}\n"


def list_markdown(items: Mapping[str, str]) -> str:
    """A list of names and values; values are set as code, so that a command can be copied as it is."""
    return "".join(f"- {markdown_text(key)}: {_code(value)}\n" for key, value in items.items())


def _code(text: str) -> str:
    """A code span: its fence is longer than any run of backticks in it."""
    text = shown(text, MOST_CODE)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}" if text.strip() else "–"


# LaTeX


def latex_text(text: str) -> str:
    """Escaped; a character that plain LaTeX cannot set is named by its code point rather than lost."""
    return "".join(_latex_character(c) for c in unicodedata.normalize("NFC", shown(text)))


def _latex_character(c: str) -> str:
    if c in _LATEX:
        return _LATEX[c]
    parts = unicodedata.normalize("NFD", c)
    if parts[0].isascii() and parts[0].isprintable() and _ACCENTS.issuperset(parts[1:]):
        return c
    return c if c in "ßæøåÆØłŁœŒ" else f"[U+{ord(c):04X}]"


def latex_number(text: str) -> str:
    """A number as LaTeX sets it: signs need mathematics."""
    if text == "–":
        return "--"
    return text if text[0].isdigit() else f"${text.replace(MINUS, '-')}$"


def tabular(lines: Sequence[Sequence[str]]) -> str:
    """Ready cells in LaTeX, the heads first."""
    body = "\n".join(" & ".join(line) + r" \\ \hline" for line in lines)
    return f"\\begin{{tabular}}{{|l|{'c|' * (len(lines[0]) - 1)}}}\n\\hline\n{body}\n\\end{{tabular}}\n"


def document(body: str) -> str:
    """A LaTeX document that compiles alone."""
    return f"\\documentclass{{article}}\n\\pagestyle{{empty}}\n\\begin{{document}}\n{body}\\end{{document}}\n"


# CSV and numbers


def csv_text(lines: Iterable[Sequence[str]]) -> str:
    """Lines of cells by RFC 4180 but for line ends; the csv module would leave a carriage return in a name unquoted."""
    return "".join(",".join(_csv_cell(cell) for cell in line) + "\n" for line in lines)


def _csv_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def exact(value: float | None) -> str:
    """A number that reads back as it is; nothing for None."""
    return "" if value is None else repr(float(value))


def signed(text: str) -> str:
    """A real minus sign, and none before a number that prints as 0."""
    if float(text) == 0:
        return text.lstrip("+-")
    return text.replace("-", MINUS)
