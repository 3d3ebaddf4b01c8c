"""Blend on trial: cells of one method, k and split, kept in a file as they are finished, and the pages made of them."""
