//! Pieces of equal score, of which the leftmost in the text merges first, whichever it is.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    pair_table::Merge,
    spellings::{BYTES, Spellings},
};

/// Symbols by the order of their scores.
#[derive(Debug)]
pub struct Scores {
    /// The bytes, what characters begin with, characters, then pieces of more than one character, best score first.
    pub spellings: Spellings,
    /// For each symbol how many scores are better.
    pub groups: Vec<u32>,
    /// The first symbol of more than one character.
    pub first: u32,
}

impl Scores {
    /// The merge that makes a character, or what one begins with.
    pub fn beginning(&self, made: u32) -> Merge {
        let (last, before) = self.spellings.get(made).split_last().unwrap_or((&0, &[]));
        Merge { left: self.spellings.find(before).unwrap_or(0), right: u32::from(*last), made }
    }

    fn group(&self, text: &[u8]) -> Option<u32> {
        let symbol = self.spellings.find(text).filter(|symbol| *symbol >= BYTES as u32)?;
        self.groups.get(symbol as usize).copied()
    }
}

const GONE: usize = usize::MAX;

/// Merges by score, the leftmost of equals: the definition. Calls `visit` with the middle of each pair that merges; returns
/// where the symbols that are left begin.
pub fn merge_by_score(text: &[u8], scores: &Scores, mut visit: impl FnMut(usize)) -> Vec<usize> {
    // By the place where a symbol begins: where it ends, and where the one before it begins.
    let mut ends: Vec<usize> = (1..=text.len()).collect();
    let mut before: Vec<usize> = (0..text.len()).map(|at| at.wrapping_sub(1)).collect();
    let mut waiting = BinaryHeap::new();
    let propose = |start: usize, middle: usize, end: usize, waiting: &mut BinaryHeap<_>| {
        waiting.extend(scores.group(&text[start..end]).map(|group| Reverse((group, start, middle, end))));
    };
    (1..text.len()).for_each(|middle| propose(middle - 1, middle, middle + 1, &mut waiting));
    while let Some(Reverse((_, start, middle, end))) = waiting.pop() {
        if ends[start] != middle || ends[middle] != end {
            continue; // one of the two is another by now
        }
        visit(middle);
        ends[start] = end;
        ends[middle] = GONE;
        if let Some(after) = ends.get(end) {
            before[end] = start;
            propose(start, end, *after, &mut waiting);
        }
        if before[start] != GONE {
            propose(before[start], start, end, &mut waiting);
        }
    }
    (0..text.len()).filter(|start| ends[*start] != GONE).collect()
}

/// Finds an order for pieces of equal score in which merging by rank does what merging the leftmost does.
///
/// Say merging by rank is about to merge c, where merging by place would first merge others of its score to the left. That
/// gives another result only if those take away c's left half: by some piece e, of no worse score, whose right half is c's
/// left half. Then at that moment e, or some piece of c's score within e's left half, could merge as well. So it is enough
/// that all of those have better ranks than c, for every such e. And nothing of better score may have c as a half: it would
/// take away c's neighbour before those to the left get to it.
#[derive(Debug)]
pub struct Ties<'s> {
    scores: &'s Scores,
    halves: Vec<Option<(u32, u32)>>,
    is_half: Vec<bool>,
    /// For each symbol the latest piece of which it is the right half; for that piece the one before.
    latest_with_right: Vec<u32>,
    previous_with_right: Vec<u32>,
    steps: usize,
}

const NONE: u32 = u32::MAX;
/// Steps for each symbol that looking for an order may take on average.
const STEPS: usize = 64;

impl<'s> Ties<'s> {
    /// Nothing merged yet.
    pub fn new(scores: &'s Scores) -> Self {
        let all = scores.spellings.len();
        Self {
            scores,
            halves: vec![None; all],
            is_half: vec![false; all],
            latest_with_right: vec![NONE; all],
            previous_with_right: vec![NONE; all],
            steps: STEPS * all,
        }
    }

    /// Merges of one score, after all better ones, in such an order; `None` if there is none, or it takes too long to find.
    pub fn in_order(&mut self, equals: &[Merge]) -> Option<Vec<Merge>> {
        if equals.len() > 1 && equals.iter().any(|merge| self.is_half[merge.made as usize]) {
            return None;
        }
        for merge in equals {
            self.is_half[merge.left as usize] = true;
            self.is_half[merge.right as usize] = true;
            self.halves[merge.made as usize] = Some((merge.left, merge.right));
            let latest = &mut self.latest_with_right[merge.right as usize];
            self.previous_with_right[merge.made as usize] = *latest;
            *latest = merge.made;
        }
        let [first, .., _] = equals else { return Some(equals.to_vec()) };
        let group = self.scores.groups[first.made as usize];
        let place = |made: u32| equals.binary_search_by_key(&made, |merge| merge.made).ok();
        let (mut later, mut waits_for) = (vec![Vec::new(); equals.len()], vec![0usize; equals.len()]);
        for (number, merge) in equals.iter().enumerate() {
            let mut taker = self.latest_with_right[merge.left as usize];
            while taker != NONE {
                let mut within = vec![taker];
                let mut is_first = true;
                while let Some(symbol) = within.pop() {
                    self.steps = self.steps.checked_sub(1)?;
                    if self.scores.groups[symbol as usize] == group && symbol != merge.made {
                        let earlier = place(symbol)?;
                        later[earlier].push(number);
                        waits_for[number] += 1;
                    }
                    let Some((left, right)) = self.halves[symbol as usize] else { continue };
                    within.push(left);
                    if !is_first {
                        within.push(right); // of `taker` itself, it is what `merge` has as its left half
                    }
                    is_first = false;
                }
                taker = self.previous_with_right[taker as usize];
            }
        }
        let mut free: Vec<usize> = (0..equals.len()).filter(|number| waits_for[*number] == 0).collect();
        let mut at = 0;
        while let Some(&number) = free.get(at) {
            at += 1;
            for &next in &later[number] {
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    free.push(next);
                }
            }
        }
        (free.len() == equals.len()).then(|| free.into_iter().map(|number| equals[number]).collect())
    }
}
