//! Learning merges: count the distinct pieces of a corpus, then merge the most frequent pair again and again.

mod count;
mod learn;
mod pairs;
mod rules;
mod symbols;
mod words;

pub use count::WordCounter;
pub use learn::{Limits, Ties, learn_merges};
pub use words::{Words, WordsView};
