//! Telling the processor which memory will be wanted.

/// Asks for `items[place]` to be brought near; does nothing where there is no such item, or no such instruction.
#[inline]
pub fn prefetch<T>(items: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and prefetching reads nothing that the program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, place);
}
