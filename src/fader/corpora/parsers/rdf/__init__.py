"""RDF: statements of Turtle, N-Triples and RDF/XML."""
