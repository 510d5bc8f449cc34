//! This process's standard input, for a node that is elsewhere.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::message::ToAgent;

/// Bytes read at a time.
const READ: usize = 16 << 10;
/// So often it is looked whether this process has come to the foreground.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A thread that reads a piece each time it is asked to. It may wait there for ever; the end of the process does not wait
/// for it.
pub(super) struct Input(mpsc::Sender<()>);

impl Input {
    /// What is read goes to the agent.
    pub(super) fn to(said: UnboundedSender<ToAgent>) -> Input {
        let (sender, asked) = mpsc::channel();
        // Without a thread the node waits for input that does not come, as it would at a terminal nobody types at.
        let _ = thread::Builder::new().name("input".into()).spawn(move || read(&asked, &said));
        Input(sender)
    }

    /// Asks for one more piece.
    pub(super) fn ask(&self) {
        let _ = self.0.send(());
    }
}

fn read(asked: &mpsc::Receiver<()>, said: &UnboundedSender<ToAgent>) {
    let mut bytes = vec![0; READ];
    while asked.recv().is_ok() {
        wait_for_foreground();
        let count = io::stdin().read(&mut bytes).unwrap_or(0);
        if said.send(ToAgent::Input(bytes[..count].to_vec())).is_err() || count == 0 {
            return;
        }
    }
}

/// The system stops a process that reads a terminal from the background, and nobody has asked to read: the program may
/// not want any input at all.
fn wait_for_foreground() {
    while io::stdin().is_terminal()
        && !is_foreground(&std::fs::read_to_string("/proc/self/stat").unwrap_or_default())
    {
        thread::sleep(LOOK_EVERY);
    }
}

/// By `/proc/PID/stat`: whether the process's group is the one in front of its terminal, if it has a terminal.
fn is_foreground(stat: &str) -> bool {
    // After the name, which is in parentheses: state, parent, group, session, terminal, group in front.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    match (fields.get(2), fields.get(5)) {
        (Some(group), Some(front)) => group == front || *front == "-1",
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_foreground;

    #[test]
    fn the_group_in_front_of_the_terminal_may_read() {
        assert!(is_foreground("7 (a) b) S 1 7 5 34816 7 4194304"));
        assert!(!is_foreground("7 (a) b) S 1 7 5 34816 9 4194304"));
        assert!(is_foreground("7 (prog) S 1 7 5 0 -1 4194304"));
    }
}
