"""What all tests in a browser are given."""

from support.browsing import browse, browser, painted

__all__ = ["browse", "browser", "painted"]
