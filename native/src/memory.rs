//! Memory for large tables that are read at random: on large pages, and called for ahead of use.

use std::{
    io,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

use bytemuck::Pod;
use memmap2::MmapMut;

/// The size of a large page on x86-64 and most arm64.
const LARGE_PAGE: usize = 2 << 20;

/// A slice on pages of its own, all zero at first. A large one asks for large pages: looking 8 MiB up at random on small
/// ones misses the processor's table of pages at every other access, and prefetches that do are waited for.
#[derive(Debug)]
pub struct Pages<T> {
    /// Owns the memory.
    _map: MmapMut,
    first: NonNull<T>,
    length: usize,
    items: PhantomData<[T]>,
}

// SAFETY: it owns its memory as a `Box<[T]>` does, and `T: Pod` is plain numbers.
unsafe impl<T: Pod> Send for Pages<T> {}
// SAFETY: as above; shared access only reads.
unsafe impl<T: Pod> Sync for Pages<T> {}

impl<T: Pod> Pages<T> {
    /// `length` items of zero bits.
    pub fn zeroed(length: usize) -> io::Result<Self> {
        let bytes = length * size_of::<T>();
        let slack = if bytes < LARGE_PAGE { 0 } else { LARGE_PAGE };
        let mut map = MmapMut::map_anon((bytes + slack).max(1))?;
        #[cfg(target_os = "linux")]
        if slack > 0 {
            let _refused_without_harm = map.advise(memmap2::Advice::HugePage); // it must come before the first touch
        }
        let skipped = if slack > 0 { map.as_ptr().align_offset(LARGE_PAGE).min(slack) } else { 0 };
        let first = NonNull::from(&mut map[skipped..]).cast::<T>();
        Ok(Self { _map: map, first, length, items: PhantomData })
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `zeroed` mapped at least this many items from `first` on, which is at the start of a page and so aligned for any number;
        // zero bits are a value of every `Pod`, and the map lives as long as `self`, which alone hands out access to it.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

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
