//! Many texts at once, with where in them each id comes from.

use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{
    Borrowed,
    exceptions::PyValueError,
    ffi,
    prelude::*,
    types::{PyInt, PyList, PyString, PyTuple},
};

use super::{
    errors::run,
    ints::SharedInts,
    ragged::{bounds, joined},
    shared::{Shared, list_of},
    text::Text,
};
use crate::{
    error::EngineError,
    model::{Coder, Model, Policy},
    parallel,
    places::{Place, as_stock, to_characters},
};

/// What places count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Characters.
    Characters,
    /// Characters, as stock classes give them to the spaces of a SentencePiece model.
    Stock,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Unit {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyString>()?.to_str()? {
            "bytes" => Ok(Self::Bytes),
            "characters" => Ok(Self::Characters),
            "stock" => Ok(Self::Stock),
            other => Err(PyValueError::new_err(format!("unit is {other:?}"))),
        }
    }
}

/// A list of ids, and one of places.
pub type Lists<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

/// Ids, the first and the last + 1 byte or character of each, the number of the piece of each, and whether it is an added token that was
/// found, not merged; last where each text's ids begin.
type Arrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<i64>>,
);

/// What is known of every id of some texts. `added`: which of them, in order, are added tokens that were found.
#[derive(Debug, Default)]
struct Share {
    ids: Vec<u32>,
    places: Vec<Place>,
    pieces: Vec<u32>,
    added: Vec<u32>,
    lengths: Vec<usize>,
}

/// The same for all texts of a call. `bounds`: where each text's begin.
#[derive(Debug)]
pub struct Found {
    ids: Vec<u32>,
    places: Vec<Place>,
    pieces: Vec<u32>,
    added: Vec<usize>,
    bounds: Vec<i64>,
}

/// Encodes texts on up to `threads` threads.
pub fn encode(model: &Model, policy: &Policy, texts: &[Text], threads: usize, unit: Unit) -> Result<Found, EngineError> {
    let size = |number: usize| texts[number].as_str().len();
    let shares = parallel::gather(
        texts.len(),
        size,
        threads,
        || model.coder(),
        |coder, number, share| encode_one(model, coder, policy, texts[number].as_str(), unit, share),
    )?;
    let bounds = bounds(shares.iter().flat_map(|share| &share.lengths));
    let (mut ids, mut places, mut pieces, mut added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    for share in shares {
        added.extend(share.added.iter().map(|place| before + *place as usize));
        before += share.ids.len();
        ids.push(share.ids);
        places.push(share.places);
        pieces.push(share.pieces);
    }
    Ok(Found { ids: joined(ids), places: joined(places), pieces: joined(pieces), added, bounds })
}

/// A list of the ids of one text, and one of where each comes from: without the arrays that more texts share, half the time.
pub fn lists<'py>(py: Python<'py>, model: &Model, ints: &SharedInts, policy: &Policy, text: &Text, unit: Unit) -> PyResult<Lists<'py>> {
    let text = text.as_str();
    let share = run(py, text.len(), || {
        let mut share = Share::default();
        encode_one(model, &mut model.coder(), policy, text, unit, &mut share)?;
        Ok(share)
    })?;
    Ok((ints.list(py, &share.ids)?, list_of_pairs(py, share.places.iter().map(|&(start, stop)| (start.into(), stop.into())))?))
}

fn encode_one(model: &Model, coder: &mut Coder<'_>, policy: &Policy, text: &str, unit: Unit, share: &mut Share) -> Result<(), EngineError> {
    if u32::try_from(text.len()).is_err() {
        return Err(EngineError::Spec(format!("a text of {} bytes; the longest with offsets is {}", text.len(), u32::MAX)));
    }
    let (before, added_before) = (share.ids.len(), share.added.len());
    coder.encode_spans(text, policy, unit == Unit::Bytes, |id, span, piece, is_added| {
        if is_added {
            share.added.push((share.ids.len() - before) as u32);
        }
        share.ids.push(id);
        share.places.push((span.start as u32, span.end as u32));
        share.pieces.push(piece);
    })?;
    let places = &mut share.places[before..];
    if unit != Unit::Bytes && !text.is_ascii() {
        to_characters(text.as_bytes(), model.cuts_characters(), places);
    }
    if let Some(rules) = model.space_rules().filter(|_| unit == Unit::Stock) {
        as_stock(text, rules, places, &share.added[added_before..]);
    }
    share.added[added_before..].iter_mut().for_each(|place| *place += before as u32);
    share.lengths.push(share.ids.len() - before);
    Ok(())
}

