//! The hand-written splitters against the regular expressions they stand for.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;

use native::{error::EngineError, split::Splitter};
use proptest::prelude::*;

const WORDS_AND_REST: &str = r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn published() -> Vec<(&'static str, String)> {
    let contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    let (upper, lower) = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]");
    let llama3 = format!(r"{contraction}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+{WORDS_AND_REST}");
    vec![
        ("gpt2", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+".to_owned()),
        (
            "cl100k",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
                .to_owned(),
        ),
        ("starcoder", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+".to_owned()),
        ("qwen2", llama3.replace("{1,3}", "")),
        ("qwen3.5", llama3.replace("{1,3}", "").replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")),
        ("llama3", llama3),
        (
            "tekken",
            format!(
                r"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{}",
                WORDS_AND_REST.replace(r"[\r\n]*|", r"[\r\n/]*|").replace("{1,3}", ""),
            ),
        ),
        (
            "o200k",
            format!(
                r"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{contraction}?|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{contraction}?{}",
                WORDS_AND_REST.replace(r"[\r\n]*|", r"[\r\n/]*|"),
            ),
        ),
    ]
}

fn pieces(splitter: &Splitter, text: &str) -> Result<Vec<String>, EngineError> {
    let mut pieces = Vec::new();
    splitter.for_each(text, |start, end| pieces.push(text[start..end].to_owned()))?;
    Ok(pieces)
}

fn trouble() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{3000}",
        "\u{200b}",
        "'",
        "'s",
        "'S",
        "'\u{17f}",
        "'ll",
        "'lL",
        "'vE",
        "'Re",
        "a",
        "B",
        "ǅ",
        "ʰ",
        "ª",
        "K",
        "ß",
        "1",
        "٣",
        "Ⅷ",
        "12345",
        "\u{301}",
        "\u{e34}",
        "中",
        "ヿ",
        "゠",
        "・",
        "\u{3040}",
        "한",
        "😉",
        "\u{200d}",
        "\0",
        "!",
        "/",
        "_",
        "\u{378}",
        "\u{10fffd}",
    ]);
    let plain = prop::sample::select(vec![
        " ", " the", "Word", "don't", "It's", "WE'LL", "\n", "\n\n", "    ", " x", "(", "))", ";\n", "12", "3456",
    ]);
    let part = prop_oneof![
        4 => pieces.prop_map(str::to_owned),
        4 => plain.prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    // Long enough for several blocks of 64 bytes.
    prop::collection::vec(part, 0..150).prop_map(|parts| parts.concat())
}

/// Family, its rules, its regular expression.
static SPLITTERS: LazyLock<Vec<(&str, Splitter, Splitter)>> = LazyLock::new(|| {
    let both = published().into_iter().map(|(family, pattern)| {
        let make = |family| Splitter::new(Some(&pattern), family, true).unwrap();
        (family, make(Some(family)), make(None))
    });
    both.collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn rules_equal_the_regular_expression(text in trouble()) {
        for (family, rules, general) in SPLITTERS.iter() {
            prop_assert_eq!(pieces(rules, &text).unwrap(), pieces(general, &text).unwrap(), "{}", family);
        }
    }

    #[test]
    fn every_splitter_keeps_every_byte_in_order(text in trouble()) {
        for family in ["gpt2", "starcoder", "cl100k", "llama3", "qwen2", "qwen3.5", "o200k", "tekken", "deepseek-v3"] {
            let splitter = Splitter::new(Some("a"), Some(family), true).unwrap();
            let pieces = pieces(&splitter, &text).unwrap();
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty()), "{}", family);
            prop_assert_eq!(pieces.concat(), text.as_str(), "{}", family);
        }
    }
}

#[test]
fn published_patterns_have_rules_and_others_do_not() {
    for (family, rules, general) in SPLITTERS.iter() {
        assert!(!matches!(rules, Splitter::General(_)), "{family}");
        assert!(matches!(general, Splitter::General(_)), "{family}");
    }
}

#[test]
fn text_between_matches_is_kept_or_dropped() {
    for (keep, expected) in [(true, vec!["x", "ab", "-", "ab", "y"]), (false, vec!["ab", "ab"])] {
        assert_eq!(pieces(&Splitter::new(Some("ab"), None, keep).unwrap(), "xab-aby").unwrap(), expected);
    }
}

#[test]
fn a_bad_pattern_and_an_endless_one_are_errors() {
    assert!(matches!(Splitter::new(Some("("), None, true), Err(EngineError::Pattern { .. })));
    let endless = Splitter::new(Some("(?:a(?!z)|a(?!z)a)+b"), None, true).unwrap();
    assert!(matches!(pieces(&endless, &"a".repeat(200)), Err(EngineError::PatternLimit { at: 0, .. })));
}
