"""What the tests of the command are run on."""

EOT = "<|endoftext|>"
CORPUS = "The quick brown fox doesn't jump over 12345 lazy dogs; naïve 안녕하세요 😉\n" * 40
