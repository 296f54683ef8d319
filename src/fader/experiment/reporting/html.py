"""The HTML of reports: templates of Jinja2, in which every value is escaped without being asked for.

A value also becomes one line without control characters, cut where it is too long (`clean_text`); `value | limit(200)`
cuts it elsewhere. Only Markup, which these functions return, is put into a page as it is. The templates are the files
of `templates/`. Knows nothing of what they show.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fader.experiment.reporting.markup import clean_text, format_count, format_p


def escape_text(text: str, limit: int = 1000) -> Markup:
    """A text safe between HTML tags and in attributes, whatever is in it."""
    return Markup.escape(clean_text(text, limit))


_templates = Environment(
    loader=PackageLoader("fader.experiment.reporting"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=lambda value: value if isinstance(value, Markup) else clean_text(str(value)),
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters.update(limit=escape_text, count=format_count, p_value=format_p)


def render(template: str, **values: Any) -> Markup:
    """A template filled with values, which it escapes; Markup among them stays as it is."""
    return Markup(_templates.get_template(template).render(values))  # its values are escaped


def render_page(title: str, body: Markup) -> str:
    """A page that needs no other file and lets no script run but its own, which sorts tables."""
    script = Markup("\n") + render("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render("page.html", title=title, body=body, script=script, script_digest=digest)
