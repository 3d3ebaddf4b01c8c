"""The thesis on suppressing microdata against inference (Sabancı University, 2011), once more, and past it."""
