"""The tests, by behaviour. They need the native engine, the `test` extra, and nothing else: no network, no data files."""
