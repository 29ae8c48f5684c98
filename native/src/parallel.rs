//! Sharing work out between threads that live for one call. A pool kept alive would not survive a fork; starting a thread
//! costs some 20 microseconds.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread::Builder,
};

use crate::error::EngineError;

/// What `work` gives for each number below `items`, in order, on up to `threads` threads. `worker` makes what each of them works with.
pub fn map<W: Send, T: Default + Send>(
    items: usize,
    threads: usize,
    worker: impl Fn() -> W,
    work: impl Fn(&mut W, usize) -> Result<T, EngineError> + Sync,
) -> Result<Vec<T>, EngineError> {
    let state = || (worker(), Vec::<(usize, T)>::new());
    let mut states: Vec<_> = std::iter::repeat_with(state).take(threads.clamp(1, items.max(1))).collect();
    share_out(items, &mut states, |(worker, done), number| {
        done.push((number, work(worker, number)?));
        Ok(())
    })?;
    let mut all: Vec<T> = std::iter::repeat_with(T::default).take(items).collect();
    for (number, result) in states.into_iter().flat_map(|(_, done)| done) {
        all[number] = result;
    }
    Ok(all)
}

/// Texts that one thread takes at a time come to about this many bytes.
const SHARE: usize = 1 << 18;

/// What `work` gathers of texts, on up to `threads` threads: one value for the first few, one for the next, and so on. `size(n)` is the
/// n-th text's bytes.
///
/// One thread gathers everything in one value, so that there is nothing to put together.
pub fn gather<W: Send, S: Default + Send>(
    texts: usize,
    size: impl Fn(usize) -> usize,
    threads: usize,
    worker: impl Fn() -> W,
    work: impl Fn(&mut W, usize, &mut S) -> Result<(), EngineError> + Sync,
) -> Result<Vec<S>, EngineError> {
    let mut starts = vec![0];
    let mut bytes = 0;
    for number in 0..texts {
        bytes += size(number);
        if bytes >= SHARE {
            starts.push(number + 1);
            bytes = 0;
        }
    }
    if starts.last() != Some(&texts) {
        starts.push(texts);
    }
    let shares = starts.len() - 1;
    let of = |worker: &mut W, mut numbers: Range<usize>| {
        let mut share = S::default();
        numbers.try_for_each(|number| work(worker, number, &mut share))?;
        Ok(share)
    };
    if threads.min(shares) <= 1 {
        return Ok(vec![of(&mut worker(), 0..texts)?]);
    }
    map(shares, threads, worker, |worker, share| of(worker, starts[share]..starts[share + 1]))
}

/// Calls `work` once for each number below `items`, on one thread per state. Whoever is free takes the next number.
///
/// The first error ends the call; what the states hold by then is for the caller to drop.
pub fn share_out<S: Send>(
    items: usize,
    states: &mut [S],
    work: impl Fn(&mut S, usize) -> Result<(), EngineError> + Sync,
) -> Result<(), EngineError> {
    let next = AtomicUsize::new(0);
    let run = |state: &mut S| {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < items => work(state, number)?,
                _ => return Ok(()),
            }
        }
    };
    if let [only] = states {
        return run(only);
    }
    std::thread::scope(|scope| {
        let mut running = Vec::with_capacity(states.len());
        for state in states {
            let started = Builder::new().spawn_scoped(scope, || run(state));
            running.push(started.map_err(|error| EngineError::Thread(error.to_string()))?);
        }
        let stopped = || Err(EngineError::Thread("it stopped unexpectedly".to_owned()));
        running.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| stopped()))
    })
}
