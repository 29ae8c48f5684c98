"""What a vocabulary shows by itself: which of its tokens are odd, and how people are shown them."""
