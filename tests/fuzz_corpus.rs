//! The corpora of frames, handshakes, and what comes to the doors of a job, on a stable compiler.

use std::path::{Path, PathBuf};

#[path = "../fuzz/shared/doors.rs"]
mod doors;
#[path = "../fuzz/shared/frames.rs"]
mod shared;

type Seeds = Vec<(&'static str, Vec<u8>)>;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// The committed files are the seeds; all of them, and those that a fuzzer has added, do no harm; nor do the seeds cut
/// short or with a byte changed. With `WRITE_CORPUS=1` the files are written anew.
fn replay(target: &str, seeds: Seeds, run: fn(&[u8])) {
    for (name, mut bytes) in seeds {
        let file = corpus(target).join(name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::write(&file, &bytes).unwrap();
        }
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{target}/{name}: the format has changed");
        damage(&mut bytes, run);
    }
    for file in std::fs::read_dir(corpus(target)).unwrap() {
        run(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

fn damage(bytes: &mut [u8], run: fn(&[u8])) {
    for at in 0..bytes.len().min(200) {
        run(&bytes[..at]);
        for flip in [1, 0x10, 0x80, 0xff] {
            bytes[at] ^= flip;
            run(bytes);
            bytes[at] ^= flip;
        }
    }
}

#[test]
fn hostile_frames_do_no_harm() {
    replay("frames", shared::frame_seeds(), shared::frames);
}

#[test]
fn hostile_handshakes_do_no_harm() {
    replay("handshake", shared::handshake_seeds(), shared::handshake);
}

#[test]
fn hostile_words_at_doors_and_files_of_others_do_no_harm() {
    replay("messages", doors::message_seeds(), doors::messages);
    replay("succession", doors::succession_seeds(), doors::succession);
    replay("requests", doors::request_seeds(), doors::requests);
    replay("page", doors::page_seeds(), doors::page);
    replay("checkpoints", doors::checkpoint_seeds(), doors::checkpoints);
    replay("logged", doors::logged_seeds(), doors::logged);
    replay("records", doors::record_seeds(), doors::records);
    replay("traces", doors::trace_seeds(), doors::traces);
}

#[test]
fn seeds_reach_what_they_are_for() {
    let taken = |name: &str| {
        let seeds = shared::frame_seeds();
        let (_, bytes) = seeds.iter().find(|(seed, _)| *seed == name).unwrap();
        talisman::probe::read_frames(bytes)
    };
    assert_eq!((taken("small"), taken("two"), taken("raw"), taken("small-cut")), (1, 2, 0, 0));
}
