"""Identifiers of biomedical concepts as PubTator and BioC files have them, brought to one spelling.

    D009270, MESH:D009270, mesh:D009270      MESH:D009270            medical subject headings
    672 (a gene)                             NCBIGene:672
    9606 (a species)                         NCBITaxon:9606
    CVCL_0030, CVCL:0030                     Cellosaurus:CVCL_0030
    rs2476601, tmVar:...;RS#:2476601         dbSNP:rs2476601         else the variant's name as it stands
    C4308010, UMLS:C4308010                  UMLS:C4308010           seven digits; MeSH's supplements have six or nine
    D003409|D006528, D1;D2, D1,D2, D1+D2     both: a composite mention
    -1, -, empty, NIL, CUI-less              none: not linked

Knows nothing of files.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NONE = frozenset(("", "-", "-1", "nil", "none", "null", "cui-less", "na", "n/a"))
_SPACES = {
    "mesh": "MESH", "omim": "OMIM", "umls": "UMLS", "ncbigene": "NCBIGene", "ncbi gene": "NCBIGene", "gene": "NCBIGene",
    "entrez": "NCBIGene", "ncbi_gene": "NCBIGene", "ncbitaxon": "NCBITaxon", "ncbi taxonomy": "NCBITaxon",
    "taxonomy": "NCBITaxon", "ncbi_taxonomy": "NCBITaxon", "species": "NCBITaxon", "tax": "NCBITaxon",
    "cellosaurus": "Cellosaurus", "dbsnp": "dbSNP", "chebi": "CHEBI", "ncbi_mesh": "MESH",
    "litvar": "LitVar",
}  # fmt: skip
_RS = re.compile(r"\bRS#?:?\s*(\d+)", re.IGNORECASE)
_HGVS = re.compile(r"HGVS:([^;]+)")
_VARIANT = re.compile(r"(?:tmvar:)?[cgpmnr]?\|(?:sub|del|ins|indel|dup|fs|allele|copy)\|", re.IGNORECASE)
_SPLIT = re.compile(r"[|;,]")
_PLUS = re.compile(r"[A-Z]+:?[A-Z]*\d+(?:\+[A-Z]+:?[A-Z]*\d+)+")
_BARE = {
    "MESH": re.compile(r"[DC](?:\d{6}|\d{9})\Z"),
    "UMLS": re.compile(r"C\d{7}\Z"),
    "Cellosaurus": re.compile("CVCL_"),
    "dbSNP": re.compile(r"rs\d+\Z"),
}
_KINDS = {
    "NCBIGene": ("gene", "protein"),
    "NCBITaxon": ("species", "taxon", "organism"),
    "OMIM": ("disease", "phenotyp"),
}


@lru_cache(1 << 16)
def find_concepts(written: str, kind: str = "", space: str = "") -> tuple[str, ...]:
    """The concepts of an identifier; `kind` is the mention's type, `space` the resource, if the source names one."""
    written = written.strip()
    if written.lower() in _NONE:
        return ()
    if _VARIANT.match(written) or "tmVar:" in written or "HGVS:" in written or "RS#:" in written:
        if found := _RS.search(written):
            return (f"dbSNP:rs{found[1]}",)
        named = _HGVS.search(written)
        return (named[1].strip() if named else written.split(";")[0].removeprefix("tmVar:"),)
    pieces = written.split("+") if _PLUS.fullmatch(written) else _SPLIT.split(written)
    made = (_spell(piece.strip(), kind.lower(), space) for piece in pieces)
    return tuple(dict.fromkeys(name for name in made if name))


def _spell(name: str, kind: str, space: str) -> str:
    name = re.sub(r"\(Tax:\d+\)$", "", name)  # 672(Tax:9606)
    name = re.sub(r"^CVCL[:_]\s*", "CVCL_", name, flags=re.IGNORECASE)
    if name.lower() in _NONE:
        return ""
    before, colon, rest = name.partition(":")
    if colon and before.lower() in _SPACES:
        return f"{_SPACES[before.lower()]}:{rest.strip()}" if rest.strip().lower() not in _NONE else ""
    if colon:
        return name
    if space.lower() in _SPACES:
        return f"{_SPACES[space.lower()]}:{name}"
    found = next((space for space, pattern in _BARE.items() if pattern.match(name)), "")
    if name.isdigit():
        found = next((space for space, words in _KINDS.items() if any(word in kind for word in words)), "")
    return f"{found}:{name}" if found else name


def split_kinds(written: str) -> list[str]:
    """The types of a mention: one, or several with commas as MedMentions has them (`T116,T123`)."""
    return [kind.strip() for kind in written.split(",") if kind.strip()]
