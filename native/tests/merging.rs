//! Merging, cutting and recovering, each against its one-paragraph definition.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::HashMap;

use native::{
    borders::Borders,
    merge::{MergeScratch, merge_piece},
    pair_table::{Merge, NO_RANK, PairTable},
    recover::recover,
    spellings::Spellings,
};
use proptest::prelude::*;

/// Merges the best-ranked pair until none has a rank.
fn merge_by_definition(mut ids: Vec<u32>, ranks: &HashMap<(u32, u32), (usize, u32)>) -> Vec<u32> {
    loop {
        let pairs = ids.windows(2).enumerate();
        let best = pairs.filter_map(|(at, pair)| ranks.get(&(pair[0], pair[1])).map(|&(rank, id)| (rank, at, id))).min();
        let Some((_, at, id)) = best else { return ids };
        ids.splice(at..at + 2, [id]);
    }
}

/// Symbols on both sides of 256, below which pairs are looked up in a square array.
fn symbol(below: u32) -> impl Strategy<Value = u32> {
    (0..below).prop_map(|number| number * 90)
}

/// Merges of symbols, in any order; several may make the same.
fn merges() -> impl Strategy<Value = Vec<((u32, u32), u32)>> {
    let pairs = prop::collection::hash_map((symbol(12), symbol(12)), symbol(16), 0..40);
    pairs.prop_map(|pairs| pairs.into_iter().collect())
}

/// A rank table: the bytes of the alphabet and longer tokens, in any order.
fn rank_table() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let longer = prop::collection::hash_set(prop::collection::vec(b'a'..=b'c', 2..6), 0..30);
    longer.prop_map(|longer| [b"a", b"b", b"c"].map(|byte| byte.to_vec()).into_iter().chain(longer).collect())
}

