//! The kind of file system before the name of a file: `ufs:/scratch/name`.
//!
//! MPICH and what is made of it choose how they access a file by that, where they would not find it out themselves. A rank
//! accesses all in one way, so it takes it off. Open MPI takes it for a part of the name.

use std::ffi::CStr;

/// Those that MPICH's library for files knows.
const KINDS: [&[u8]; 11] =
    [b"ufs", b"nfs", b"xfs", b"pvfs2", b"gpfs", b"panfs", b"lustre", b"daos", b"ime", b"quobyte", b"testfs"];

/// The name of a file without a kind before it.
pub fn without_kind(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let colon = bytes.iter().position(|byte| *byte == b':');
    let is_kind = |end: usize| KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(&bytes[..end]));
    let name = colon.filter(|end| is_kind(*end)).map(|end| &bytes[end + 1..]);
    name.and_then(|name| CStr::from_bytes_with_nul(name).ok()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_kind_is_taken_off() {
        for (path, name) in [
            (c"ufs:/tmp/name", c"/tmp/name"),
            (c"NFS:name", c"name"),
            (c"ufs:a:b", c"a:b"),
            (c"ufs:", c""),
            (c"./ufs:name", c"./ufs:name"),
            (c"other:name", c"other:name"),
            (c":name", c":name"),
            (c"ufs", c"ufs"),
            (c"", c""),
        ] {
            assert_eq!(without_kind(path), name, "{path:?}");
        }
    }
}
