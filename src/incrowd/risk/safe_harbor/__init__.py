"""The Safe Harbor checklist of HIPAA: eighteen kinds of identifiers, looked for by name and by content."""
