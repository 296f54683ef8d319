"""Files as people have them to documents: text, Markdown, HTML, PDF, DOCX, e-mail, tables, JSON, archives of these.

`walk` finds files, `kinds` tells what each is by its content, one module per kind reads it, `read` puts them together,
and `corpus` annotates what they give. PDF and DOCX are read in a process of their own (`apart`), with bounds on time
and memory; it imports this package, so nothing is imported here. Knows nothing of entities.
"""
