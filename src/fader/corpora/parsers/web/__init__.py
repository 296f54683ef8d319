"""Web pages and crawls: WARC, HTTP responses, character sets, HTML with the place of every byte."""
