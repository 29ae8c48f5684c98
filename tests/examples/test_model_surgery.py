"""The example of a model and its tokenizer changed together does what it says."""

from tests.examples.support import load_example


def test_glitch_tokens_are_found_rows_are_made_and_only_they_are_trained():
    glitches, rows, gist = load_example("model_surgery").main().values()
    assert glitches == {"undertrained": ["Ġkeeps"]}
    assert rows == {"new ids": range(326, 329), "rows": 329, "the same logits for the old ids": True}
    before, after = gist["difference of the logits"]
    assert after < 0.6 * before
    assert gist["everything else is as it was"]
