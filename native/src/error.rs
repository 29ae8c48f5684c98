//! What can go wrong inside the engine.

use thiserror::Error;

/// One variant per way things go wrong; `python` maps each to the exception of the same meaning.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// The split pattern does not compile.
    #[error("split pattern {pattern:?} does not compile: {reason}")]
    Pattern {
        /// The pattern as it reached the engine.
        pattern: String,
        /// What the regular-expression compiler says.
        reason: String,
    },
    /// The split pattern took too many steps.
    #[error("the split pattern gave up at byte {at} of the text: {reason}; simplify its nested repetitions or use a published pattern")]
    PatternLimit {
        /// Where in the text, in bytes.
        at: usize,
        /// What the regular-expression engine says.
        reason: String,
    },
    /// Text holds a special token the caller forbade; the payload is its spelling.
    #[error("{0}")]
    DisallowedSpecial(String),
    /// An id that the vocabulary does not hold.
    #[error("id {0} is not in the vocabulary")]
    UnknownId(String),
    /// The description given to the engine contradicts itself.
    #[error("{0}")]
    Spec(String),
    /// More merges than the tables can number.
    #[error("the native engine holds at most {limit} merges; use engine=\"reference\"")]
    TooManyMerges {
        /// Most merges.
        limit: usize,
    },
    /// More text than the trainer's 32-bit positions can address.
    #[error("the distinct pieces of the corpus hold more than {limit} bytes; train on a sample, or split text with a pattern")]
    TooManySymbols {
        /// The largest number of symbols.
        limit: usize,
    },
    /// A pair occurs more often than 63 bits can count.
    #[error("the pair of tokens {} and {} occurs more than 2^63 times; lower the weights of the words", pair.0, pair.1)]
    TooFrequent {
        /// The pair.
        pair: (u32, u32),
    },
    /// A count that 63 bits do not hold.
    #[error("the word {0:?} is counted more than 2^63 - 1 times; lower the weights")]
    TooOften(String),
    /// A thread could not be started, or died.
    #[error("a thread failed: {0}; ask for fewer with num_threads")]
    Thread(String),
    /// Text given as bytes that are not UTF-8.
    #[error("text {text} is not UTF-8: see byte {at} of the data")]
    NotUtf8 {
        /// Which of the texts.
        text: usize,
        /// Where in the data, in bytes.
        at: usize,
    },
    /// The system has no memory to give.
    #[error("no memory for the cache of pieces: {0}")]
    Memory(String),
    /// The caller's progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}
