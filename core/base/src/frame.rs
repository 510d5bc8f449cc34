//! Messages of the control connection as bytes: a length, then MessagePack.
//!
//! Pure: bytes in, messages out. What comes from outside is bounded before memory is taken for it.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of one message. The largest there is, a node's report, has a line for each PE and the program's results.
pub const MESSAGE_MAX: usize = 16 << 20;
/// Bytes of the length before each message.
const PREFIX: usize = 4;

/// Why bytes are no message, or a message cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Longer than [`MESSAGE_MAX`].
    #[error("a control message of {bytes} bytes; at most {MESSAGE_MAX} are allowed")]
    TooLong {
        /// What it has, or says to have.
        bytes: usize,
    },
    /// The value cannot be written as MessagePack.
    #[error("a control message cannot be packed: {0}")]
    Unwritable(#[from] rmp_serde::encode::Error),
    /// The bytes are no message of this version.
    #[error("a control message cannot be read: {0}")]
    Unreadable(#[from] rmp_serde::decode::Error),
    /// Bytes after the end of the value.
    #[error("a control message has {bytes} bytes too many")]
    Rest {
        /// How many.
        bytes: usize,
    },
}

/// A message with its length in front.
///
/// # Errors
/// It is longer than [`MESSAGE_MAX`].
pub fn encode<M: Serialize>(message: &M) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; PREFIX];
    rmp_serde::encode::write(&mut frame, message)?;
    let bytes = frame.len() - PREFIX;
    if bytes > MESSAGE_MAX {
        return Err(FrameError::TooLong { bytes });
    }
    frame[..PREFIX].copy_from_slice(&(bytes as u32).to_le_bytes());
    Ok(frame)
}

/// A value of any size as MessagePack: for what goes in several messages.
///
/// # Errors
/// It cannot be written so.
pub fn pack<M: Serialize>(value: &M) -> Result<Vec<u8>, FrameError> {
    Ok(rmp_serde::to_vec(value)?)
}

/// What [`pack`] has written.
///
/// # Errors
/// The bytes are no such value, or have something after it.
pub fn unpack<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, FrameError> {
    decode(bytes)
}

/// Puts messages together from bytes as they arrive, in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
}

impl Decoder {
    /// Takes note of bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if it is there.
    ///
    /// # Errors
    /// The bytes are no message. The connection has to be given up then.
    #[expect(clippy::should_implement_trait, reason = "each message may be of another type")]
    pub fn next<M: DeserializeOwned>(&mut self) -> Result<Option<M>, FrameError> {
        let Some(bytes) = self.length()? else { return Ok(None) };
        let end = PREFIX + bytes;
        if self.bytes.len() < end {
            return Ok(None);
        }
        let message = decode(&self.bytes[PREFIX..end])?;
        self.bytes.drain(..end);
        Ok(Some(message))
    }

    fn length(&self) -> Result<Option<usize>, FrameError> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        let bytes = u32::from_le_bytes(*prefix) as usize;
        if bytes > MESSAGE_MAX { Err(FrameError::TooLong { bytes }) } else { Ok(Some(bytes)) }
    }
}

fn decode<M: DeserializeOwned>(mut bytes: &[u8]) -> Result<M, FrameError> {
    let message = rmp_serde::decode::from_read(&mut bytes)?;
    if bytes.is_empty() { Ok(message) } else { Err(FrameError::Rest { bytes: bytes.len() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(bytes: &[u8]) -> Decoder {
        let mut decoder = Decoder::default();
        decoder.push(bytes);
        decoder
    }

    #[test]
    fn messages_arrive_whole_whatever_the_pieces() {
        let bytes = [encode(&"first").unwrap(), encode(&"").unwrap(), encode(&"third").unwrap()].concat();
        for size in 1..=bytes.len() {
            let (mut decoder, mut texts) = (Decoder::default(), Vec::<String>::new());
            for piece in bytes.chunks(size) {
                decoder.push(piece);
                while let Some(text) = decoder.next().unwrap() {
                    texts.push(text);
                }
            }
            assert_eq!(texts, ["first", "", "third"], "pieces of {size}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_its_bytes_come() {
        let bytes = (MESSAGE_MAX as u32 + 1).to_le_bytes();
        assert!(matches!(decoder(&bytes).next::<String>(), Err(FrameError::TooLong { .. })));
        assert!(matches!(encode(&"x".repeat(MESSAGE_MAX)), Err(FrameError::TooLong { .. })));
    }

    #[test]
    fn garbage_and_bytes_too_many_are_refused() {
        let framed = |body: &[u8]| [&(body.len() as u32).to_le_bytes(), body].concat();
        assert!(matches!(decoder(&framed(&[0xc1])).next::<u8>(), Err(FrameError::Unreadable(_))));
        assert!(matches!(decoder(&framed(&[])).next::<u8>(), Err(FrameError::Unreadable(_))));
        assert!(matches!(decoder(&framed(&[1, 2])).next::<u8>(), Err(FrameError::Rest { bytes: 1 })));
    }
}
