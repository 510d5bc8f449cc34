//! Whoever prints is lost after each step in turn, and another goes on from there.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write, pipe};
use std::os::fd::AsFd;

use super::*;

/// Standard output of a kind, and what has come there.
struct Out {
    to: OwnedFd,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Pipe,
    File,
    Appended,
}

const KINDS: [Kind; 3] = [Kind::Pipe, Kind::File, Kind::Appended];

impl Out {
    fn new(kind: Kind, name: &str) -> (Out, Box<dyn FnOnce() -> Vec<u8>>) {
        if kind == Kind::Pipe {
            let (mut from, to) = pipe().unwrap();
            // What is more than a pipe has room for is read meanwhile.
            let reader = std::thread::spawn(move || {
                let mut all = Vec::new();
                from.read_to_end(&mut all).unwrap();
                all
            });
            return (Out { to: to.into(), kind }, Box::new(move || reader.join().unwrap()));
        }
        let path = std::env::temp_dir().join(format!("talisman-spool-{}-{name}", std::process::id()));
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let file = options.create(true).append(kind == Kind::Appended).write(true).open(&path).unwrap();
        let read = move || {
            let all = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            all
        };
        (Out { to: file.into(), kind }, Box::new(read))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

/// The same spool in another process.
fn heir(spool: &Spool) -> Spool {
    let copy = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().unwrap();
    Spool::of(spool.record.another(), [copy(spool.from.as_fd()), copy(spool.to.as_fd())])
}

fn text(len: usize, of: u8) -> Vec<u8> {
    (0..len).map(|at| if at % 61 == 60 { b'\n' } else { of + (at % 23) as u8 }).collect()
}

/// Prints a text in steps, so many of them; whether that was all.
fn in_steps(spool: &Spool, out: &Out, piece: Option<Piece>, text: &[u8], mut steps: usize) -> bool {
    let mut goes_on = || {
        steps = steps.saturating_sub(1);
        steps > 0
    };
    if !goes_on() {
        return false;
    }
    let begun = spool.record.begin(piece, text.to_owned()).unwrap();
    for (number, chunk) in chunks(text).into_iter().map(|chunk| &text[chunk]).enumerate() {
        let (first, rest) = chunk.split_at(chunk.len() / 3);
        let mut all: Vec<Box<dyn FnOnce() + '_>> = Vec::new();
        if out.kind != Kind::Pipe {
            all.push(Box::new(move || spool.record.writes(number, file::place(out.fd())).unwrap()));
            all.push(Box::new(move || spool.write_all(out.fd(), first).unwrap()));
            all.push(Box::new(move || spool.write_all(out.fd(), rest).unwrap()));
        } else {
            all.push(Box::new(move || spool.record.fills(number).unwrap()));
            all.push(Box::new(move || {
                (&File::from(spool.to.try_clone().unwrap())).write_all(chunk).unwrap()
            }));
            all.push(Box::new(move || spool.record.filled(number).unwrap()));
            all.push(Box::new(move || spool.drain(out.fd(), first.len()).unwrap()));
            all.push(Box::new(move || spool.drain(out.fd(), rest.len()).unwrap()));
        }
        for step in all {
            if !goes_on() {
                return false;
            }
            step();
        }
    }
    if !goes_on() {
        return false;
    }
    spool.record.end(&begun).unwrap();
    true
}

#[test]
fn a_text_is_printed_once_whenever_its_printer_is_lost() {
    for kind in KINDS {
        for piece in [Some((5, 2, 1)), None] {
            let (before, lost, after) = (text(100, b'a'), text(2 * CHUNK + 1000, b'A'), text(70_000, b'0'));
            let mut was_all = false;
            let mut steps = 0;
            while !was_all {
                steps += 1;
                let (out, come) = Out::new(kind, "once");
                let spool = Spool::new().unwrap();
                spool.print(Some((4, 0, 0)), before.clone(), out.fd()).unwrap();
                was_all = in_steps(&spool, &out, piece, &lost, steps);
                let next = heir(&spool);
                drop(spool);
                let was_begun = steps > 1;
                next.go_on(out.fd()).unwrap();
                let known = next.record.pieces();
                let begun = piece.filter(|_| was_begun);
                assert!(known.iter().copied().eq([(4, 0, 0)].into_iter().chain(begun)), "{known:?}");
                let is_last = piece.is_none() && was_begun;
                assert!(next.printed_last() == if is_last { &lost[..] } else { &[] });
                next.print(Some((6, 0, 0)), after.clone(), out.fd()).unwrap();
                assert!(next.printed_last().is_empty(), "the job has gone on");
                drop(out);
                let expected = [&before[..], if was_begun { &lost } else { &[] }, &after].concat();
                assert!(come() == expected, "{kind:?}, lost after {steps} steps");
            }
        }
    }
}

/// As the system does with what is killed between two pages of a file.
#[test]
fn what_others_print_does_not_come_amid_a_line_that_was_cut_off() {
    for kind in [Kind::File, Kind::Appended] {
        let (out, come) = Out::new(kind, "amid");
        let all = text(2 * CHUNK, b'a');
        let spool = Spool::new().unwrap();
        // It is lost after it has written a third of the first chunk.
        assert!(!in_steps(&spool, &out, Some((1, 0, 0)), &all, 4));
        let first = chunks(&all)[0].clone();
        for name in [b"one\n", b"two\n"] {
            heir(&spool).mend(out.fd()).unwrap();
            (&File::from(out.to.try_clone().unwrap())).write_all(name).unwrap();
        }
        heir(&spool).go_on(out.fd()).unwrap();
        drop(out);
        let expected = [&all[first.clone()], b"one\ntwo\n", &all[first.end..]].concat();
        assert!(come() == expected, "{kind:?}");
    }
}

/// It may have been stopped.
#[test]
fn whoever_mends_is_not_waited_for_without_end() {
    let spool = Spool::new().unwrap();
    let path = format!("/proc/self/fd/{}", spool.record.number());
    let another = OpenOptions::new().read(true).write(true).open(path).unwrap();
    // SAFETY: all bits zero are a lock of everything, and the call reads and changes nothing else.
    let locked = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = libc::F_WRLCK as libc::c_short;
        libc::fcntl(another.as_raw_fd(), libc::F_OFD_SETLK, &lock)
    };
    assert_eq!(locked, 0);
    let mut acts = false;
    let waited = spool.record.alone(|| {
        acts = true;
        Ok(())
    });
    assert_eq!((waited.unwrap_err().kind(), acts), (io::ErrorKind::TimedOut, false));
    drop(another);
    spool.record.alone(|| Ok(())).unwrap();
}

#[test]
fn a_text_is_cut_between_lines() {
    let lines = [&[b'a'; CHUNK + 10][..], b"\n", &[b'b'; CHUNK - 1], b"\nc\nd"].concat();
    assert_eq!(
        chunks(&lines),
        [
            0..CHUNK,
            CHUNK..CHUNK + 11,
            CHUNK + 11..2 * CHUNK + 11,
            2 * CHUNK + 11..2 * CHUNK + 13,
            2 * CHUNK + 13..2 * CHUNK + 14
        ]
    );
    assert!(chunks(b"").is_empty());
}

#[test]
fn one_after_the_other_may_be_lost() {
    for kind in KINDS {
        let (out, come) = Out::new(kind, "others");
        let all = text(30 * CHUNK, b'a');
        let mut spool = Spool::new().unwrap();
        // Each prints a little more of the last text, as whoever comes next goes on with it.
        assert!(!in_steps(&spool, &out, Some((1, 0, 0)), &all, 5));
        for _ in 0..3 {
            spool = heir(&spool);
        }
        spool.go_on(out.fd()).unwrap();
        spool.go_on(out.fd()).unwrap();
        drop(out);
        assert!(come() == all, "{kind:?}");
    }
}

#[test]
fn the_last_pieces_are_known() {
    let (out, come) = Out::new(Kind::File, "known");
    let spool = Spool::new().unwrap();
    let pieces = (0..3000).map(|piece| (7, 1, piece));
    pieces.clone().for_each(|piece| spool.print(Some(piece), b"a\n".to_vec(), out.fd()).unwrap());
    assert!(spool.record.pieces().into_iter().eq(pieces.skip(3000 - 1024)));
    assert_eq!(come().len(), 6000);
}

#[test]
fn nobody_reads_what_cannot_be_printed() {
    let (from, to) = pipe().unwrap();
    drop(from);
    let spool = Spool::new().unwrap();
    let lost = spool.print(None, text(3 * CHUNK, b'a'), to.as_fd());
    assert_eq!(lost.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(spool.waiting().unwrap(), 0);
    let (out, come) = Out::new(Kind::Pipe, "");
    spool.go_on(out.fd()).unwrap();
    drop(out);
    assert!(come().is_empty());
}
