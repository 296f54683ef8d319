"""The service: an open index behind HTTP, with limits, and the page that shows it. The one place that knows of HTTP.

Needs the extra `serve`; nothing outside of this folder imports what that installs.
"""
