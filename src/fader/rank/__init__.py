"""From a Contexts table to ranked entities: what a ranking is, and features x aggregator as one function."""
