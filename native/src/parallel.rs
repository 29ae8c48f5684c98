//! Sharing work out between threads that live for one call. A pool kept alive would not survive a fork; starting a thread
//! costs some 20 microseconds.

use std::{
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
