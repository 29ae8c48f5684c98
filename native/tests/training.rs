//! Counts beyond 32 bits, ties, runs, and stopping.
#![allow(clippy::unwrap_used, missing_docs)]

use native::{
    error::EngineError,
    train::{Limits, learn_merges},
};

fn learn(words: &[(&str, i64)], merges: usize) -> Vec<(u32, u32)> {
    let words: Vec<(Vec<u8>, i64)> = words.iter().map(|(word, count)| (word.as_bytes().to_vec(), *count)).collect();
    learn_merges(&words, Limits { merges, min_frequency: 1, max_token_length: usize::MAX }, |_| true).unwrap()
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
    assert_eq!(learn_merges(&words, limits, |_| false), Err(EngineError::Interrupted));
}
