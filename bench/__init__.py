"""Speed and scale, as ratios within one run: ``python -m bench [tree|command|adult|methods|growth|kadet|all]``."""
