//! Sharing work out between threads that live for one call. A pool kept alive would not survive a fork; starting a thread
//! costs some 20 microseconds.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread::Builder,
};

use crate::error::EngineError;

/// What `work` gives for each number below `items`, in order, on up to `threads` threads.
pub fn map<T: Default + Send>(
    items: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, EngineError> + Sync,
) -> Result<Vec<T>, EngineError> {
    let mut shares: Vec<Vec<(usize, T)>> = std::iter::repeat_with(Vec::new).take(threads.clamp(1, items.max(1))).collect();
    share_out(items, &mut shares, |done, number| {
        done.push((number, work(number)?));
        Ok(())
    })?;
    let mut all: Vec<T> = std::iter::repeat_with(T::default).take(items).collect();
    for (number, result) in shares.into_iter().flatten() {
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
pub fn gather<S: Default + Send>(
    texts: usize,
    size: impl Fn(usize) -> usize,
    threads: usize,
    work: impl Fn(usize, &mut S) -> Result<(), EngineError> + Sync,
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
    let of = |mut numbers: Range<usize>| {
        let mut share = S::default();
        numbers.try_for_each(|number| work(number, &mut share))?;
        Ok(share)
    };
    if threads.min(shares) <= 1 {
        return Ok(vec![of(0..texts)?]);
    }
    map(shares, threads, |share| of(starts[share]..starts[share + 1]))
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
