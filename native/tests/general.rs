//! Patterns that are not published: what an automaton makes of them is what a backtracking engine makes of them.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;

use fancy_regex::Regex;
use native::split::Splitter;
use proptest::prelude::*;

const O200K_UPPER: &str = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
const O200K_LOWER: &str = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
const CONTRACTION: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

/// Patterns people train with, and the engine that must run them.
fn patterns() -> Vec<(String, &'static str)> {
    let lazy = [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+".to_owned(),
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+".to_owned(),
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s".to_owned(),
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,2}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++(?=\n?\z)|\s*[\r\n]|\s+(?!\S)|\s"
            .to_owned(),
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+".to_owned(),
        format!(
            r"[^\r\n\p{{L}}\p{{N}}]?{O200K_UPPER}*{O200K_LOWER}+{CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?{O200K_UPPER}+{O200K_LOWER}*{CONTRACTION}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        r"\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+".to_owned(),
        r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\p{Script=Hangul}+| ?\p{L}+|\p{N}{1,4}|\s+(?!\S)|\s+|.".to_owned(),
        r"\w+|[^\w\s]+|\s+".to_owned(),
        r"\p{Lu}?\p{Ll}+|\s+(?=\s)|\s|.".to_owned(),
        r"(?!\p{Lu})\p{L}(?=\s|\z)|\S".to_owned(),
        r"[^\p{L}\p{M}]?(?!\p{Lu})\p{L}|\s+(?=\n?\z)|\s|[^\s]".to_owned(),
    ];
    let dense = [r"[a-z]+|[0-9]{1,3}|[ \t]+(?![^ \t])", "ab|a", r"a++(?!b)|[ab]", r"a+?b|[ab]+?", r"[a-c]+$|[a-d]"].map(str::to_owned);
    let backtracking =
        [r"(?<=a)b|.", r"\bx|.", r"(?>a|ab)c|.", r"(?=ab)a|.", r"(?:a|ab)(?!b)|.", r"a*|b", r"^a|.", r"(a)\1|.", r"(?:a++|b)a|."]
            .map(str::to_owned);
    let with = |engine: &'static str| move |pattern| (pattern, engine);
    let all = lazy.into_iter().map(with("lazy automaton"));
    all.chain(dense.into_iter().map(with("dense automaton"))).chain(backtracking.into_iter().map(with("backtracking"))).collect()
}

fn engine_of(splitter: &Splitter) -> &'static str {
    match splitter {
        Splitter::General(general) => general.engine(),
        _ => "rules",
    }
}

fn pieces(splitter: &Splitter, text: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    splitter.for_each(text, |start, end| pieces.push((start, end))).unwrap();
    pieces
}

/// The pieces of a backtracking engine.
fn expected(regex: &Regex, text: &str, keep_unmatched: bool) -> Option<Vec<(usize, usize)>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for found in regex.find_iter(text) {
        let found = found.ok()?;
        if found.start() == found.end() {
            continue;
        }
        if keep_unmatched && done < found.start() {
            pieces.push((done, found.start()));
        }
        pieces.push((found.start(), found.end()));
        done = found.end();
    }
    if keep_unmatched && done < text.len() {
        pieces.push((done, text.len()));
    }
    Some(pieces)
}

/// Pattern, engine, a backtracking engine for it, and ours: keeping what no match takes, and dropping it.
type Compiled = (String, &'static str, Regex, [(bool, Splitter); 2]);

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let compile = |(pattern, engine): (String, &'static str)| {
        let ours = [true, false].map(|keep| (keep, Splitter::new(Some(&pattern), None, keep).unwrap()));
        let regex = Regex::new(&pattern).unwrap();
        (pattern, engine, regex, ours)
    };
    patterns().into_iter().map(compile).collect()
});

fn assert_split_alike(text: &str, with_backtracking: bool) {
    for (pattern, engine, regex, ours) in COMPILED.iter() {
        for (keep, splitter) in ours {
            if with_backtracking || *engine != "backtracking" {
                let expected = expected(regex, text, *keep).unwrap();
                assert!(pieces(splitter, text) == expected, "{pattern}: {:?}", text.chars().take(50).collect::<String>());
            }
        }
    }
}

#[test]
fn each_pattern_gets_the_engine_it_needs() {
    let other = |(pattern, engine): &(String, &str)| engine_of(&Splitter::new(Some(pattern), None, true).unwrap()) != *engine;
    assert_eq!(patterns().into_iter().filter(other).collect::<Vec<_>>(), []);
}

/// Every character alone, before and after a letter, doubled, after and before white space, at the end of a line.
#[test]
fn every_code_point_is_split_alike() {
    let characters: Vec<char> = (0..=0x0010_FFFF)
        .filter_map(char::from_u32)
        .filter(|character| *character < '\u{3400}' || (*character as u32).is_multiple_of(97) || !character.is_alphabetic())
        .filter(|character| *character < '\u{20000}' || (*character as u32).is_multiple_of(97))
        .collect();
    for some in characters.chunks(100) {
        let text: String = some.iter().map(|c| format!("{c}a{c}{c} {c}1{c}\n{c}  {c}\r\n{c}B'{c}")).collect();
        assert_split_alike(&text, false);
    }
}

