"""Side by side with the peers; every timing comes after an exactness gate."""
