//! Sorted words: sorting and merging, compared with maps.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;

use native::{
    error::EngineError,
    train::{Unsorted, Words, ascend, merge},
};
use proptest::prelude::*;

type Counted = BTreeMap<Vec<u8>, i64>;

fn words(counted: impl IntoIterator<Item = (Vec<u8>, i64)>) -> Words {
    let mut words = Words::default();
    counted.into_iter().for_each(|(word, count)| words.push(&word, count));
    words
}

fn listed(words: &Words) -> Vec<(Vec<u8>, i64)> {
    words.view().iter().map(|(word, count)| (word.to_vec(), count)).collect()
}

/// Words that often share their first bytes, and end in the zeros that short ones are filled up with.
fn counted() -> impl Strategy<Value = Counted> {
    let tail = prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255)], 1..12);
    let word = (0usize..20, tail).prop_map(|(zeros, tail)| [vec![0; zeros], tail].concat());
    prop::collection::btree_map(word, 1i64..1000, 0..20)
}

proptest! {
    #[test]
    fn words_in_any_order_are_sorted(counted in counted(), seed in any::<u64>()) {
        let mut shuffled: Vec<_> = counted.clone().into_iter().collect();
        shuffled.sort_by_key(|(word, _)| word.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)));
        let mut unsorted = Unsorted::default();
        shuffled.iter().for_each(|(word, count)| unsorted.add(word.clone(), *count));
        shuffled.iter().step_by(2).for_each(|(word, _)| unsorted.add(word.clone(), 7));
        let in_order = unsorted.sorted();
        let mut expected = counted;
        shuffled.iter().step_by(2).for_each(|(word, _)| *expected.get_mut(word).unwrap() += 7);
        prop_assert_eq!(listed(&in_order), expected.into_iter().collect::<Vec<_>>());
        prop_assert!(ascend(in_order.view()));
        prop_assert_eq!(ascend(words(shuffled.clone()).view()), shuffled.is_sorted());
    }

    #[test]
    fn parts_are_merged_as_maps_are(parts in prop::collection::vec(counted(), 0..6)) {
        let mut expected = Counted::new();
        for (word, count) in parts.iter().flatten() {
            *expected.entry(word.clone()).or_default() += count;
        }
        let parts: Vec<Words> = parts.into_iter().map(words).collect();
        let merged = merge(&parts.iter().map(Words::view).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(listed(&merged), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_same_word_twice_does_not_ascend() {
    assert!(!ascend(words([(b"a".to_vec(), 1), (b"a".to_vec(), 1)]).view()));
}

#[test]
fn a_sum_beyond_63_bits_is_an_error_and_no_wrap() {
    let most = words([(b"often".to_vec(), i64::MAX)]);
    let one = words([(b"often".to_vec(), 1)]);
    assert_eq!(merge(&[most.view(), one.view()]), Err(EngineError::TooOften("often".to_owned())));
    assert_eq!(listed(&merge(&[most.view()]).unwrap()), [(b"often".to_vec(), i64::MAX)]);
}
