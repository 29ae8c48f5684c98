//! Learning merges: count the distinct pieces of a corpus, then merge the most frequent pair again and again.

mod count;
mod learn;
mod packed;
mod pairs;
mod rules;
mod sorted;
mod symbols;
mod words;

pub use count::WordCounter;
pub use learn::{Limits, Ties, learn_merges};
pub use sorted::{Unsorted, ascend, merge};
pub use words::{Words, WordsView};
