//! Where normalised text comes from.

/// Where some characters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// All from one byte of the original.
    All(usize),
    /// The first from this one, and each of the others from as far behind it as it stands behind the first.
    Each(usize),
}

impl Origin {
    /// That of what stands so many bytes behind.
    pub fn behind(self, bytes: usize) -> Self {
        match self {
            Self::All(_) => self,
            Self::Each(first) => Self::Each(first + bytes),
        }
    }

    fn first(self) -> usize {
        match self {
            Self::All(origin) | Self::Each(origin) => origin,
        }
    }
}

/// For each character of a text, and for its end, the byte of the original that it comes from. Most texts are copied: one entry says it
/// for a whole run of characters, where a number for each byte took six times as long as encoding the text.
#[derive(Debug, Default)]
pub struct Origins {
    /// Where each run begins, in order, and where it comes from.
    runs: Vec<(usize, Origin)>,
}

impl Origins {
    /// What stands at `at` and behind it, which is no less than in the call before, comes from `origin`.
    pub fn push(&mut self, at: usize, origin: Origin) {
        if self.runs.last().is_none_or(|(start, last)| last.behind(at - start) != origin) {
            self.runs.push((at, origin));
        }
    }

    /// Where the character at a place comes from.
    pub fn of(&self, at: usize) -> usize {
        let behind = self.runs.partition_point(|(start, _)| *start <= at);
        behind.checked_sub(1).map_or(0, |run| {
            let (start, origin) = self.runs[run];
            origin.behind(at - start).first()
        })
    }

    /// Forgets what stands at `at` and behind it; where the first of that came from.
    pub fn cut(&mut self, at: usize) -> usize {
        let origin = self.of(at);
        self.runs.truncate(self.runs.partition_point(|(start, _)| *start < at));
        origin
    }
}
