//! What shows who wrote a file: a key that only its users know.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::{DiskError, Doing};

/// Bytes of what shows it.
pub const TAG: usize = 32;
/// A key of fewer bytes could be guessed.
const LEAST: usize = 16;
/// A larger file is taken for another one.
const MOST: u64 = 4096;
/// What the key is used for, so that nothing else made with it is taken for this.
const USE: &[u8] = b"talisman checkpoint file";

/// Where the key of a job's files is, on each of its hosts; without one, the owners of files count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFile(pub Option<PathBuf>);

/// The key. It is not shown.
#[derive(Clone)]
pub struct Key(Arc<[u8]>);

impl KeyFile {
    /// What is in it.
    ///
    /// # Errors
    /// It is not there, or no key, or others can read it.
    pub fn read(&self) -> Result<Option<Key>, DiskError> {
        self.0.as_deref().map(Key::read).transpose()
    }
}

impl Key {
    fn read(path: &Path) -> Result<Key, DiskError> {
        let wrong = |why: String| {
            let file = format!("the key {} (--ckpt-key)", path.display());
            DiskError::System { doing: Doing::Read, file, why }
        };
        let system = |error: std::io::Error| wrong(error.to_string());
        let file = File::open(path).map_err(system)?;
        let found = file.metadata().map_err(system)?;
        let is_own = found.uid() == geteuid().as_raw() || found.uid() == 0;
        if !is_own || found.mode() & 0o077 != 0 {
            return Err(wrong("it has to be yours, and nobody else may read it (chmod 600)".into()));
        }
        let mut bytes = Vec::new();
        file.take(MOST + 1).read_to_end(&mut bytes).map_err(system)?;
        if bytes.len() < LEAST || bytes.len() as u64 > MOST {
            let make = "make one (head -c 32 /dev/urandom > FILE)";
            return Err(wrong(format!(
                "a key has {LEAST} to {MOST} bytes, and this {}; {make}",
                bytes.len()
            )));
        }
        Ok(Key(bytes.into()))
    }

    /// Shows that who has the key has written these bytes under this name.
    pub fn tag<'a>(&self, name: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; TAG] {
        self.mac(name, parts).finalize().into_bytes().into()
    }

    /// Whether that is shown. How long this takes tells nothing.
    pub fn verify(&self, name: &str, bytes: &[u8], tag: &[u8; TAG]) -> bool {
        self.mac(name, [bytes]).verify_slice(tag).is_ok()
    }

    fn mac<'a>(&self, name: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(USE);
        mac.update(&(name.len() as u64).to_le_bytes());
        mac.update(name.as_bytes());
        parts.into_iter().for_each(|part| mac.update(part));
        mac
    }

    #[cfg(test)]
    pub fn of(bytes: &[u8]) -> Key {
        Key(bytes.into())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_long_enough_and_for_nobody_else() {
        let path = std::env::temp_dir().join(format!("talisman-key-{}", std::process::id()));
        let read = |bytes: &[u8], mode| {
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            KeyFile(Some(path.clone())).read().map(|key| key.is_some()).map_err(|error| error.to_string())
        };
        assert_eq!(read(&[7; 32], 0o600), Ok(true));
        assert!(read(&[7; 32], 0o640).unwrap_err().contains("chmod 600"));
        assert!(read(&[7; 8], 0o600).unwrap_err().contains("16 to 4096 bytes"));
        assert!(read(&[7; 5000], 0o600).unwrap_err().contains("16 to 4096 bytes"));
        fs::remove_file(&path).unwrap();
        assert!(KeyFile(Some(path)).read().is_err());
        assert!(KeyFile::default().read().unwrap().is_none());
    }

    #[test]
    fn it_covers_the_name_and_every_byte() {
        let key = Key::of(&[1; 32]);
        let tag = key.tag("a", [&b"one"[..], b"two"]);
        assert!(key.verify("a", b"onetwo", &tag));
        assert!(!key.verify("b", b"onetwo", &tag) && !key.verify("a", b"onetwO", &tag));
        assert!(!Key::of(&[2; 32]).verify("a", b"onetwo", &tag));
    }
}
