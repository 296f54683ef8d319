"""Identifiers of biomedical concepts, in one spelling."""

from __future__ import annotations

import pytest

from fader.corpora.parsers.biomedical.concepts import find_concepts


@pytest.mark.parametrize(
    ("written", "kind", "expected"),
    [
        ("D009270", "Chemical", ["MESH:D009270"]),
        ("mesh:D009270", "Chemical", ["MESH:D009270"]),
        ("C000657245", "Disease", ["MESH:C000657245"]),
        ("C4308010", "T116", ["UMLS:C4308010"]),
        ("672", "Gene", ["NCBIGene:672"]),
        ("672(Tax:9606)", "GeneOrGeneProduct", ["NCBIGene:672"]),
        ("9606", "Species", ["NCBITaxon:9606"]),
        ("114480", "Disease", ["OMIM:114480"]),
        ("CVCL_0030", "CellLine", ["Cellosaurus:CVCL_0030"]),
        ("rs334", "SequenceVariant", ["dbSNP:rs334"]),
        ("tmVar:c|SUB|C|1858|T;HGVS:c.1858C>T;RS#:2476601", "DNAMutation", ["dbSNP:rs2476601"]),
        ("tmVar:c|SUB|C|1858|T;HGVS:c.1858C>T", "DNAMutation", ["c.1858C>T"]),
        ("p|SUB|V|600|E", "ProteinMutation", ["p|SUB|V|600|E"]),
        ("D003409|D006528", "Disease", ["MESH:D003409", "MESH:D006528"]),
        ("D016889+D061325", "Disease", ["MESH:D016889", "MESH:D061325"]),
        ("672;675,-", "Gene", ["NCBIGene:672", "NCBIGene:675"]),
        ("-1", "Disease", []),
        ("MESH:-", "Disease", []),
        ("", "Gene", []),
        ("CHEBI:15365", "Chemical", ["CHEBI:15365"]),
    ],
)
def test_spellings(written: str, kind: str, expected: list[str]) -> None:
    """Ids of the known corpora become one spelling each; composite ones are taken apart; none stays none."""
    assert list(find_concepts(written, kind)) == expected


def test_named_resource() -> None:
    """A source that names the resource is believed."""
    assert find_concepts("7157", "", "NCBI Gene") == ("NCBIGene:7157",)
