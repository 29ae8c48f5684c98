//! Counts beyond 32 bits, ties, runs, and stopping.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{cmp::Reverse, collections::BTreeMap};

use native::{
    error::EngineError,
    normalize::Normalizer,
    split::Splitter,
    train::{Limits, Ties, WordCounter, Words},
};
use proptest::prelude::*;

fn learn_merges(
    words: &[(Vec<u8>, i64)],
    limits: Limits,
    ties: Ties,
    progress: impl FnMut(usize) -> bool,
) -> Result<Vec<(u32, u32)>, EngineError> {
    let words: Words = words.iter().map(|(word, count)| (word.as_slice(), *count)).collect();
    native::train::learn_merges(words.view(), limits, ties, &[], |_, _| Ok(false), progress)
}

fn learn(words: &[(&str, i64)], merges: usize) -> Vec<(u32, u32)> {
    let words: Vec<(Vec<u8>, i64)> = words.iter().map(|(word, count)| (word.as_bytes().to_vec(), *count)).collect();
    learn_merges(&words, Limits { merges, min_frequency: 1, max_token_length: usize::MAX }, Ties::LowestIds, |_| true).unwrap()
}

#[test]
fn counts_above_two_to_the_31_stay_positive_and_ordered() {
    let often = 1i64 << 33;
    let merges = learn(&[("ab", often), ("cd", often + 1), ("ef", 5)], 3);
    assert_eq!(merges, [(99, 100), (97, 98), (101, 102)]);
}

#[test]
fn ties_go_to_the_lowest_ids() {
    assert_eq!(learn(&[("zy", 2), ("ba", 2), ("ab", 2)], 3), [(97, 98), (98, 97), (122, 121)]);
}

#[test]
fn runs_merge_from_the_left() {
    assert_eq!(learn(&[("aaaaa", 1)], 3), [(97, 97), (256, 97), (256, 257)]);
}

#[test]
fn progress_may_stop_the_training() {
    let words: Vec<(Vec<u8>, i64)> = (0..200u8).map(|n| (vec![n, n.wrapping_add(1), n], 1)).collect();
    let limits = Limits { merges: 500, min_frequency: 1, max_token_length: usize::MAX };
    assert_eq!(learn_merges(&words, limits, Ties::LowestIds, |_| false), Err(EngineError::Interrupted));
}

#[test]
fn ties_go_to_what_stands_first_where_that_is_asked_for() {
    let words: Vec<(Vec<u8>, i64)> = [("zy", 2), ("ba", 2), ("ab", 2)].map(|(word, count)| (word.into(), count)).into();
    let limits = Limits { merges: 3, min_frequency: 1, max_token_length: usize::MAX };
    assert_eq!(learn_merges(&words, limits, Ties::FirstSeen, |_| true).unwrap(), [(122, 121), (98, 97), (97, 98)]);
}

