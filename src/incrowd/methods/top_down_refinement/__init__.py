"""Top-down refinement: show nothing, then reveal value by value while every group stays large enough."""
