"""A release and its certificate, held together: does the file still say what the certificate states?

Everything that can be recounted from the release alone is recounted; what needs the table it was made from is named,
not passed over. May import the rooms reading, databases, verification and report.
"""
