"""Statistics of comparisons: is one method better than another, and how sure is an accuracy."""
