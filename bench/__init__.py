"""Speed and scale, as ratios in one run: ``python -m bench [tree|command|adult|methods|growth|kadet|all]``."""
