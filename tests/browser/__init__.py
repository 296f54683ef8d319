"""The page in a real browser, over a service on a real port."""
