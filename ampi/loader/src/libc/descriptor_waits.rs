//! Functions that wait for what is read from sockets and pipes, or for room in them. A rank waits there in attempts, and others run in
//! between: who is waited for may be a rank of the same process.

use std::ffi::{c_int, c_void};
use std::mem::{size_of, zeroed};

use ::libc::{
    EAGAIN, F_GETFL, MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, O_NONBLOCK, PIPE_BUF, POLLIN, POLLOUT, SO_RCVTIMEO,
    SO_SNDTIMEO, SO_TYPE, SOCK_STREAM, SOL_SOCKET, iovec, msghdr, pollfd, size_t, sockaddr, socklen_t,
    timespec, timeval,
};

use super::deadline::Deadline;
use super::files::{adopt, before_write};
use super::pause::give_way;
use super::{current, errno, functions, set_errno, waits_alone};

functions! {
    "read" => read,
    "__read_chk" => read_checked,
    "readv" => read_pieces,
    "recv" => receive,
    "__recv_chk" => receive_checked,
    "recvfrom" => receive_from,
    "__recvfrom_chk" => receive_from_checked,
    "recvmsg" => receive_message,
    "send" => send,
    "sendto" => send_to,
    "sendmsg" => send_message,
    "accept" => accept,
    "accept4" => accept_with,
}

/// What a descriptor that may have to be waited for is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Socket,
    Pipe,
    /// A terminal, an event counter, …
    Other,
}

impl Kind {
    /// None of what nobody waits for: a file, or no descriptor of the rank's; nor where the thread that calls waits alone.
    fn of(descriptor: c_int) -> Option<Kind> {
        // SAFETY: the running rank's state.
        if waits_alone() || !unsafe { (*current()).descriptors.may_wait(descriptor) } {
            return None;
        }
        // SAFETY: zero is a value of it, and it is filled in.
        let mode = unsafe {
            let mut seen: ::libc::stat = zeroed();
            ::libc::fstat(descriptor, &raw mut seen);
            seen.st_mode & ::libc::S_IFMT
        };
        Some(match mode {
            ::libc::S_IFSOCK => Kind::Socket,
            ::libc::S_IFIFO => Kind::Pipe,
            _ => Kind::Other,
        })
    }
}

/// Whether it has what is asked for, or will never have.
fn is_ready(descriptor: c_int, events: i16) -> bool {
    let mut place = pollfd { fd: descriptor, events, revents: 0 };
    // SAFETY: asks about a descriptor, in a place for one.
    unsafe { ::libc::poll(&raw mut place, 1, 0) != 0 }
}

/// Whether its functions are not to wait.
fn never_waits(descriptor: c_int, flags: c_int) -> bool {
    // SAFETY: asks about a descriptor.
    flags & MSG_DONTWAIT != 0 || unsafe { ::libc::fcntl(descriptor, F_GETFL) } & O_NONBLOCK != 0
}

/// For how long a socket waits; a pipe does for ever.
fn time(descriptor: c_int, option: c_int) -> Deadline {
    let mut time = timeval { tv_sec: 0, tv_usec: 0 };
    if ask(descriptor, option, &mut time) && (time.tv_sec, time.tv_usec) != (0, 0) {
        return Deadline::after(timespec {
            tv_sec: time.tv_sec,
            tv_nsec: time.tv_usec.saturating_mul(1_000),
        });
    }
    Deadline::never()
}

fn is_stream(descriptor: c_int) -> bool {
    let mut kind: c_int = 0;
    ask(descriptor, SO_TYPE, &mut kind) && kind == SOCK_STREAM
}

fn ask<T>(descriptor: c_int, option: c_int, place: &mut T) -> bool {
    let mut len = size_of::<T>() as socklen_t;
    // SAFETY: a place of this length.
    unsafe {
        ::libc::getsockopt(descriptor, SOL_SOCKET, option, std::ptr::from_mut(place).cast(), &raw mut len)
            == 0
    }
}

fn fail_with(error: c_int) -> isize {
    set_errno(error);
    -1
}

/// Calls a function as soon as it need not wait.
fn once_ready(descriptor: c_int, events: i16, flags: c_int, call: impl Fn() -> isize) -> isize {
    if Kind::of(descriptor).is_none() || is_ready(descriptor, events) {
        return call();
    }
    if never_waits(descriptor, flags) {
        // Who does not wait here may ask again and again.
        // SAFETY: takes nothing.
        unsafe { give_way() };
        return call();
    }
    let option = if events == POLLIN { SO_RCVTIMEO } else { SO_SNDTIMEO };
    match time(descriptor, option).attempt(|| is_ready(descriptor, events).then_some(())) {
        Some(()) => call(),
        None => fail_with(EAGAIN),
    }
}

/// Repeats a function that takes how far it is, until all is done.
fn in_parts(len: usize, part: impl Fn(usize) -> isize) -> isize {
    let mut done = 0;
    loop {
        match part(done) {
            failed @ ..0 if done == 0 => return failed,
            ..=0 => return done as isize,
            some => done += some as usize,
        }
        if done >= len {
            return done as isize;
        }
    }
}

