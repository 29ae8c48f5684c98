//! Many texts at once, with where in them each id comes from: one entry in each array for every id.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyInt, PyList, PyTuple},
};

use super::{
    ragged::{bounds, joined},
    text::Text,
};
use crate::{
    error::EngineError,
    model::{Model, Policy},
    parallel,
};

/// Ids; the first and last-plus-one byte or character of each, one after the other; the number of the piece of each; whether it is an added
/// token that was found, not merged; and per text, where its ids begin.
pub type Arrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<i64>>,
);

/// The ids of some texts, and how many each has.
#[derive(Debug, Default)]
struct Share {
    ids: Vec<u32>,
    spans: Vec<i64>,
    pieces: Vec<u32>,
    added: Vec<bool>,
    lengths: Vec<usize>,
}

/// What is known of every id of some texts.
#[derive(Debug)]
pub struct Spans {
    ids: Vec<u32>,
    spans: Vec<i64>,
    pieces: Vec<u32>,
    added: Vec<bool>,
    bounds: Vec<i64>,
}

/// Encodes texts on up to `threads` threads. `characters`: places count those, not bytes.
pub fn encode(model: &Model, policy: &Policy, texts: &[Text], threads: usize, characters: bool) -> Result<Spans, EngineError> {
    let size = |number: usize| texts[number].as_str().len();
    let shares = parallel::gather(texts.len(), size, threads, |number, share: &mut Share| {
        let (text, before) = (texts[number].as_str(), share.ids.len());
        model.encode_spans(text, policy, !characters, |id, span, piece, is_added| {
            share.ids.push(id);
            share.spans.extend([span.start as i64, span.end as i64]);
            share.pieces.push(piece);
            share.added.push(is_added);
        })?;
        if characters && !text.is_ascii() {
            to_characters(text.as_bytes(), model.cuts_characters(), &mut share.spans[2 * before..]);
        }
        share.lengths.push(share.ids.len() - before);
        Ok(())
    })?;
    let bounds = bounds(shares.iter().flat_map(|share| &share.lengths));
    let (mut ids, mut spans, mut pieces, mut added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for share in shares {
        ids.push(share.ids);
        spans.push(share.spans);
        pieces.push(share.pieces);
        added.push(share.added);
    }
    Ok(Spans { ids: joined(ids), spans: joined(spans), pieces: joined(pieces), added: joined(added), bounds })
}

impl Spans {
    /// Five numpy arrays.
    pub fn into_arrays(self, py: Python<'_>) -> Arrays<'_> {
        (
            PyArray1::from_vec(py, self.ids),
            PyArray1::from_vec(py, self.spans),
            PyArray1::from_vec(py, self.pieces),
            PyArray1::from_vec(py, self.added),
            PyArray1::from_vec(py, self.bounds),
        )
    }
}

/// From bytes to characters: those that a span touches, or, without `last_in_part`, but for one that it ends inside.
fn to_characters(text: &[u8], last_in_part: bool, spans: &mut [i64]) {
    let (mut byte, mut characters) = (0, 0);
    // How many characters begin before a byte.
    let mut begun = |until: usize| {
        let begin = |from: usize, to: usize| text[from..to].iter().filter(|byte| **byte & 0xC0 != 0x80).count() as i64;
        // Back a little where spans overlap: counting anew from the start would be quadratic.
        characters += if until < byte { -begin(until, byte) } else { begin(byte, until) };
        byte = until;
        characters
    };
    for span in spans.chunks_exact_mut(2) {
        let [start, end] = [span[0] as usize, span[1] as usize];
        let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        span[0] = begun(start) - i64::from(is_inside(start) && (start < end || !last_in_part));
        span[1] = begun(end) - i64::from(is_inside(end) && !last_in_part);
    }
}

/// Pairs of ints, those of each text in a list of its own. `bounds`: where in the arrays each text's begin.
///
/// To make lists of the arrays and zip them takes four times as long, half of it in the garbage collector. So would one long list: the
/// collector goes through it again and again while it grows.
#[pyfunction]
pub fn pairs<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    stops: PyReadonlyArray1<'py, i64>,
    bounds: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyList>> {
    let (starts, stops) = (starts.as_array(), stops.as_array());
    let mut all = starts.iter().zip(stops);
    let lists = PyList::empty(py);
    for bound in bounds.as_array().windows(2) {
        let list = PyList::empty(py);
        let mut last = (0, PyInt::new(py, 0)); // most begin where the one before ends: one int does for both
        for (&start, &stop) in all.by_ref().take(usize::try_from(bound[1] - bound[0])?) {
            let first = if start == last.0 { last.1 } else { PyInt::new(py, start) };
            last = (stop, PyInt::new(py, stop));
            let pair = PyTuple::new(py, [&first, &last.1])?;
            // SAFETY: `pair` is a tuple that was just made. Of ints only, it is part of no cycle: the collector would find that out too.
            unsafe { ffi::PyObject_GC_UnTrack(pair.as_ptr().cast()) };
            list.append(pair)?;
        }
        lists.append(list)?;
    }
    Ok(lists)
}
