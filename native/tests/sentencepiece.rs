//! SentencePiece models against their one-paragraph definition.
#![allow(clippy::unwrap_used, missing_docs)]

use native::{
    model::Model,
    sentencepiece::{Kind, Piece, Prepend, Rules, Settings},
};
use proptest::prelude::*;

const SPACE: char = '\u{2581}';

fn rules(prepend: Prepend) -> Rules<'static> {
    Rules {
        byte_fallback: false,
        normalizer: Settings {
            prepend,
            prefix_before_space: true,
            remove_extra_spaces: false,
            escape_spaces: true,
            space_is_suffix: false,
            charsmap: b"",
        },
        denormalizer: b"",
        unknown_surface: "?",
    }
}

fn encode(model: &Model, text: &str) -> Vec<u32> {
    let policy = model.policy(|_| false, |_| false).unwrap();
    let mut ids = Vec::new();
    model.coder().encode(text, &policy, &mut |some| ids.extend_from_slice(some)).unwrap();
    ids
}

fn decode(model: &Model, ids: &[u32]) -> String {
    let mut text = Vec::new();
    model.decode(ids, true, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Merges the neighbours that make the piece of the best score, the leftmost of equals; then takes unused pieces apart.
fn encode_by_definition(pieces: &[Piece<'_>], text: &str) -> Vec<u32> {
    /// A symbol, and the two it was made of.
    #[derive(Clone)]
    struct Part(String, Option<Box<(Part, Part)>>);
    let find = |content: &str| pieces.iter().position(|piece| piece.content == content && piece.kind != Kind::Unknown);
    let mut parts: Vec<Part> = text.replace(' ', "\u{2581}").chars().map(|character| Part(character.to_string(), None)).collect();
    loop {
        let joined = |at: usize| find(&format!("{}{}", parts[at - 1].0, parts[at].0));
        let candidates = (1..parts.len()).filter_map(|at| Some((pieces[joined(at)?].score, at)));
        let best = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, at)) = best else { break };
        let (left, right) = (parts[at - 1].clone(), parts[at].clone());
        let content = format!("{}{}", left.0, right.0);
        parts.splice(at - 1..=at, [Part(content, Some(Box::new((left, right))))]);
    }
    let mut ids = Vec::new();
    let mut waiting: Vec<Part> = parts.into_iter().rev().collect();
    while let Some(Part(content, halves)) = waiting.pop() {
        let id = find(&content).filter(|id| pieces[*id].kind == Kind::Normal);
        match (id, halves) {
            (Some(id), _) => ids.push(id as u32),
            (None, Some(halves)) => waiting.extend([halves.1, halves.0]),
            (None, None) if ids.last() != Some(&0) => ids.push(0),
            (None, None) => {}
        }
    }
    ids
}

/// Contents, scores (few of them, so that many are equal) and whether they come apart again.
fn tables() -> impl Strategy<Value = Vec<(String, u8, bool)>> {
    let piece = ("[ab\u{2581}é中]{1,6}", 0u8..5, prop::bool::weighted(0.2));
    prop::collection::vec(piece, 1..25).prop_map(|mut table| {
        table.sort();
        table.dedup_by(|next, piece| next.0 == piece.0);
        table
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn any_table_merges_as_defined(table in tables(), texts in prop::collection::vec("[ab \u{2581}é中x]{0,80}", 1..8)) {
        let kind = |is_unused| if is_unused { Kind::Unused } else { Kind::Normal };
        let listed = table.iter().map(|(content, score, is_unused)| Piece { content, score: f32::from(*score), kind: kind(*is_unused) });
        let pieces: Vec<Piece<'_>> = [Piece { content: "<unk>", score: 0.0, kind: Kind::Unknown }].into_iter().chain(listed).collect();
        let model = Model::from_pieces(&pieces, rules(Prepend::Never), Vec::new()).unwrap();
        for text in texts.iter().chain(&texts) { // twice: the second time out of the cache
            prop_assert_eq!(encode(&model, text), encode_by_definition(&pieces, text), "{:?}", text);
        }
    }

    #[test]
    fn whatever_is_known_comes_back(text in "[ab \u{2581}é]{0,200}") {
        let pieces = ["<unk>", "a", "b", "é", "\u{2581}", "\u{2581}\u{2581}", "ab", "\u{2581}a"];
        let kind = |content: &str| if content == "<unk>" { Kind::Unknown } else { Kind::Normal };
        let pieces: Vec<Piece<'_>> = pieces.iter().map(|content| Piece { content, score: 0.0, kind: kind(content) }).collect();
        let model = Model::from_pieces(&pieces, rules(Prepend::Always), Vec::new()).unwrap();
        prop_assert_eq!(decode(&model, &encode(&model, &text)), text.replace(SPACE, " "));
    }

    #[test]
    fn a_charsmap_of_any_bytes_is_refused_or_runs(charsmap in prop::collection::vec(any::<u8>(), 1..3000), text in "\\PC{0,30}") {
        let mut whole = 1024u32.to_le_bytes().to_vec();
        whole.extend(charsmap.iter().cycle().take(1024).map(|byte| byte & 3)); // offsets that often stay within the trie
        whole.extend_from_slice(&[b'x', 0, 0]);
        let pieces = [Piece { content: "<unk>", score: 0.0, kind: Kind::Unknown }];
        for charsmap in [&charsmap, &whole] {
            let mut rules = rules(Prepend::Never);
            rules.normalizer.charsmap = charsmap;
            rules.denormalizer = charsmap;
            if let Ok(model) = Model::from_pieces(&pieces, rules, Vec::new()) {
                encode(&model, &text);
                model.decode(&[0, 0], true, &mut Vec::new()).unwrap();
            }
        }
    }
}

#[test]
fn a_score_reached_only_by_a_worse_one_does_not_overtake_its_left() {
    // cd may not merge before ab does: bcd, better than both, would take b away.
    let contents = [("a", 0.0), ("b", 0.0), ("c", 0.0), ("d", 0.0), ("ab", -2.0), ("cd", -2.0), ("bcd", -1.0)];
    let listed = contents.iter().map(|(content, score)| Piece { content, score: *score, kind: Kind::Normal });
    let pieces: Vec<Piece<'_>> = [Piece { content: "<unk>", score: 0.0, kind: Kind::Unknown }].into_iter().chain(listed).collect();
    let model = Model::from_pieces(&pieces, rules(Prepend::Never), Vec::new()).unwrap();
    assert_eq!(encode(&model, "abcd"), [5, 6]);
    assert_eq!(encode(&model, "bcd"), [7]);
}

#[test]
fn spaces_of_equal_score_merge_from_the_left() {
    let spaces: Vec<String> = (1..=16).map(|count| SPACE.to_string().repeat(count)).collect();
    let listed = spaces.iter().map(|content| Piece { content, score: -1e9, kind: Kind::Normal });
    let pieces: Vec<Piece<'_>> = [Piece { content: "<unk>", score: 0.0, kind: Kind::Unknown }].into_iter().chain(listed).collect();
    let model = Model::from_pieces(&pieces, rules(Prepend::Never), Vec::new()).unwrap();
    assert_eq!(encode(&model, &" ".repeat(40)), [16, 16, 8]);
    assert_eq!(encode(&model, &" ".repeat(100_000)).len(), 6250);
}
