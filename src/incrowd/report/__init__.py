"""What happened, as facts first; then for the terminal, as HTML, and as a certificate."""
