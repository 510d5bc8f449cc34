//! What happens between the launcher and the nodes, as events for a closer look (`--log debug`). Contents of messages are not told: some are
//! secret, some long.

use std::fmt::{self, Debug, Display, Write};

use tracing::{debug, trace};

use talisman_control::coordinator;
use talisman_control::event::Event;
use talisman_control::node_session;
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_observe::subjects::{CHECKPOINT, CONTROL, RECOVERY};

/// In the launcher: something has happened to a node, or it has said something.
pub(super) fn happened(node: u32, event: &Event) {
    match event {
        Event::Said(message) => said(node, message),
        Event::Started(pid) => debug!(target: CONTROL, node, pid, "a node's process runs"),
        Event::NotStarted(why) => debug!(target: CONTROL, node, why, "a node has no process"),
        Event::Garbled(why) => debug!(target: CONTROL, node, why, "what a node says cannot be read"),
        Event::Ended(how) => debug!(target: CONTROL, node, ?how, "a node's process has ended"),
        Event::Lost(why) => debug!(target: CONTROL, node, why, "a node is out of reach"),
    }
}

fn said(node: u32, message: &ToLauncher) {
    match message {
        ToLauncher::Alive
        | ToLauncher::Step(_)
        | ToLauncher::Lines(_)
        | ToLauncher::Figures(_)
        | ToLauncher::Logging(_)
        | ToLauncher::Fetch(_) => {
            trace!(target: CONTROL, node, what = %name(message), "a node says");
        }
        ToLauncher::Suspect { node: other, why } => {
            debug!(target: CONTROL, node, other, why, "a node suspects another");
        }
        ToLauncher::Tried { inquiry, missed } => {
            debug!(target: CONTROL, node, inquiry, ?missed, "a node has tried its connections");
        }
        ToLauncher::Halted { epoch, steps, .. } => {
            debug!(target: RECOVERY, node, epoch, steps, "a node has halted");
        }
        ToLauncher::Resumed { epoch, steps } => {
            debug!(target: RECOVERY, node, epoch, steps, "a node goes on")
        }
        ToLauncher::Committed { version, .. } => {
            debug!(target: CHECKPOINT, node, version, "a version is committed")
        }
        _ => debug!(target: CONTROL, node, what = %name(message), "a node says"),
    }
}

/// In the launcher: what is done about it.
pub(super) fn decided(action: &coordinator::Action) {
    use coordinator::Action;
    match action {
        Action::Send(
            node,
            ToNode::Ping
            | ToNode::Look
            | ToNode::StepSeen(_)
            | ToNode::LinesSeen { .. }
            | ToNode::Logging(_)
            | ToNode::Fetched { .. },
        ) => {
            trace!(target: CONTROL, node, "a node is told something usual");
        }
        Action::Send(node, ToNode::Halt { epoch, lost }) => {
            debug!(target: RECOVERY, node, epoch, ?lost, "a node is to halt");
        }
        Action::Send(node, ToNode::Resume(order)) => {
            let (epoch, version) = (order.view.epoch, order.version);
            debug!(
                target: RECOVERY, node, epoch, ?version, restore = ?order.restore, fetch = ?order.fetch,
                send = ?order.send, "a node is to go on"
            );
        }
        Action::Send(node, message) | Action::SendWhenPrinted(node, message) => {
            debug!(target: CONTROL, node, what = %name(message), "a node is told")
        }
        Action::Kill(node) => debug!(target: CONTROL, node, "a node is killed"),
        Action::Start(node) => debug!(target: CONTROL, node, "a node gets another process"),
        Action::Use { spare, node } => {
            debug!(target: CONTROL, node, spare, "a node is a process that waited")
        }
        // People are told of these in other ways.
        Action::Say(_) | Action::Warn(_) | Action::Show(_) | Action::Answer(..) | Action::Print { .. } => {}
    }
}

/// In a node: what it does about what its launcher says.
pub(super) fn done(node: u32, action: &node_session::Action) {
    use node_session::Action;
    match action {
        Action::Say(_)
        | Action::Look
        | Action::StepSeen(_)
        | Action::LinesSeen { .. }
        | Action::Logging(_)
        | Action::Fetched { .. } => {
            trace!(target: CONTROL, node, what = %name(action), "a node does something usual");
        }
        Action::Begin => debug!(target: CONTROL, node, "the program begins"),
        Action::Halt { epoch, lost } => debug!(target: RECOVERY, node, epoch, ?lost, "all PEs stop"),
        Action::Resume(order) => {
            let (epoch, version) = (order.view.epoch, order.version);
            debug!(target: RECOVERY, node, epoch, ?version, "new PEs begin");
        }
        Action::Checkpoint { on_disk, leaving } => {
            debug!(target: CHECKPOINT, node, on_disk, ?leaving, "a checkpoint is asked for");
        }
        _ => debug!(target: CONTROL, node, what = %name(action), "a node does"),
    }
}

/// What a value of an enum is called, without what it has.
fn name<T: Debug>(value: &T) -> impl Display {
    struct Name<'a, T>(&'a T);
    impl<T: Debug> Display for Name<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let mut first = FirstWord(String::new());
            // It ends with the word.
            let _ = write!(first, "{:?}", self.0);
            f.write_str(&first.0)
        }
    }
    Name(value)
}

/// Takes one word, and refuses the rest.
struct FirstWord(String);

impl Write for FirstWord {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let word = text.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        self.0.push_str(word);
        if word.len() < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_contents() {
        assert_eq!(name(&ToLauncher::Alive).to_string(), "Alive");
        assert_eq!(name(&ToLauncher::Failed("secret".into())).to_string(), "Failed");
        assert_eq!(name(&ToNode::Try { inquiry: 3 }).to_string(), "Try");
    }
}