unsafe extern "C" fn read(from: c_int, bytes: *mut c_void, len: size_t) -> isize {
    // SAFETY: called as C's function is, as in all that follow.
    once_ready(from, POLLIN, 0, || unsafe { ::libc::read(from, bytes, len) })
}

/// A program that was compiled to look at bounds calls this.
unsafe extern "C" fn read_checked(from: c_int, bytes: *mut c_void, len: size_t, room: size_t) -> isize {
    let len = within(len, room);
    // SAFETY: as above.
    unsafe { read(from, bytes, len) }
}

/// As the C library, which ends a program that would write behind an object.
pub fn within(len: size_t, room: size_t) -> size_t {
    unsafe extern "C" {
        fn __chk_fail() -> !;
    }
    if len > room {
        // SAFETY: takes nothing.
        unsafe { __chk_fail() }
    }
    len
}

unsafe extern "C" fn read_pieces(from: c_int, pieces: *const iovec, count: c_int) -> isize {
    // SAFETY: as above.
    once_ready(from, POLLIN, 0, || unsafe { ::libc::readv(from, pieces, count) })
}

unsafe extern "C" fn receive(from: c_int, bytes: *mut c_void, len: size_t, flags: c_int) -> isize {
    let none = std::ptr::null_mut();
    // SAFETY: as above.
    unsafe { receive_from(from, bytes, len, flags, none, none.cast()) }
}

unsafe extern "C" fn receive_checked(
    from: c_int,
    bytes: *mut c_void,
    len: size_t,
    room: size_t,
    flags: c_int,
) -> isize {
    let len = within(len, room);
    // SAFETY: as above.
    unsafe { receive(from, bytes, len, flags) }
}

unsafe extern "C" fn receive_from_checked(
    from: c_int,
    bytes: *mut c_void,
    len: size_t,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    let len = within(len, room);
    // SAFETY: as above.
    unsafe { receive_from(from, bytes, len, flags, address, address_len) }
}

unsafe extern "C" fn receive_from(
    from: c_int,
    bytes: *mut c_void,
    len: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    let receive = |done: usize, flags| {
        once_ready(from, POLLIN, flags, || {
            // SAFETY: as above; so many bytes are behind the first ones.
            unsafe { ::libc::recvfrom(from, bytes.byte_add(done), len - done, flags, address, address_len) }
        })
    };
    let for_all = flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0 && is_stream(from);
    if !for_all || len == 0 || Kind::of(from).is_none() || never_waits(from, flags) {
        return receive(0, flags);
    }
    in_parts(len, |done| receive(done, flags & !MSG_WAITALL))
}

unsafe extern "C" fn receive_message(from: c_int, message: *mut msghdr, flags: c_int) -> isize {
    // SAFETY: as above.
    once_ready(from, POLLIN, flags, || unsafe { ::libc::recvmsg(from, message, flags) })
}

unsafe extern "C" fn send(to: c_int, bytes: *const c_void, len: size_t, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe { send_to(to, bytes, len, flags, std::ptr::null(), 0) }
}

