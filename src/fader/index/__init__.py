"""The index on disk: immutable, checksummed, memory-mapped; knows nothing of queries or scores.

    opening         reader.py (one commit), segment.py (one segment), files.py (its files), format.py (their container)
    a commit        manifest.py, commit.py, lock.py; numbering.py (documents through all segments)
    documents       textstore.py, textframes.py, tokensamples.py, sentences.py, excerpts.py; about.py
    mentions        forms.py, aside.py
    the catalog     catalog.py, names.py (completion), labelterms.py, offering.py
    words           stems.py
    trust           sound.py: what must hold before kernels use a segment

`write/` builds, changes and merges; `verify/` trusts nothing; `encoding/` has lists and strings as bytes.
"""