#[test]
fn the_end_of_the_text_is_seen_alike() {
    let endings = ["", " ", "  ", "\n", " \n", "\n ", "\n\n", "\r\n", " \u{3000}", "a", "a ", "a\n", "1\n ", "ab", "aab", "中 ", "é  \n"];
    for first in endings {
        for second in endings {
            assert_split_alike(&format!("{first}{second}"), true);
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let characters = prop::sample::select(vec![
        "a", "a", "b", "B", "c", " ", " ", "\n", "\r", "1", "'", "s", "!", "é", "中", "\u{301}", "\u{3000}", "😉",
    ]);
    prop::collection::vec(characters, 0..14).prop_map(|parts| parts.concat())
}

/// Any pattern of the constructs that are taken over, and of some that are not.
fn pattern() -> impl Strategy<Value = String> {
    let one = || {
        prop::sample::select(vec![
            "a",
            "b",
            "[ab]",
            "[^a]",
            r"\s",
            " ",
            r"\p{L}",
            r"\S",
            r"[^\s\p{L}]",
            r"\n",
            "1",
            ".",
            "é",
            "ab",
            r"\p{Lu}",
        ])
    };
    let count = || {
        prop::sample::select(vec!["", "", "+", "+", "+", "*", "?", "{1,2}", "{2}", "{2,}", "++", "*+", "?+", "{1,2}+", "+?", "*?", "??"])
    };
    let item = (one(), count()).prop_map(|(one, count)| format!("(?:{one}){count}"));
    let group = prop::collection::vec(item.clone(), 1..3).prop_map(|items| items.concat());
    let item = prop_oneof![
        12 => item,
        1 => (group.clone(), group.clone(), count()).prop_map(|(a, b, count)| format!("(?:{a}|{b}){count}")),
        1 => group.clone().prop_map(|group| format!("({group})")),
        1 => (one(), one()).prop_map(|(a, b)| format!("(?!{a}){b}")),
        1 => (one(), one()).prop_map(|(a, b)| format!("(?={a}){b}")),
        1 => group.prop_map(|group| format!("(?>{group})")),
    ];
    let end = prop_oneof![
        9 => Just(String::new()),
        3 => one().prop_map(|one| format!("(?!{one})")),
        1 => one().prop_map(|one| format!("(?={one})")),
        1 => one().prop_map(|one| format!(r"(?={one}|\z)")),
        1 => Just(r"(?=\n?\z)".to_owned()),
        1 => Just("$".to_owned()),
    ];
    let branch = (one(), prop::collection::vec(item, 0..3), end).prop_map(|(one, items, end)| one.to_owned() + &items.concat() + &end);
    prop::collection::vec(branch, 1..4).prop_map(|branches| branches.join("|"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn any_pattern_splits_any_text_alike(pattern in pattern(), texts in prop::collection::vec(text(), 8)) {
        let regex = Regex::new(&pattern).unwrap();
        let splitters = [true, false].map(|keep| Splitter::new(Some(&pattern), None, keep).unwrap());
        for text in texts {
            for (splitter, keep) in splitters.iter().zip([true, false]) {
                if let Some(expected) = expected(&regex, &text, keep) {
                    prop_assert_eq!(pieces(splitter, &text), expected, "{} on {:?} by {}", pattern, text, engine_of(splitter));
                }
            }
        }
    }

    #[test]
    fn patterns_people_train_with_split_any_text_alike(text in prop::collection::vec(text(), 0..6)) {
        assert_split_alike(&text.concat(), true);
    }
}

#[test]
fn most_random_patterns_are_taken() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let mut taken = 0;
    for _ in 0..500 {
        let pattern = pattern().new_tree(&mut runner).unwrap().current();
        let splitter = Splitter::new(Some(&pattern), None, true).unwrap();
        taken += usize::from(engine_of(&splitter) != "backtracking");
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn a_megabyte_of_monotony_takes_one_pass() {
    for (pattern, engine) in patterns() {
        if engine == "backtracking" {
            continue;
        }
        let splitter = Splitter::new(Some(&pattern), None, true).unwrap();
        for unit in ["a", " ", "\n", "\r\n ", "1", "!", "中", "A", "'", "\u{301}", "a ", "a\n"] {
            for end in ["", "x", " ", "\n"] {
                let text = unit.repeat(1_000_000 / unit.len()) + end;
                let total: usize = pieces(&splitter, &text).iter().map(|(start, end)| end - start).sum();
                assert_eq!(total, text.len(), "{pattern} {unit:?}");
            }
        }
    }
}

#[test]
fn threads_share_a_program_and_not_its_states() {
    let (pattern, _) = patterns().swap_remove(0);
    let splitter = Splitter::new(Some(&pattern), None, true).unwrap();
    let text = "Hello  wörld 中文 12\n\n ".repeat(500);
    let expected = pieces(&splitter, &text);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let own = splitter.clone();
            let (shared, text, expected) = (&splitter, &text, &expected);
            scope.spawn(move || assert_eq!(&pieces(&own, text), expected));
            scope.spawn(move || assert_eq!(&pieces(shared, text), expected));
        }
    });
}
