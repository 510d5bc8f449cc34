//! What ends a process: this program in another role.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Output};

use talisman_ampi::slot::Slot;
use talisman_ampi::thread::{Resumed, Thread, suspend};

use crate::{LAYOUT, Test};

pub const ALL: &[Test] = &[
    ("a stack that overflows names the rank", overflow),
    ("a heap that overflows names the rank", exhaustion),
    ("a fault that is no overflow is as without ranks", fault),
    ("a fault of a rank whose program was mapped names the rank and the address", mapped_fault),
    ("a rank does not wait while it unwinds", unwinding),
    ("killed and restarted, a rank goes on", restart),
];

/// Set to the role of a child.
pub const ROLE: &str = "TALISMAN_TEST_ROLE";
/// Where a rank is saved.
const FILE: &str = "TALISMAN_TEST_FILE";

pub fn play(role: &str) {
    match role {
        "overflow" => run(5, || {
            std::hint::black_box(recurse(1 << 40));
        }),
        "exhaustion" => run(6, || {
            let mut most = Vec::<u8>::new();
            assert!(most.try_reserve(2 * LAYOUT.heap).is_err());
            suspend();
            std::hint::black_box(vec![1u8; 2 * LAYOUT.heap]);
        }),
        "fault" => run(7, || {
            // SAFETY: not safe at all: nothing is mapped there, which is what this is about.
            unsafe { std::ptr::without_provenance_mut::<u8>(64).write_volatile(1) }
        }),
        "mapped fault" => {
            let mut slot = Slot::new(10).expect("no other is there");
            slot.load_images().expect("there is room for it");
            // SAFETY: not safe at all: nothing is mapped there, which is what this is about.
            let program = || unsafe { std::ptr::without_provenance_mut::<u8>(0x12_3456).write_volatile(1) };
            println!("{:?}", Thread::new(slot, program).resume());
        }
        "unwinding" => run(8, || {
            struct Waits;
            impl Drop for Waits {
                fn drop(&mut self) {
                    suspend();
                }
            }
            let _waits = Waits;
            panic!("before it waits");
        }),
        "save" => save(),
        "restore" => restore(),
        other => panic!("no role {other}"),
    }
}

fn run(slot: u32, program: fn()) {
    let mut thread = Thread::new(Slot::new(slot).expect("no other is there"), program);
    let end = loop {
        match thread.resume().expect("nobody has moved it") {
            Resumed::Suspended => {}
            end => break end,
        }
    };
    println!("{end:?}");
}

#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { recurse(depth - 1) + frame[3] }
}

fn saved() -> PathBuf {
    std::env::var_os(FILE).expect("the parent names the file").into()
}

/// Rounds of a rank that is killed after the third.
fn rounds() -> Thread {
    let program = || {
        let names: Vec<String> = (0..1_000).map(|at| format!("name {at}")).collect();
        let longest = names.iter().max_by_key(|name| name.len()).expect("there are some");
        let mut rounds = 0;
        while rounds < 6 {
            rounds += 1;
            suspend();
        }
        assert_eq!((longest.as_str(), names[999].as_str(), rounds), ("name 999", "name 999", 6));
    };
    Thread::new(Slot::new(9).expect("no other is there"), program)
}

fn save() {
    let mut thread = rounds();
    for _ in 0..3 {
        assert_eq!(thread.resume().expect("it is in place"), Resumed::Suspended);
    }
    std::fs::write(saved(), talisman_pup::to_bytes(&thread)).expect("the file can be written");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .expect("one's own");
}

fn restore() {
    let bytes = std::fs::read(saved()).expect("it was saved");
    let mut thread: Thread = talisman_pup::from_bytes(&bytes).expect("it is a rank");
    let mut rounds = 0;
    let end = loop {
        match thread.resume().expect("it is in place") {
            Resumed::Suspended => rounds += 1,
            end => break end,
        }
    };
    println!("{end:?} after {rounds} more");
}

/// Starts this program in a role, without address randomisation, as processes with ranks are.
fn child(role: &str, file: Option<&PathBuf>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(ROLE, role).env_remove("RUST_BACKTRACE");
    if let Some(file) = file {
        command.env(FILE, file);
    }
    let fixed = || {
        // SAFETY: a system call that changes how programs are laid out that this process starts.
        let set = unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: only the system call, between fork and exec.
    unsafe { command.pre_exec(fixed) };
    command.output().expect("this program starts, and the system allows a fixed layout (personality)")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn overflow() {
    let output = child("overflow", None);
    let expected = "rank 5 has overflowed its stack of 1048576 bytes; --rank-stack gives it more\n";
    assert_eq!((text(&output.stderr), output.status.signal()), (expected.into(), Some(libc::SIGABRT)));
}

fn exhaustion() {
    let output = child("exhaustion", None);
    let (limit, wanted) = (LAYOUT.heap, 2 * LAYOUT.heap);
    let expected = format!(
        "rank 6 has used up its memory of {limit} bytes and wants {wanted} more; --rank-memory gives it more\n"
    );
    let stderr = text(&output.stderr);
    assert_eq!(stderr.matches(&expected).count(), 1, "{stderr}");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{stderr}");
}

fn fault() {
    let output = child("fault", None);
    assert_eq!((text(&output.stderr), output.status.signal()), (String::new(), Some(libc::SIGSEGV)));
}

fn mapped_fault() {
    let output = child("mapped fault", None);
    let expected = "rank 10: segmentation fault at address 0x123456\n";
    assert_eq!((text(&output.stderr), output.status.signal()), (expected.into(), Some(libc::SIGSEGV)));
}

fn unwinding() {
    let output = child("unwinding", None);
    let stdout = text(&output.stdout);
    assert!(stdout.starts_with("Unwinding { message: \"before it waits\", place: \""), "{stdout}");
}

fn restart() {
    let file = std::env::temp_dir().join(format!("talisman-rank-{}", std::process::id()));
    let killed = child("save", Some(&file));
    assert_eq!(killed.status.signal(), Some(libc::SIGKILL), "{}", text(&killed.stderr));
    let restored = child("restore", Some(&file));
    assert_eq!(text(&restored.stdout), "Ended after 3 more\n", "{}", text(&restored.stderr));
    std::fs::remove_file(file).expect("it is there");
}
