//! Words that may be larger than a message of the control connection, in pieces: a log since the job's beginning may be.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use talisman_base::frame::{FrameError, pack, unpack};

/// Bytes of a piece: each takes up to two in a message of the control connection.
const PIECE: usize = 4 << 20;
/// Bytes of a word at most.
pub const WORD_MAX: usize = 1 << 30;

/// A piece of a word. The pieces of one come one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordPiece {
    /// Nothing of the word came before it. What is left of a word of which the rest went to a launcher that is lost means nothing.
    pub is_first: bool,
    /// Nothing of the word follows.
    pub is_last: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A word as it goes.
///
/// # Errors
/// It cannot be written, or is larger than [`WORD_MAX`].
pub fn pieces_of<W: Serialize>(word: &W) -> Result<Vec<WordPiece>, FrameError> {
    let bytes = pack(word)?;
    if bytes.len() > WORD_MAX {
        return Err(FrameError::TooLong { bytes: bytes.len() });
    }
    let count = bytes.len().div_ceil(PIECE);
    let piece = |(nth, bytes): (usize, &[u8])| WordPiece {
        is_first: nth == 0,
        is_last: nth + 1 == count,
        bytes: bytes.to_vec(),
    };
    Ok(bytes.chunks(PIECE).enumerate().map(piece).collect())
}

/// Puts words of one sender together.
#[derive(Debug, Default)]
pub struct Joined(Option<Vec<u8>>);

impl Joined {
    /// A piece has come: the word, if it was its last. The rest of a word that was begun elsewhere is dropped.
    ///
    /// # Errors
    /// The bytes are no word, or too many.
    pub fn push<W: DeserializeOwned>(&mut self, piece: WordPiece) -> Result<Option<W>, FrameError> {
        if piece.is_first {
            self.0 = Some(Vec::new());
        }
        let Some(word) = &mut self.0 else { return Ok(None) };
        let bytes = word.len() + piece.bytes.len();
        if bytes > WORD_MAX {
            return Err(FrameError::TooLong { bytes });
        }
        word.extend(piece.bytes);
        match piece.is_last {
            true => self.0.take().map(|word| unpack(&word)).transpose(),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_any_size_comes_as_it_was_said() {
        for size in [0, 1, PIECE, 3 * PIECE + 5] {
            let word = "x".repeat(size);
            let mut pieces = pieces_of(&word).unwrap();
            let last = pieces.pop().unwrap();
            let mut joined = Joined::default();
            for piece in pieces {
                assert_eq!(joined.push::<String>(piece).unwrap(), None);
            }
            assert_eq!(joined.push::<String>(last).unwrap(), Some(word), "{size} bytes");
        }
    }

    #[test]
    fn what_is_no_word_is_refused() {
        let garbage = WordPiece { is_first: true, is_last: true, bytes: vec![0xc1; 3] };
        assert!(Joined::default().push::<String>(garbage).is_err());
    }

    /// A launcher may be lost amid a word, and the next one is told the rest of it, or says another.
    #[test]
    fn what_is_left_of_a_word_means_nothing() {
        let [first, last] = &pieces_of(&"x".repeat(PIECE)).unwrap()[..] else { panic!("two pieces") };
        let short = pieces_of(&"whole".to_owned()).unwrap().remove(0);
        let mut joined = Joined::default();
        for piece in [last, first] {
            assert_eq!(joined.push::<String>(piece.clone()).unwrap(), None);
        }
        assert_eq!(joined.push::<String>(short).unwrap(), Some("whole".to_owned()));
        assert_eq!(joined.push::<String>(last.clone()).unwrap(), None);
    }
}
