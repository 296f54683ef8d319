"""The paper's tables on any testbed: what is compared, whether it can be, the tables, the paper's own numbers."""
