//! How urgent a message is.

use std::cmp::Ordering;
use std::fmt;

/// The priority of a message, as in Charm++: the smaller, the more urgent; 0 unless told otherwise.
///
/// A priority is a vector of bits, read as the binary fraction 0.b₁b₂b₃…, and fractions are compared. An
/// integer `p` stands for the 32 bits of `p` with the sign bit turned, so that integers and vectors share one
/// order: `Priority::int(0)` equals the vector `1`. Zeros at the end do not change the fraction, so vectors that
/// differ only there are equal (Charm++ tells them apart from the next 32-bit word on); they still differ in
/// [`len`](Priority::len), on which [`extend`](Priority::extend) builds.
///
/// Up to 64 bits, a priority owns no memory.
///
/// ```
/// use talisman_sched::priority::Priority;
///
/// let root = Priority::bits([]);
/// let (left, right) = (root.extend(0, 1), root.extend(1, 1));
/// assert!(left < right && right < right.extend(1, 2) && left.extend(3, 2) < right);
/// assert!(Priority::int(-1) < Priority::default() && Priority::default() < Priority::int(1));
/// assert_eq!(Priority::int(0), Priority::bits([true]));
/// ```
#[derive(Clone)]
pub struct Priority(Bits);

/// Bits from the most significant bit of the first word on; those beyond `len` are zero.
#[derive(Clone)]
enum Bits {
    /// At most 64 bits.
    Short { len: u32, word: u64 },
    /// More than 64 bits, in exactly as many words as they need.
    Long { len: u32, words: Box<[u64]> },
}

/// Why parts do not make a [`Priority`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriorityError {
    /// The number of words does not fit the number of bits.
    #[error(
        "a priority of {bits} bits came in {words} words: the sender's data is damaged or of another version"
    )]
    Words {
        /// The number of bits.
        bits: u32,
        /// The number of words.
        words: usize,
    },
    /// Bits behind the last one are not zero.
    #[error("a priority of {bits} bits has ones behind its end: the sender's data is damaged")]
    Tail {
        /// The number of bits.
        bits: u32,
    },
}

impl Priority {
    /// An integer priority: a vector of 32 bits.
    #[inline]
    pub const fn int(priority: i32) -> Priority {
        let word = ((priority as u32 ^ SIGN) as u64) << 32;
        Priority(Bits::Short { len: 32, word })
    }

    /// A bit vector, most significant bit first; the empty one is the most urgent priority there is.
    ///
    /// # Panics
    /// If there are 2³² bits or more.
    pub fn bits(bits: impl IntoIterator<Item = bool>) -> Priority {
        let (mut words, mut len) = (Vec::new(), 0u32);
        for bit in bits {
            if len.is_multiple_of(WORD) {
                words.push(0);
            }
            if bit {
                words[(len / WORD) as usize] |= TOP >> (len % WORD);
            }
            len = len.checked_add(1).expect("a priority has fewer than 2^32 bits");
        }
        Priority(Bits::new(len, &words))
    }

    /// This vector with the `count` low bits of `value` appended, the higher ones first: the priority of the
    /// `value`-th of up to 2^`count` children of a node of a search tree.
    ///
    /// # Panics
    /// If `count` exceeds 64, or the vector would have 2³² bits or more.
    #[must_use = "the vector itself stays as it is"]
    pub fn extend(&self, value: u64, count: u32) -> Priority {
        assert!(count <= WORD, "extend appends at most 64 bits, not {count}");
        if count == 0 {
            return self.clone();
        }
        let old = self.len();
        let len = old.checked_add(count).expect("a priority has fewer than 2^32 bits");
        let top_aligned = value << (WORD - count);
        if let (Bits::Short { word, .. }, true) = (&self.0, len <= WORD) {
            return Priority(Bits::Short { len, word: word | top_aligned >> old });
        }
        let mut words = self.to_parts().1.to_vec();
        words.resize(words_for(len), 0);
        append(&mut words, old, top_aligned);
        Priority(Bits::new(len, &words))
    }

