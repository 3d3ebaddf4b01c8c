"""Models that keep k-anonymity themselves, grown under the guarantee: kADET."""
