"""Systems that rank entities from a Contexts table: one system, one file, one name."""
