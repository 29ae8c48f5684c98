"""What several test files share: difficult text, vocabularies, and the official engines."""