/// Counts every pair anew for each merge.
fn learn_by_definition(words: &[(Vec<u8>, i64)], limits: Limits, ties: Ties) -> Vec<(u32, u32)> {
    let mut words: Vec<(Vec<u32>, i64)> =
        words.iter().map(|(word, count)| (word.iter().map(|byte| u32::from(*byte)).collect(), *count)).collect();
    let mut length = vec![1usize; 256];
    let mut merges = Vec::new();
    while merges.len() < limits.merges {
        let mut counts: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        let mut first_seen: Vec<(u32, u32)> = Vec::new();
        for (word, count) in &words {
            for pair in word.windows(2).map(|pair| (pair[0], pair[1])) {
                *counts.entry(pair).or_insert_with(|| {
                    first_seen.push(pair);
                    0
                }) += count;
            }
        }
        counts.retain(|pair, _| length[pair.0 as usize] + length[pair.1 as usize] <= limits.max_token_length);
        let place = |pair| match ties {
            Ties::FirstSeen => first_seen.iter().position(|seen| *seen == pair),
            Ties::LowestIds | Ties::LowestCharacters => None,
        };
        let best = counts.into_iter().max_by_key(|&(pair, count)| (count, Reverse((place(pair), pair))));
        let Some((pair, _)) = best.filter(|(_, count)| *count >= limits.min_frequency.max(1)) else { break };
        let new_id = 256 + merges.len() as u32;
        length.push(length[pair.0 as usize] + length[pair.1 as usize]);
        merges.push(pair);
        for (word, _) in &mut words {
            let mut at = 0;
            while at + 1 < word.len() {
                if (word[at], word[at + 1]) == pair {
                    word.splice(at..at + 2, [new_id]);
                }
                at += 1;
            }
        }
    }
    merges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn merges_are_those_of_the_definition(
        words in prop::collection::hash_map("[abc]{0,14}", prop_oneof![1i64..4, (1i64 << 31)..(1i64 << 40)], 0..12),
        merges in 0usize..30,
        min_frequency in 0i64..4,
        max_token_length in prop_oneof![Just(usize::MAX), 1usize..8],
    ) {
        let words: Vec<(Vec<u8>, i64)> = words.into_iter().map(|(word, count)| (word.into_bytes(), count)).collect();
        let limits = Limits { merges, min_frequency, max_token_length };
        let learnt = learn_merges(&words, limits, Ties::LowestIds, |_| true).unwrap();
        prop_assert_eq!(&learnt, &learn_by_definition(&words, limits, Ties::LowestIds));
        let first_seen = learn_merges(&words, limits, Ties::FirstSeen, |_| true).unwrap();
        prop_assert_eq!(first_seen, learn_by_definition(&words, limits, Ties::FirstSeen));
        let backwards: Vec<_> = words.into_iter().rev().collect();
        prop_assert_eq!(learn_merges(&backwards, limits, Ties::LowestIds, |_| true).unwrap(), learnt, "the order of the words");
    }

    #[test]
    fn counts_do_not_depend_on_threads(texts in prop::collection::vec("[ab é]{0,40}", 0..20), threads in 2usize..9) {
        let count = |threads: usize| {
            let splitter = Splitter::new(Some(r" ?\S+|\s+"), None, true).unwrap();
            let mut counter = WordCounter::new(Normalizer::default(), splitter, vec!["ab".to_owned()]).unwrap();
            texts.chunks(3).for_each(|some| counter.add(some, threads).unwrap());
            let words = counter.take_words();
            let mut words: Vec<_> = words.view().iter().map(|(word, times)| (word.to_vec(), times)).collect();
            words.sort();
            words
        };
        let words = count(1);
        prop_assert_eq!(&words, &count(threads));
        prop_assert!(words.iter().all(|(word, times)| *times > 0 && !String::from_utf8_lossy(word).contains("ab")));
        let bytes: usize = words.iter().map(|(word, times)| word.len() * *times as usize).sum();
        let specials: usize = texts.iter().map(|text| text.matches("ab").count()).sum();
        prop_assert_eq!(bytes + 2 * specials, texts.iter().map(String::len).sum::<usize>());
    }
}

#[test]
fn counts_near_the_end_of_64_bits_do_not_wrap_for_a_pair_seen_twice_in_a_word() {
    assert_eq!(learn(&[("abab", i64::MAX / 4 + 1), ("cd", i64::MAX / 2)], 2), [(97, 98), (99, 100)]);
}

#[test]
fn long_pieces_count_for_the_memory_once() {
    let mut counter = WordCounter::new(Normalizer::default(), Splitter::new(Some(r" ?\S+|\s+"), None, true).unwrap(), vec![]).unwrap();
    let long = "x".repeat(1 << 20);
    counter.add(&[long.as_str()], 1).unwrap();
    let one = counter.nbytes();
    assert!(one >= long.len());
    counter.add(&[long.as_str()], 1).unwrap();
    assert_eq!(counter.nbytes(), one);
    counter.take_words();
    assert_eq!(counter.nbytes(), 0);
}