    /// The number of bits.
    #[expect(clippy::len_without_is_empty, reason = "an empty vector is a priority like any other")]
    pub fn len(&self) -> u32 {
        self.to_parts().0
    }

    /// The integer whose fraction this is, if there is one.
    #[inline]
    pub fn to_int(&self) -> Option<i32> {
        match self.0 {
            Bits::Short { word, .. } if word as u32 == 0 => Some(((word >> 32) as u32 ^ SIGN) as i32),
            Bits::Short { .. } => None,
            Bits::Long { .. } => self.to_int_long(),
        }
    }

    /// The number of bits and the words that hold them, from the most significant bit of the first word on.
    pub fn to_parts(&self) -> (u32, &[u64]) {
        match &self.0 {
            Bits::Short { len: 0, .. } => (0, &[]),
            Bits::Short { len, word } => (*len, std::slice::from_ref(word)),
            Bits::Long { len, words } => (*len, words),
        }
    }

    /// The priority that [`to_parts`](Priority::to_parts) took apart. Accepts any input from outside.
    pub fn from_parts(len: u32, words: &[u64]) -> Result<Priority, PriorityError> {
        if words.len() != words_for(len) {
            return Err(PriorityError::Words { bits: len, words: words.len() });
        }
        let used = len % WORD;
        match words.last() {
            Some(last) if used != 0 && last << used != 0 => Err(PriorityError::Tail { bits: len }),
            _ => Ok(Priority(Bits::new(len, words))),
        }
    }

    #[cold]
    fn to_int_long(&self) -> Option<i32> {
        match *self.significant_words() {
            [] => Some(i32::MIN),
            [word] => Priority(Bits::Short { len: WORD, word }).to_int(),
            _ => None,
        }
    }

    /// The words without zeros at the end: equal if and only if the fractions are.
    fn significant_words(&self) -> &[u64] {
        let words = self.to_parts().1;
        let end = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        &words[..end]
    }
}

impl Bits {
    fn new(len: u32, words: &[u64]) -> Bits {
        match words {
            [] => Bits::Short { len, word: 0 },
            [word] => Bits::Short { len, word: *word },
            _ => Bits::Long { len, words: words.into() },
        }
    }
}

/// Appends to the `old` bits in `words` those of `top_aligned`; there is room, and what follows is zero.
fn append(words: &mut [u64], old: u32, top_aligned: u64) {
    let (index, used) = ((old / WORD) as usize, old % WORD);
    words[index] |= top_aligned >> used;
    if used != 0 && index + 1 < words.len() {
        words[index + 1] = top_aligned << (WORD - used);
    }
}

fn words_for(bits: u32) -> usize {
    bits.div_ceil(WORD) as usize
}

/// Bits per word.
const WORD: u32 = u64::BITS;
/// The first bit of a word.
const TOP: u64 = 1 << 63;
/// The sign bit of an integer priority.
const SIGN: u32 = 1 << 31;

impl Default for Priority {
    fn default() -> Priority {
        Priority::int(0)
    }
}

impl From<i32> for Priority {
    fn from(priority: i32) -> Priority {
        Priority::int(priority)
    }
}

impl Ord for Priority {
    #[inline]
    fn cmp(&self, other: &Priority) -> Ordering {
        match (&self.0, &other.0) {
            (Bits::Short { word: mine, .. }, Bits::Short { word: theirs, .. }) => mine.cmp(theirs),
            _ => self.significant_words().cmp(other.significant_words()),
        }
    }
}

impl PartialOrd for Priority {
    #[inline]
    fn partial_cmp(&self, other: &Priority) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Priority {
    #[inline]
    fn eq(&self, other: &Priority) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Priority {}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, words) = self.to_parts();
        match (len, self.to_int()) {
            (32, Some(int)) => write!(f, "Priority({int})"),
            _ => {
                f.write_str("Priority(0.")?;
                (0..len).try_for_each(|i| {
                    let bit = words[(i / WORD) as usize] & (TOP >> (i % WORD)) != 0;
                    f.write_str(if bit { "1" } else { "0" })
                })?;
                f.write_str(")")
            }
        }
    }
}
