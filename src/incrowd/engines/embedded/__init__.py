"""The engine that works in this process's memory."""
