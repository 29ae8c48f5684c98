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
    let shares = parallel::gather(
        texts,
        size,
        threads,
        || model.coder(),
        |coder, number, share: &mut Share<I>| {
            let before = share.ids.len();
            coder.encode(text(number)?, policy, &mut |ids| share.ids.extend(ids.iter().map(|id| I::cut(*id))))?;
            share.lengths.push(share.ids.len() - before);
            Ok(())
        },
    )?;
    let offsets = bounds(shares.iter().flat_map(|share| &share.lengths));
    Ok(Ragged { ids: joined(shares.into_iter().map(|share| share.ids).collect()), offsets })
}

/// Where each begins that is as long as these, one after the other, and where the last ends.
pub fn bounds<'l>(lengths: impl Iterator<Item = &'l usize>) -> Vec<i64> {
    let mut end = 0;
    std::iter::once(0)
        .chain(lengths.map(|length| {
            end += *length as i64;
            end
        }))
        .collect()
}

/// All of them in one; nothing is copied where there is only one.
pub fn joined<T: Clone>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    match parts.as_mut_slice() {
        [only] => std::mem::take(only),
        _ => parts.concat(),
    }
}

/// Ids of several texts: text n has `ids[offsets[n]..offsets[n + 1]]`.
#[derive(Debug)]
pub struct Ragged<I> {
    ids: Vec<I>,
    offsets: Vec<i64>,
}

impl<I: Id> Ragged<I> {
    /// Two numpy arrays.
    pub fn into_arrays(self, py: Python<'_>) -> (Bound<'_, PyAny>, Bound<'_, PyArray1<i64>>) {
        (PyArray1::from_vec(py, self.ids).into_any(), PyArray1::from_vec(py, self.offsets))
    }
}
