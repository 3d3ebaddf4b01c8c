"""Who tries to guess a hidden cell from what is published, and what they see."""