/// What was found; lists and arrays are made when asked for.
#[pyclass(frozen, module = "hf_bpe.engine.native")]
pub struct Places {
    ints: Arc<SharedInts>,
    found: Found,
}

#[pymethods]
impl Places {
    /// The ids of each text.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lists(py, |part| self.ints.list(py, &self.found.ids[part]))
    }

    /// First and last + 1 byte or character of each id, by text.
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lists(py, |part| list_of_pairs(py, self.found.places[part].iter().map(|&(start, stop)| (start.into(), stop.into()))))
    }

    /// The number of the piece of each id, by text.
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.lists(py, |part| PyList::new(py, &self.found.pieces[part]))
    }

    /// Where each text's ids begin, and where the last one's end.
    fn bounds(&self) -> Vec<i64> {
        self.found.bounds.clone()
    }

    /// Six numpy arrays.
    fn arrays<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        let Found { ids, places, pieces, added, bounds } = &self.found;
        let mut is_added = vec![false; ids.len()];
        added.iter().for_each(|place| is_added[*place] = true);
        (
            PyArray1::from_slice(py, ids),
            PyArray1::from_iter(py, places.iter().map(|(start, _)| i64::from(*start))),
            PyArray1::from_iter(py, places.iter().map(|(_, stop)| i64::from(*stop))),
            PyArray1::from_slice(py, pieces),
            PyArray1::from_vec(py, is_added),
            PyArray1::from_slice(py, bounds),
        )
    }
}

impl Places {
    /// `ints`: of the engine that found it.
    pub fn new(ints: Arc<SharedInts>, found: Found) -> Self {
        Self { ints, found }
    }

    fn lists<'py>(
        &self,
        py: Python<'py>,
        list: impl Fn(std::ops::Range<usize>) -> PyResult<Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let parts = self.found.bounds.windows(2).map(|bound| Ok(list(bound[0] as usize..bound[1] as usize)?.into_ptr()));
        list_of(py, parts)
    }
}

/// Pairs of ints, those of each text in a list of its own. `bounds`: where in the arrays each text's begin.
///
/// To make lists of the arrays and zip them takes ten times as long, half of it in the garbage collector. So would one long list: the
/// collector goes through it again and again while it grows.
#[pyfunction]
pub fn pairs<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    stops: PyReadonlyArray1<'py, i64>,
    bounds: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyList>> {
    let (starts, stops) = (starts.as_slice()?, stops.as_slice()?);
    let parts = bounds.as_slice()?.windows(2).map(|bound| {
        let part = usize::try_from(bound[0])?..usize::try_from(bound[1])?;
        let pairs = starts[part.clone()].iter().copied().zip(stops[part].iter().copied());
        Ok(list_of_pairs(py, pairs)?.into_ptr())
    });
    list_of(py, parts)
}

/// Places that begin before this and are shorter than that get a tuple that all lists share: it takes a third of the time of making one,
/// and none of the memory. All of them come to 9 MiB.
const SHARED_STARTS: usize = 1 << 13;
const SHARED_LENGTHS: usize = 1 << 4;

static PAIRS: OnceLock<Shared> = OnceLock::new();

fn list_of_pairs<'py>(py: Python<'py>, pairs: impl ExactSizeIterator<Item = (i64, i64)>) -> PyResult<Bound<'py, PyList>> {
    let shared = PAIRS.get_or_init(|| Shared::new(SHARED_STARTS * SHARED_LENGTHS));
    let mut last = (0, PyInt::new(py, 0)); // most begin where the one before ends: one int does for both
    let objects = pairs.map(|(start, stop)| {
        let (begin, length) = (usize::try_from(start)?, usize::try_from(stop.saturating_sub(start)).unwrap_or(usize::MAX));
        let number = if length < SHARED_LENGTHS { begin.saturating_mul(SHARED_LENGTHS) + length } else { usize::MAX };
        shared.get(py, number, || {
            let first = if start == last.0 { last.1.clone() } else { PyInt::new(py, start) };
            last = (stop, PyInt::new(py, stop));
            let pair = PyTuple::new(py, [&first, &last.1])?;
            // SAFETY: `pair` is a tuple that was just made. Of ints only, it is part of no cycle: the collector would find that out too.
            unsafe { ffi::PyObject_GC_UnTrack(pair.as_ptr().cast()) };
            Ok(pair.into_any())
        })
    });
    list_of(py, objects)
}
