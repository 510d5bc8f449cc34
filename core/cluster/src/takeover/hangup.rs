//! What SIGHUP means to a node that outlives its launcher.
//!
//! It comes when the terminal is closed, which ends the job. And it comes when the launcher of a job with stopped nodes dies, as the
//! system thinks that nobody would wake them any more: that ends nothing.

use std::fs::File;
use std::io;

use signal_hook::consts::SIGHUP;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Tells the one from the other.
pub struct Hangup {
    signals: Signal,
    had_terminal: bool,
}

impl Hangup {
    /// None if the signal is ignored, as `nohup` has it. Has to be called inside of a runtime.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Option<Self>> {
        if is_ignored()? {
            return Ok(None);
        }
        Ok(Some(Hangup { signals: signal(SignalKind::hangup())?, had_terminal: has_terminal() }))
    }

    /// Waits until the terminal is closed.
    pub async fn closed(&mut self) {
        loop {
            self.signals.recv().await;
            if self.had_terminal && !has_terminal() {
                return;
            }
        }
    }
}

pub fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

fn is_ignored() -> io::Result<bool> {
    // SAFETY: all zeros are a value of this type, and the call only fills it.
    let (done, action) = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(SIGHUP, std::ptr::null(), &raw mut action), action)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(action.sa_sigaction == libc::SIG_IGN) }
}
