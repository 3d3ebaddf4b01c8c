"""The numbers the founding papers print, transcribed, to be set beside what the lab measures."""
