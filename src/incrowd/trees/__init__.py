"""Decision trees: one shape, one induction kernel (ID3, C4.5), and adapters for other people's trees."""
