//! A folder of the system does what a simulated disk does while nothing goes wrong.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "c.tmp"];

/// A folder for one test, which takes it away.
struct Temporary(PathBuf);

impl Temporary {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("talisman-disk-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Temporary(path)
    }

    fn open(&self) -> Folder {
        Folder::open(&self.0).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Something that is done with a disk.
#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, Vec<u8>),
    BeginSync(&'static str),
    Sync(&'static str),
    Rename(&'static str, &'static str),
    SyncNames,
    Read(&'static str),
    List,
    Remove(&'static str),
    Replace(&'static str, Vec<u8>),
    ReadChecked(&'static str),
    RemoveLeftovers,
}

fn step(rng: &mut Rng) -> Step {
    let (name, other) = (pick(rng, &NAMES), pick(rng, &NAMES));
    match rng.below(11) {
        10 => Step::BeginSync(name),
        0 => Step::Write(name, bytes(rng)),
        1 => Step::Sync(name),
        2 => Step::Rename(name, other),
        3 => Step::SyncNames,
        4 => Step::Read(name),
        5 => Step::List,
        6 => Step::Remove(name),
        7 => Step::Replace(name, bytes(rng)),
        8 => Step::ReadChecked(name),
        _ => Step::RemoveLeftovers,
    }
}

/// What comes of it, in words. Paths are cut off: a folder has another one than a simulated disk.
fn outcome(disk: &mut impl Disk, step: Step) -> String {
    let checked = |result: Result<Vec<u8>, ReadError>| result.map_err(|error| error.to_string());
    let plain = |result: Result<(), DiskError>| result.map_err(|error| error.to_string());
    let read = |result: Result<Vec<u8>, DiskError>| result.map_err(|error| error.to_string());
    match step {
        Step::Write(name, bytes) => format!("{:?}", plain(disk.write(name, &[&bytes, b"", &bytes]))),
        Step::BeginSync(name) => {
            disk.begin_sync(name);
            String::new()
        }
        Step::Sync(name) => format!("{:?}", plain(disk.sync(name))),
        Step::Rename(from, to) => format!("{:?}", plain(disk.rename(from, to))),
        Step::SyncNames => format!("{:?}", plain(disk.sync_names())),
        Step::Read(name) => format!("{:?}", read(disk.read(name))),
        Step::List => format!("{:?}", disk.list()),
        Step::Remove(name) => format!("{:?}", plain(disk.remove(name))),
        Step::Replace(name, bytes) => format!("{:?}", plain(replace(disk, name, &[&bytes]))),
        Step::ReadChecked(name) => format!("{:?}", checked(read_checked(disk, name))),
        Step::RemoveLeftovers => format!("{:?}", plain(remove_leftovers(disk))),
    }
}

#[test]
fn does_what_a_simulated_disk_does() {
    let temporary = Temporary::new("same");
    let mut rng = Rng::new(4);
    let inside = temporary.0.join("one").join("another");
    let open = || Folder::open(&inside).unwrap();
    let (mut folder, mut simulated) = (open(), calm(1));
    let path = format!("{}/", inside.display());
    for at in 0..600 {
        let step = step(&mut rng);
        let found = outcome(&mut folder, step.clone()).replace(&path, "");
        assert_eq!(found, outcome(&mut simulated, step.clone()), "step {at}: {step:?}");
        if rng.below(50) == 0 {
            folder = open();
        }
    }
}

#[test]
fn what_others_have_put_there_is_not_listed() {
    let temporary = Temporary::new("others");
    let mut folder = temporary.open();
    fs::write(temporary.0.join(".hidden"), "").unwrap();
    fs::create_dir(temporary.0.join("folder")).unwrap();
    folder.write("a", &[]).unwrap();
    assert_eq!(folder.list().unwrap(), ["a"]);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let temporary = Temporary::new("place");
    fs::write(&temporary.0, "").unwrap();
    let error = Folder::open(&temporary.0).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot open {}: ", temporary.0.display())), "{error}");
    fs::remove_file(&temporary.0).unwrap();
}

#[test]
#[should_panic(expected = "no name for a file")]
fn names_do_not_lead_elsewhere() {
    let temporary = Temporary::new("elsewhere");
    let _ = temporary.open().write("../a", &[]);
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn others_can_neither_enter_it_nor_read_its_files() {
    let temporary = Temporary::new("private");
    let inner = temporary.0.join("inner");
    let mut folder = Folder::open(&inner).unwrap();
    replace(&mut folder, "a", &[b"secret"]).unwrap();
    assert_eq!([mode(&temporary.0), mode(&inner), mode(&inner.join("a"))], [0o700, 0o700, 0o600]);
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o775)).unwrap();
    Folder::open(&inner).unwrap().close_to_others().unwrap();
    assert_eq!(mode(&inner), 0o700, "as it was left by others");
}

#[test]
fn symbolic_links_are_not_followed() {
    let temporary = Temporary::new("links");
    let (mut folder, elsewhere) = (temporary.open(), temporary.0.join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("a"), "kept").unwrap();
    symlink(elsewhere.join("a"), temporary.0.join("a")).unwrap();
    assert!(folder.read("a").is_err(), "what is elsewhere is none of its files");
    assert_eq!(folder.list().unwrap(), [""; 0]);
    folder.write("a", &[b"new"]).unwrap();
    assert_eq!(fs::read(elsewhere.join("a")).unwrap(), b"kept");
    assert_eq!(folder.read("a").unwrap(), b"new");
    let link = temporary.0.join("link");
    symlink(&elsewhere, &link).unwrap();
    assert!(Folder::open(&link).is_err(), "it would write elsewhere");
}

#[test]
fn what_belongs_to_others_or_may_be_written_by_them_does_not_count() {
    let temporary = Temporary::new("of-others");
    let mut folder = temporary.open();
    folder.write("a", &[b"mine"]).unwrap();
    fs::set_permissions(temporary.0.join("a"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(folder.read("a").unwrap_err().to_string().contains("it may be forged"));
    if !rustix::process::geteuid().is_root() {
        // Past the test harness, which shows nothing of what tests print that pass.
        let line =
            "SKIPPED: files of other users, in a test that counts as passed: only root can make them\n";
        let _ = std::io::stderr().write_all(line.as_bytes());
        return;
    }
    folder.write("b", &[b"theirs"]).unwrap();
    chown(temporary.0.join("b"), Some(65534), None).unwrap();
    assert!(folder.read("b").unwrap_err().to_string().contains("another user"));
    chown(&temporary.0, Some(65534), None).unwrap();
    assert!(Folder::open(&temporary.0).unwrap_err().to_string().contains("another user"));
}

#[test]
fn it_is_known_whether_another_process_uses_it() {
    let temporary = Temporary::new("used");
    let (one, other) = (temporary.open(), temporary.open());
    assert!(!other.is_used_by_others());
    one.lock().unwrap();
    assert!(other.is_used_by_others() && other.lock().is_err());
    drop(one);
    assert!(!other.is_used_by_others() && other.lock().is_ok());
}

#[test]
fn where_there_is_a_key_it_decides_what_counts() {
    let temporary = Temporary::new("keyed");
    let key_in = |name: &str, bytes: &[u8]| {
        let path = temporary.0.join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        KeyFile(Some(path))
    };
    fs::create_dir_all(&temporary.0).unwrap();
    let (key, other) = (key_in("key", &[1; 32]), key_in("other", &[2; 32]));
    let inner = temporary.0.join("inner");
    let open = |key: &KeyFile| Folder::open_with(&inner, key).unwrap();
    replace(&mut open(&key), "a", &[b"one", b"two"]).unwrap();
    replace(&mut open(&KeyFile::default()), "b", &[b"plain"]).unwrap();
    assert_eq!(read_checked(&mut open(&key), "a").unwrap(), b"onetwo");
    assert_eq!(read_checked(&mut open(&KeyFile::default()), "a").unwrap(), b"onetwo", "its owner counts");
    let refused = |name: &str, key: &KeyFile| read_checked(&mut open(key), name).unwrap_err().to_string();
    assert!(refused("a", &other).contains("not written with this key"));
    assert!(refused("b", &key).contains("not written with this key"), "nothing shows who wrote it");
    fs::copy(inner.join("a"), inner.join("c")).unwrap();
    assert!(refused("c", &key).contains("not written with this key"), "it is a file of another name");
    // Whoever has no key can make the checksums right, but not this.
    let bytes = fs::read(inner.join("a")).unwrap();
    let sums = |at: &usize| (12..16).contains(at) || (24..28).contains(at);
    for at in (0..bytes.len()).filter(|at| !sums(at)) {
        let mut forged = bytes.clone();
        forged[at] ^= 1;
        repair(&mut forged);
        fs::write(inner.join("a"), forged).unwrap();
        assert!(read_checked(&mut open(&key), "a").is_err(), "byte {at}");
    }
    if rustix::process::geteuid().is_root() {
        fs::write(inner.join("a"), bytes).unwrap();
        chown(inner.join("a"), Some(65534), None).unwrap();
        assert_eq!(read_checked(&mut open(&key), "a").unwrap(), b"onetwo", "whoever owns it");
    }
}

/// Makes the checksums fit.
fn repair(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let body = crc32fast::hash(&bytes[28..end]);
    bytes[12..16].copy_from_slice(&body.to_le_bytes());
    let head = crc32fast::hash(&bytes[..24]);
    bytes[24..28].copy_from_slice(&head.to_le_bytes());
}
