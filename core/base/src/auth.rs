//! The job's secret: how two nodes prove to each other that they know it.

use std::fmt;
use std::sync::atomic::{Ordering, compiler_fence};

use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Bytes of a secret, a nonce and a proof.
pub const BYTES: usize = 32;

/// What only the nodes of one job know. It is neither shown nor kept longer than needed: overwritten at its end.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret([u8; BYTES]);

/// A number used once, which makes every handshake another one.
pub type Nonce = [u8; BYTES];

/// A proof of knowing a secret: HMAC-SHA256 of what was said.
pub type Proof = [u8; BYTES];

/// The system gives no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers, without which nothing can be kept secret: {0}")]
pub struct NoRandomness(getrandom::Error);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn generate() -> Result<Secret, NoRandomness> {
        nonce().map(Secret)
    }

    /// One that is known, for tests.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Secret {
        Secret(bytes)
    }

    /// A proof by the one whose part in the conversation is `role`, so that a proof cannot be sent back as one's own.
    pub fn prove(&self, role: &str, said: &[u8]) -> Proof {
        self.mac(role, said).finalize().into_bytes().into()
    }

    /// Whether `proof` is that proof. How long this takes tells nothing.
    pub fn verify(&self, role: &str, said: &[u8], proof: &Proof) -> bool {
        self.mac(role, said).verify_slice(proof).is_ok()
    }

    fn mac(&self, role: &str, said: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.chain_update([role.len() as u8]).chain_update(role).chain_update(said)
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        for byte in &mut self.0 {
            // SAFETY: a byte of our own. Volatile, since it is never read again and would be left out.
            unsafe { std::ptr::write_volatile(byte, 0) };
        }
        compiler_fence(Ordering::SeqCst);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A number that nobody can foresee.
///
/// # Errors
/// The system gives no random numbers.
pub fn nonce() -> Result<Nonce, NoRandomness> {
    let mut nonce = [0; BYTES];
    getrandom::fill(&mut nonce).map_err(NoRandomness)?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_role_and_words_prove_it() {
        let secret = Secret::generate().unwrap();
        let proof = secret.prove("a", b"said");
        assert!(secret.verify("a", b"said", &proof));
        assert!(!secret.verify("b", b"said", &proof));
        assert!(!secret.verify("a", b"sait", &proof));
        assert!(!secret.verify("as", b"aid", &proof));
        assert!(!Secret::generate().unwrap().verify("a", b"said", &proof));
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::from_bytes([65; BYTES])), "Secret");
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(nonce().unwrap(), nonce().unwrap());
    }
}
