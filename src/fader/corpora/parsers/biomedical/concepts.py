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
_MESH = re.compile(r"[DC](?:\d{6}|\d{9})")
_UMLS = re.compile(r"C\d{7}")
_KINDS = (
    (("gene", "protein"), "NCBIGene"),
    (("species", "taxon", "organism"), "NCBITaxon"),
    (("disease", "phenotyp"), "OMIM"),
)


def concepts(written: str, kind: str = "", space: str = "") -> list[str]:
    """The concepts of an identifier; `kind` is the mention's type, `space` the resource, if the source names one."""
    return list(_concepts(written, kind, space))


@lru_cache(1 << 16)
def _concepts(written: str, kind: str, space: str) -> tuple[str, ...]:
    written = written.strip()
    if written.lower() in _NONE:
        return ()
    if _VARIANT.match(written) or "tmVar:" in written or "HGVS:" in written or "RS#:" in written:
        return (_variant(written),)
    pieces = written.split("+") if _PLUS.fullmatch(written) else _SPLIT.split(written)
    made = (_one(piece.strip(), kind.lower(), space) for piece in pieces)
    return tuple(dict.fromkeys(name for name in made if name))


def _one(name: str, kind: str, space: str) -> str:
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
    if _MESH.fullmatch(name):
        return f"MESH:{name}"
    if _UMLS.fullmatch(name):
        return f"UMLS:{name}"
    if name.startswith("CVCL_"):
        return f"Cellosaurus:{name}"
    if re.fullmatch(r"rs\d+", name):
        return f"dbSNP:{name}"
    if name.isdigit():
        for words, space_of_kind in _KINDS:
            if any(word in kind for word in words):
                return f"{space_of_kind}:{name}"
    return name


def _variant(written: str) -> str:
    """A variant: its number in dbSNP, else its name by HGVS, else what tmVar says."""
    if found := _RS.search(written):
        return f"dbSNP:rs{found[1]}"
    if named := _HGVS.search(written):
        return named[1].strip()
    return written.split(";")[0].removeprefix("tmVar:")


def kinds(written: str) -> list[str]:
    """The types of a mention: one, or several with commas as MedMentions has them (`T116,T123`)."""
    return [kind.strip() for kind in written.split(",") if kind.strip()]
