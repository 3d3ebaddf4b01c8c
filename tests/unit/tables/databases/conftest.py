from support.postgresql_server import clinic, server

__all__ = ["clinic", "server"]
