"""Biomedical concepts and BioC files."""
