//! Functions that look at files by their paths, or change folders: others run before. Ranks wait for each other's files
//! so, and a rank that begins by removing files has to do it before another one has come far.

use super::pause::give_way;
use super::{current, functions_after_giving_way};

functions_after_giving_way! {
    "access" => access => keep,
    "faccessat" => faccessat => keep,
    "euidaccess" => euidaccess => keep,
    "stat" => stat => keep,
    "stat64" => stat64 => keep,
    "lstat" => lstat => keep,
    "lstat64" => lstat64 => keep,
    "fstatat" => fstatat => keep,
    "fstatat64" => fstatat64 => keep,
    "__xstat" => xstat => keep,
    "__xstat64" => xstat64 => keep,
    "__lxstat" => lxstat => keep,
    "__lxstat64" => lxstat64 => keep,
    "__fxstatat" => fxstatat => keep,
    "__fxstatat64" => fxstatat64 => keep,
    "statx" => statx => keep,
    "unlink" => unlink => keep_with_doubt,
    "unlinkat" => unlinkat => keep_with_doubt,
    "remove" => remove => keep_with_doubt,
    "rename" => rename => keep_with_doubt,
    "renameat" => renameat => keep_with_doubt,
    "renameat2" => renameat2 => keep_with_doubt,
    "link" => link => keep,
    "linkat" => linkat => keep,
    "symlink" => symlink => keep,
    "symlinkat" => symlinkat => keep,
    "mkdir" => mkdir => keep,
    "mkdirat" => mkdirat => keep,
    "rmdir" => rmdir => keep,
    "mkdtemp" => mkdtemp => keep,
    "mkfifo" => mkfifo => keep,
    "truncate" => truncate => keep,
    "truncate64" => truncate64 => keep,
    "chmod" => chmod => keep,
    "utime" => utime => keep,
    "utimes" => utimes => keep,
    "utimensat" => utimensat => keep,
}

/// For who deletes a file in the rank's place: others run before, as where the program does, and the rank looks whether
/// files that it has open have their names.
pub fn expect_deletion() {
    // SAFETY: takes nothing.
    unsafe { give_way() };
    keep_with_doubt(0);
}

/// The result, as it is.
extern "C" fn keep(result: usize) -> usize {
    result
}

/// The same where a file that the rank has open may have lost its name, without which it cannot be opened again.
extern "C" fn keep_with_doubt(result: usize) -> usize {
    // SAFETY: the running rank's state.
    unsafe { (*current()).descriptors.note_change() };
    result
}
