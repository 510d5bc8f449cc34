//! The file of an MPI program: where it is, and whether ranks can run it at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Finds a program as a shell does, seen from this folder.
///
/// # Errors
/// If there is none.
pub fn find(program: &OsStr, folder: Option<&Path>) -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|error| format!("this folder is not known: {error}"))?;
    let here = folder.map_or(here.clone(), |folder| here.join(folder));
    if !here.is_dir() {
        return Err(format!("there is no folder `{}` to run in", here.display()));
    }
    if program.as_encoded_bytes().contains(&b'/') {
        // Without the dot of `./program`.
        let file: PathBuf = here.join(program).components().collect();
        return if file.exists() {
            Ok(file)
        } else {
            let of = folder.map_or(String::new(), |folder| format!(", seen from {}", folder.display()));
            Err(format!("there is no program `{}`{of}", program.display()))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| here.join(folder).join(program));
    files.find(|file| is_runnable(file)).ok_or_else(|| {
        format!("there is no program `{0}` in PATH; if it is here, write ./{0}", program.display())
    })
}

fn is_runnable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Looks whether a file can be a program of ranks, by its first bytes.
///
/// # Errors
/// If it cannot, with the reason.
pub fn check(file: &Path) -> Result<(), String> {
    let name = file.display();
    if !is_runnable(file) {
        return Err(format!("`{name}` is no program that you may run"));
    }
    let head = head(file).map_err(|error| unreadable(file, &error))?;
    let refused = why_not(&head);
    refused.map_or(Ok(()), |why| Err(format!("`{name}` {why}")))
}

/// How many bytes of a script's first line count (Linux, `BINPRM_BUF_SIZE`).
const LINE: usize = 256;

/// A script may be run by a script: so often at most (Linux, `exec_binprm`).
const SCRIPTS_MAX: usize = 5;

/// Programs that run others in processes of their own, which would be no ranks.
const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "csh", "tcsh", "fish", "busybox", "make"];

/// The program that runs a file, and its arguments: of a script its interpreter, as the system has it. The arguments begin
/// with the program's own name.
///
/// # Errors
/// If ranks cannot run it, with the reason.
pub fn interpreted(file: PathBuf, words: &[OsString]) -> Result<(PathBuf, Vec<OsString>), String> {
    let (mut file, mut words) = (file, words.to_vec());
    for _ in 0..SCRIPTS_MAX {
        check(&file)?;
        let line = first_bytes(&file, LINE).map_err(|error| unreadable(&file, &error))?;
        let Some(line) = line.strip_prefix(b"#!") else { return Ok((file, words)) };
        let (interpreter, argument) = interpreter(line)?;
        let name = interpreter.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if SHELLS.contains(&name) {
            return Err(format!(
                "`{}` is a script of {name}, which starts other programs, and these would be no ranks: give the program \
                 that it starts",
                file.display()
            ));
        }
        let own = interpreter.clone().into_os_string();
        let script = std::mem::replace(&mut file, interpreter).into_os_string();
        let rest = words.split_off(1.min(words.len()));
        words = [own].into_iter().chain(argument).chain([script]).chain(rest).collect();
    }
    Err(format!("`{}` is a script of a script, too often", file.display()))
}

/// What a script names in its first line, without `#!`. `env` finds it in PATH.
fn interpreter(line: &[u8]) -> Result<(PathBuf, Option<OsString>), String> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let (name, argument) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
    let argument = Some(argument.trim()).filter(|argument| !argument.is_empty());
    let is_env = Path::new(name).file_name().is_some_and(|name| name == "env");
    let (name, argument) = match argument.filter(|_| is_env) {
        Some(options) if options.starts_with('-') => {
            return Err(format!("`#!{}` has options of env: give the interpreter", line.trim()));
        }
        Some(program) => (program, None),
        None => (name, argument),
    };
    Ok((find(OsStr::new(name), None)?, argument.map(OsString::from)))
}

/// The header of an executable (System V ABI, ELF header): identification, type and machine.
const HEAD: usize = 20;

fn unreadable(file: &Path, error: &io::Error) -> String {
    format!("`{}` cannot be read: {error}", file.display())
}

