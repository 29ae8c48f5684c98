//! Sharing work out between threads that live for one call. A pool kept alive would not survive a fork; starting a thread
//! costs some 20 microseconds.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread::Builder,
};

use crate::error::EngineError;

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
