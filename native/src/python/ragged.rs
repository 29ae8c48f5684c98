//! Many texts at once: ids one after the other in one array, and where each text's begin.

use numpy::{Element, PyArray1};
use pyo3::prelude::*;

use crate::{
    error::EngineError,
    model::{Model, Policy},
    parallel,
};

/// An id in as many bytes as the caller wants.
pub trait Id: Element + Copy + Default + Send + Sync {
    /// Cuts off what does not fit: only asked for where every id of the vocabulary does.
    fn cut(id: u32) -> Self;
}

impl Id for u32 {
    #[inline]
    fn cut(id: u32) -> Self {
        id
    }
}

impl Id for u16 {
    #[inline]
    fn cut(id: u32) -> Self {
        id as Self
    }
}

/// Texts that one thread takes at a time come to about this many bytes.
const SHARE: usize = 1 << 18;

/// The ids of some texts, and how many each has.
#[derive(Debug, Default)]
struct Share<I> {
    ids: Vec<I>,
    lengths: Vec<usize>,
}

/// Encodes texts on up to `threads` threads. `text(n)` is the n-th of `texts`, `size(n)` its bytes.
pub fn encode<'t, I: Id>(
    model: &Model,
    policy: &Policy,
    texts: usize,
    text: impl Fn(usize) -> Result<&'t str, EngineError> + Sync,
    size: impl Fn(usize) -> usize,
    threads: usize,
) -> Result<Ragged<I>, EngineError> {
    let mut starts = vec![0];
    let mut gathered = 0;
    for number in 0..texts {
        gathered += size(number);
        if gathered >= SHARE {
            starts.push(number + 1);
            gathered = 0;
        }
    }
    if starts.last() != Some(&texts) {
        starts.push(texts);
    }
    let shares = starts.len() - 1;
    let work = |share: usize, into: &mut Share<I>| {
        for number in starts[share]..starts[share + 1] {
            let before = into.ids.len();
            model.encode(text(number)?, policy, &mut |ids| into.ids.extend(ids.iter().map(|id| I::cut(*id))))?;
            into.lengths.push(into.ids.len() - before);
        }
        Ok(())
    };
    if threads.min(shares) <= 1 {
        // One array from the beginning: nothing to put together.
        let mut all = Share::default();
        (0..shares).try_for_each(|share| work(share, &mut all))?;
        return Ok(Ragged::of(vec![all]));
    }
    let each = |number: usize| {
        let mut share = Share::default();
        work(number, &mut share)?;
        Ok(share)
    };
    Ok(Ragged::of(parallel::map(shares, threads, each)?))
}

/// Ids of several texts: text n has `ids[offsets[n]..offsets[n + 1]]`.
#[derive(Debug)]
pub struct Ragged<I> {
    ids: Vec<I>,
    offsets: Vec<i64>,
}

impl<I: Id> Ragged<I> {
    fn of(mut shares: Vec<Share<I>>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for length in shares.iter().flat_map(|share| &share.lengths) {
            end += *length as i64;
            offsets.push(end);
        }
        let ids = match shares.as_mut_slice() {
            [only] => std::mem::take(&mut only.ids),
            _ => shares.iter().map(|share| share.ids.as_slice()).collect::<Vec<_>>().concat(),
        };
        Self { ids, offsets }
    }

    /// Two numpy arrays.
    pub fn into_arrays(self, py: Python<'_>) -> (Bound<'_, PyAny>, Bound<'_, PyArray1<i64>>) {
        (PyArray1::from_vec(py, self.ids).into_any(), PyArray1::from_vec(py, self.offsets))
    }
}
