//! The native engine of hf_bpe: splitting, merging, decoding and training. It knows nothing of files, of Hugging Face or of
//! the network; all that touches Python is in `python`.

pub mod added;
pub mod batch;
pub mod borders;
pub mod cache;
pub mod error;
pub mod jsonl;
mod memory;
pub mod merge;
mod merge_runs;
pub mod model;
pub mod normalize;
pub mod pair_table;
pub mod parallel;
pub mod parts;
pub mod places;
#[cfg(feature = "python")]
mod python;
pub mod recover;
pub mod sentencepiece;
pub mod spellings;
pub mod split;
pub mod tokens;
pub mod train;
pub mod unicode;
pub mod utf8;
pub mod vocabulary;
