"""Addresses of the vocabularies that catalogs share. Knows nothing of what is done with them."""

from __future__ import annotations

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA, SECURE_SCHEMA = "http://schema.org/", "https://schema.org/"  # files have either
WIKIDATA = "http://www.wikidata.org/entity/"
