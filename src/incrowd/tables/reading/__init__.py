"""Tables in: files and data frames, their draft schema, their encoded form."""
