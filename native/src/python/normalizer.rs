//! Normalizers, as Python describes them.

use crate::{
    error::EngineError,
    normalize::{Form, Normalizer, Step},
    split::Splitter,
};

/// The name of a step, and up to two texts: what is put before a text, or the pattern and what replaces it.
pub type StepFields = (String, String, String);

pub fn make(steps: Vec<StepFields>, prefix_space: bool) -> Result<Normalizer, EngineError> {
    let step = |(name, first, second): StepFields| {
        Ok(match name.as_str() {
            "NFC" => Step::Form(Form::Nfc),
            "NFD" => Step::Form(Form::Nfd),
            "NFKC" => Step::Form(Form::Nfkc),
            "NFKD" => Step::Form(Form::Nfkd),
            "Lowercase" => Step::Lowercase,
            "StripAccents" => Step::StripAccents,
            "Strip" => Step::Strip { left: true, right: true },
            "StripLeft" => Step::Strip { left: true, right: false },
            "StripRight" => Step::Strip { left: false, right: true },
            "Prepend" => Step::Prepend(first),
            "Replace" => Step::Replace { matches: Box::new(Splitter::new(Some(&first), None, false)?), content: second },
            _ => return Err(EngineError::Spec(format!("no step of a normalizer is named {name:?}"))),
        })
    };
    Ok(Normalizer::new(steps.into_iter().map(step).collect::<Result<_, _>>()?, prefix_space))
}