unsafe extern "C" fn send_to(
    to: c_int,
    bytes: *const c_void,
    len: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> isize {
    // SAFETY: as above; so many bytes are behind the first ones.
    let send = |done: usize, flags| unsafe {
        ::libc::sendto(to, bytes.byte_add(done), len - done, flags, address, address_len)
    };
    if Kind::of(to).is_none() || never_waits(to, flags) {
        return send(0, flags);
    }
    in_parts(len, |done| with_room(to, || send(done, flags | MSG_DONTWAIT)))
}

/// Repeats a function that does not wait, until a socket has room for what it sends.
fn with_room(to: c_int, send: impl Fn() -> isize) -> isize {
    let attempt = || {
        let sent = send();
        (sent >= 0 || errno() != EAGAIN).then_some(sent)
    };
    match attempt() {
        Some(sent) => sent,
        None => time(to, SO_SNDTIMEO).attempt(attempt).unwrap_or_else(|| fail_with(EAGAIN)),
    }
}

unsafe extern "C" fn send_message(to: c_int, message: *const msghdr, flags: c_int) -> isize {
    // SAFETY: as above.
    let send = |flags| unsafe { ::libc::sendmsg(to, message, flags) };
    if Kind::of(to).is_none() || never_waits(to, flags) {
        return send(flags);
    }
    let sent = with_room(to, || send(flags | MSG_DONTWAIT));
    let Ok(sent) = usize::try_from(sent) else { return sent };
    // SAFETY: what was sent has so many pieces, which are the program's.
    unsafe {
        let pieces = std::slice::from_raw_parts((*message).msg_iov, (*message).msg_iovlen);
        rest_of(pieces, sent, |at, len| send_to(to, at, len, flags, std::ptr::null(), 0))
    }
}

/// Goes on behind the first bytes of these pieces with a function that does all of one; how far it was then.
fn rest_of(pieces: &[iovec], first: usize, all_of: impl Fn(*const c_void, usize) -> isize) -> isize {
    let (mut done, mut begin) = (first, 0);
    for piece in pieces {
        let (from, end) = (done.max(begin), begin + piece.iov_len);
        begin = end;
        if from < end {
            match all_of(piece.iov_base.wrapping_byte_add(piece.iov_len - (end - from)), end - from) {
                failed @ ..0 if done == 0 => return failed,
                ..=0 => break,
                some => done += some as usize,
            }
            if done < end {
                break;
            }
        }
    }
    done as isize
}

/// `write`, of any descriptor but standard streams.
///
/// # Safety
/// As for `write`.
pub unsafe fn write(to: c_int, bytes: *const c_void, len: usize) -> isize {
    // SAFETY: the caller's promise, as in all that follow.
    let write = |done: usize, len| unsafe { ::libc::write(to, bytes.byte_add(done), len) };
    match Kind::of(to) {
        // SAFETY: as above.
        Some(Kind::Socket) => unsafe { send(to, bytes, len, 0) },
        // Where there is any room, there is as much.
        Some(Kind::Pipe) if !never_waits(to, 0) => in_parts(len, |done| {
            let len = (len - done).min(PIPE_BUF);
            once_ready(to, POLLOUT, 0, || write(done, len))
        }),
        kind => {
            if kind.is_none() {
                before_write(to, None, len);
            }
            once_ready(to, POLLOUT, 0, || write(0, len))
        }
    }
}

/// `writev`, of any descriptor but standard streams.
///
/// # Safety
/// As for `writev`.
pub unsafe fn write_pieces(to: c_int, pieces: *const iovec, count: c_int) -> isize {
    // SAFETY: the caller's promise, as in all that follow.
    let write_all = || once_ready(to, POLLOUT, 0, || unsafe { ::libc::writev(to, pieces, count) });
    let kind = Kind::of(to).filter(|_| (1..=::libc::UIO_MAXIOV).contains(&count) && !never_waits(to, 0));
    // SAFETY: as above.
    let all = || unsafe { std::slice::from_raw_parts(pieces, count as usize) };
    match kind {
        Some(Kind::Socket) => {
            // SAFETY: zero is a value of it; as above.
            unsafe {
                let none: msghdr = zeroed();
                let message = msghdr { msg_iov: pieces.cast_mut(), msg_iovlen: count as usize, ..none };
                send_message(to, &raw const message, 0)
            }
        }
        Some(Kind::Pipe) if all().iter().map(|piece| piece.iov_len).sum::<usize>() > PIPE_BUF => {
            // SAFETY: as above.
            rest_of(all(), 0, |at, len| unsafe { write(to, at, len) })
        }
        None if (1..=::libc::UIO_MAXIOV).contains(&count) => {
            before_write(to, None, all().iter().fold(0, |sum, piece| sum.saturating_add(piece.iov_len)));
            write_all()
        }
        _ => write_all(),
    }
}

unsafe extern "C" fn accept(at: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: as above.
    let accept = || unsafe { ::libc::accept(at, address, len) as isize };
    adopt(once_ready(at, POLLIN, 0, accept) as c_int)
}

unsafe extern "C" fn accept_with(
    at: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: as above.
    let accept = || unsafe { ::libc::accept4(at, address, len, flags) as isize };
    adopt(once_ready(at, POLLIN, 0, accept) as c_int)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn parts_are_done_until_one_fails_or_does_nothing() {
        assert_eq!(in_parts(10, |done| if done < 8 { 4 } else { 2 }), 10);
        assert_eq!(in_parts(10, |done| if done < 8 { 4 } else { -1 }), 8);
        assert_eq!(in_parts(10, |done| if done < 4 { 4 } else { 0 }), 4);
        assert_eq!((in_parts(10, |_| -1), in_parts(10, |_| 0), in_parts(0, |_| 0)), (-1, 0, 0));
    }

    #[test]
    fn the_rest_of_pieces_begins_within_one() {
        let bytes = [0_u8; 12];
        let piece = |at: usize, len| iovec { iov_base: bytes[at..].as_ptr().cast_mut().cast(), iov_len: len };
        let pieces = [piece(0, 4), piece(4, 0), piece(4, 5), piece(9, 3)];
        let done_from = |first, most: usize| {
            let parts = RefCell::new(Vec::new());
            let done = rest_of(&pieces, first, |at, len| {
                parts.borrow_mut().push((at as usize - bytes.as_ptr() as usize, len));
                len.min(most) as isize
            });
            (done, parts.into_inner())
        };
        assert_eq!(done_from(0, 12), (12, vec![(0, 4), (4, 5), (9, 3)]));
        assert_eq!(done_from(6, 12), (12, vec![(6, 3), (9, 3)]));
        assert_eq!(done_from(6, 2), (8, vec![(6, 3)]));
        assert_eq!(done_from(12, 12), (12, vec![]));
        assert_eq!(rest_of(&pieces, 0, |_, _| -1), -1);
        assert_eq!(rest_of(&pieces, 2, |_, _| -1), 2);
    }
}
