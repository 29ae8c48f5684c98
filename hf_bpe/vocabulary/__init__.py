"""What a vocabulary shows by itself: how its tokens are spelled, and which of them are odd."""
