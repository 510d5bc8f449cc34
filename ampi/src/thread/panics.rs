//! What is known of a rank's panic.

use std::any::Any;
use std::fmt::{self, Write};
use std::panic::PanicHookInfo;

use super::{Resumed, state};
use crate::slot::{Suspended, current, on_process_heap};

/// From now on the place of a rank's panic is known, and is not printed: who resumes the rank is told. Panics outside
/// of ranks go to the hook that was there before.
pub fn note_panics() {
    let former = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let header = current();
        if header.is_null() {
            return former(info);
        }
        // SAFETY: the running rank's header; the hook is called by that rank.
        let thread = unsafe { &mut (*header).thread };
        on_process_heap(|| note(thread, info));
    }));
}

/// Without allocating: the panic may be about memory.
fn note(thread: &mut Suspended, info: &PanicHookInfo<'_>) {
    note_payload(thread, info.payload());
    thread.place.fill(0);
    if let Some(place) = info.location() {
        // What has no room is cut.
        let _cut = write!(Text { room: &mut thread.place, len: 0 }, "{place}");
    }
}

/// The message of a panic.
pub(super) fn note_payload(thread: &mut Suspended, payload: &(dyn Any + Send)) {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    thread.message.fill(0);
    let _cut =
        Text { room: &mut thread.message, len: 0 }.write_str(text.unwrap_or("a value that is no text"));
}

/// What a rank has done, by its state.
pub(super) fn outcome(thread: &Suspended) -> Resumed {
    let (message, place) = (|| text(&thread.message), || text(&thread.place));
    match thread.ended {
        state::LIVE => Resumed::Suspended,
        state::ENDED => Resumed::Ended,
        state::UNWINDING => Resumed::Unwinding { message: message(), place: place() },
        state::PANICKED => Resumed::Panicked { message: message(), place: place() },
        faulted => Resumed::Faulted { status: (faulted & 0x7f) as u8 + 128, message: message() },
    }
}

fn text(bytes: &[u8]) -> String {
    let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

/// Writes into a fixed room.
struct Text<'a> {
    room: &'a mut [u8],
    len: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.room[self.len..];
        let n = text.len().min(room.len());
        room[..n].copy_from_slice(&text.as_bytes()[..n]);
        self.len += n;
        if n == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}