fn table(merges: &[((u32, u32), u32)]) -> PairTable {
    let merges: Vec<Merge> = merges.iter().map(|&((left, right), made)| Merge { left, right, made }).collect();
    PairTable::new(&merges)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn any_length_is_merged_as_defined(merges in merges(), ids in prop::collection::vec(symbol(4), 0..200)) {
        let table = table(&merges);
        let ranks = merges.iter().enumerate().map(|(rank, &(pair, id))| (pair, (rank, id))).collect();
        let (mut scratch, mut out) = (MergeScratch::default(), vec![77]);
        merge_piece(ids.iter().copied(), &table, &mut scratch, |symbol| out.push(symbol));
        prop_assert_eq!(out.remove(0), 77, "what was there stays");
        prop_assert_eq!(&out, &merge_by_definition(ids.clone(), &ranks));
        let mut again = Vec::new();
        merge_piece(ids.into_iter(), &table, &mut scratch, |symbol| again.push(symbol));
        prop_assert_eq!(out, again, "scratch space carries nothing over");
    }

    #[test]
    fn long_runs_are_merged_as_defined(merges in merges(), runs in prop::collection::vec((symbol(4), 1usize..150), 1..5)) {
        let symbols: Vec<u32> = runs.iter().flat_map(|&(symbol, count)| std::iter::repeat_n(symbol, count)).collect();
        let ranks = merges.iter().enumerate().map(|(rank, &(pair, id))| (pair, (rank, id))).collect();
        let mut out = Vec::new();
        merge_piece(symbols.iter().copied(), &table(&merges), &mut MergeScratch::default(), |symbol| out.push(symbol));
        prop_assert_eq!(out, merge_by_definition(symbols, &ranks));
    }

    #[test]
    fn recovered_merges_give_the_ids_of_the_table(tokens in rank_table(), text in prop::collection::vec(b'a'..=b'c', 0..40)) {
        let tokens: Vec<&[u8]> = tokens.iter().map(Vec::as_slice).collect();
        let rank_of: HashMap<&[u8], u32> = tokens.iter().zip(0u32..).map(|(token, rank)| (*token, rank)).collect();
        let id = |bytes: &[u8]| rank_of[bytes];
        let longer: Vec<&[u8]> = tokens.iter().copied().filter(|token| token.len() > 1).collect();
        let spellings = Spellings::bytes_and(&longer).unwrap();
        let (pairs, unreachable) = recover(&spellings);
        prop_assert_eq!(pairs.merges().len() + unreachable.len(), longer.len());

        let id_of_symbol = |symbol: u32| id(spellings.get(symbol));
        let merges = pairs.merges().iter().enumerate().map(|(order, merge)| {
            ((id_of_symbol(merge.left), id_of_symbol(merge.right)), (order, id_of_symbol(merge.made)))
        });
        let from_merges = merge_by_definition(text.iter().map(|byte| id(&[*byte])).collect(), &merges.collect());

        // tiktoken's loop: the two neighbours whose bytes joined have the lowest rank become one.
        let mut parts: Vec<Vec<u8>> = text.iter().map(|byte| vec![*byte]).collect();
        while let Some((_, at)) = (1..parts.len()).filter_map(|at| Some((rank_of.get(parts[at - 1..=at].concat().as_slice())?, at))).min() {
            let joined = parts[at - 1..=at].concat();
            parts.splice(at - 1..=at, [joined]);
        }
        let from_table: Vec<u32> = parts.iter().map(|part| id(part)).collect();
        prop_assert!(unreachable.iter().all(|symbol| !from_table.contains(&id_of_symbol(*symbol))));
        prop_assert_eq!(from_merges, from_table);
    }

    #[test]
    fn cuts_lie_between_characters_and_are_crossed_by_no_token(
        text in "[aé中😉ﬁ]{1,40}",
        places in prop::collection::vec((0usize..60, 2usize..9), 0..12),
    ) {
        let tokens: Vec<&[u8]> = places.iter().filter_map(|&(start, length)| text.as_bytes().get(start..start + length)).collect();
        let mut parts = Vec::new();
        Borders::new(tokens.iter().copied()).for_each_part(text.as_bytes(), 0, text.len(), |start, end| parts.push(&text.as_bytes()[start..end]));
        prop_assert_eq!(parts.concat(), text.as_bytes());
        let ends = parts.iter().scan(0, |end, part| { *end += part.len(); Some(*end) });
        for cut in ends.filter(|end| *end < text.len()) {
            prop_assert!(text.is_char_boundary(cut));
            let crosses = |token: &&[u8]| (1..token.len()).any(|at| at <= cut && text.as_bytes()[cut - at..].starts_with(token));
            prop_assert!(!tokens.iter().any(crosses), "a token crosses byte {cut}");
        }
    }

    #[test]
    fn pairs_are_found_and_others_are_not(merges in merges(), left in symbol(20), right in symbol(20)) {
        let expected = merges.iter().position(|(pair, _)| *pair == (left, right));
        let table = table(&merges);
        let found = table.rank(left, right);
        prop_assert_eq!(found, expected.map_or(NO_RANK, |rank| rank as u32));
        if let Some(rank) = expected {
            prop_assert_eq!(table.made(found), merges[rank].1);
        }
    }
}

#[test]
fn a_text_no_token_crosses_is_cut_at_every_character() {
    let (text, mut parts) = ("(中é😉x)", Vec::new());
    Borders::new([b"ab".as_slice()].into_iter())
        .for_each_part(text.as_bytes(), 1, text.len() - 1, |start, end| parts.push(&text[start..end]));
    assert_eq!(parts, ["中", "é", "😉", "x"]);
}

#[test]
fn the_pair_of_symbols_zero_is_a_pair_like_any_other() {
    let rank = |merges: &[((u32, u32), u32)]| table(merges).rank(0, 0);
    assert_eq!(rank(&[]), NO_RANK);
    assert_eq!(rank(&[((0, 0), 5)]), 0);
    assert_eq!(rank(&[((0, 1), 5)]), NO_RANK);
}