fn head(file: &Path) -> io::Result<Vec<u8>> {
    first_bytes(file, HEAD)
}

fn first_bytes(file: &Path, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Its type in the header: it has to be at the addresses that it was linked for.
const EXECUTABLE: u16 = 2;

/// Whether a program that ranks can run is not position-independent: a process can have it once.
pub fn is_fixed(file: &Path) -> bool {
    head(file).is_ok_and(|head| head.get(16..18) == Some(&EXECUTABLE.to_le_bytes()))
}

fn why_not(head: &[u8]) -> Option<String> {
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    const SHARED: u16 = 3;
    const X86_64: u16 = 62;
    if head.starts_with(b"#!") {
        // Its interpreter is looked at.
        return None;
    }
    if head.len() < HEAD || !head.starts_with(b"\x7fELF") {
        return Some("is no executable".into());
    }
    let word = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    match (head[4], head[5], word(16), word(18)) {
        (CLASS_64, LITTLE_ENDIAN, SHARED | EXECUTABLE, X86_64) => None,
        (CLASS_64, LITTLE_ENDIAN, _, X86_64) => Some("is no executable, but another object of x86_64".into()),
        _ => Some("is for another machine: ranks run on x86_64, in 64 bits".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, order: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut head = b"\x7fELF".to_vec();
        head.extend([class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        head.extend([kind.to_le_bytes(), machine.to_le_bytes()].concat());
        head
    }

    #[test]
    fn what_ranks_cannot_run_is_refused_with_the_reason() {
        let refused = |head: &[u8]| why_not(head).expect("it is refused");
        assert_eq!((why_not(&elf(2, 1, 3, 62)), why_not(&elf(2, 1, 2, 62))), (None, None));
        assert!(refused(b"").contains("no executable"));
        assert!(refused(&elf(2, 1, 3, 62)[..19]).contains("no executable"));
        assert!(refused(&elf(2, 1, 1, 62)).contains("another object"));
        for other in [elf(1, 1, 3, 62), elf(2, 1, 3, 183), elf(2, 2, 3, 62), elf(1, 1, 2, 3)] {
            assert!(refused(&other).contains("another machine"));
        }
    }

    #[test]
    fn programs_are_found_as_by_a_shell() {
        assert!(find(OsStr::new("sh"), None).unwrap().is_absolute());
        assert!(find(OsStr::new("no-such-program"), None).unwrap_err().contains("./no-such-program"));
        assert!(find(OsStr::new("./no-such"), None).unwrap_err().contains("no program `./no-such`"));
        let (bin, nowhere) = (Path::new("/bin"), Path::new("/no/such/folder"));
        assert!(find(OsStr::new("./sh"), Some(nowhere)).unwrap_err().contains("no folder `/no/such/folder`"));
        assert!(
            find(OsStr::new("./no"), Some(bin)).unwrap_err().contains("no program `./no`, seen from /bin")
        );
        assert_eq!(find(OsStr::new("./sh"), Some(bin)).unwrap(), Path::new("/bin/sh"));
        assert!(check(bin).unwrap_err().contains("may run"));
        let sh = find(OsStr::new("sh"), None).unwrap();
        assert_eq!(check(&sh), Ok(()));
    }

    #[test]
    fn a_script_names_its_interpreter() {
        let of = |line: &str| interpreter(line.as_bytes());
        let found =
            |line: &str| of(line).map(|(file, argument)| (file.file_name().map(OsStr::to_owned), argument));
        let named =
            |name: &str, argument: Option<&str>| Ok((Some(name.into()), argument.map(OsString::from)));
        assert_eq!(found("/bin/cat\nrest"), named("cat", None));
        assert_eq!(found(" /bin/cat  -n a \nrest"), named("cat", Some("-n a")));
        assert_eq!(found("/usr/bin/env cat\n"), named("cat", None));
        for (line, said) in [
            ("/usr/bin/env -S cat -n\n", "options of env"),
            ("/no/such/interpreter\n", "no program `/no/such/interpreter`"),
            ("\n", "no program"),
        ] {
            assert!(of(line).unwrap_err().contains(said), "{line}");
        }
    }
}
