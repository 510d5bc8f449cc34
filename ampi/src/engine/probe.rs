//! Looking at messages before they are received.

use talisman_pup::Pup;

use super::request::{Owner, Request, State, Status};
use super::{Actions, Buffer, Engine, Head, Pattern, Token};

/// A message that a matched probe has taken out: only [`Engine::receive_held`] gets it (`MPI_Message`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub struct Held(u64);

impl Engine {
    /// The status that a receive with this pattern would have now (`MPI_Iprobe`).
    pub fn probe(&self, pattern: &Pattern) -> Option<Status> {
        self.unexpected.peek(pattern).map(|message| probed(&message.head))
    }

    /// Whether a request has ended that the program has not seen end.
    pub fn has_unseen_end(&self) -> bool {
        let is_unseen =
            |request: &Request| request.owner == Owner::User && matches!(request.state, State::Complete(_));
        self.requests.iter().any(|(_, request)| is_unseen(request))
    }

    /// Takes the message out that a receive with this pattern would get now (`MPI_Improbe`).
    pub fn matched_probe(&mut self, pattern: &Pattern) -> Option<(Held, Status)> {
        let message = self.unexpected.take(pattern)?;
        let (held, status) = (Held(self.next_held), probed(&message.head));
        self.next_held += 1;
        self.held.insert(held, message);
        Some((held, status))
    }

    /// Begins to receive a message that a matched probe has taken out (`MPI_Imrecv`). `None` if it was received before.
    pub fn receive_held(
        &mut self,
        held: Held,
        buffer: Buffer,
        owner: Owner,
        out: &mut Actions,
    ) -> Option<Token> {
        let message = self.held.remove(&held)?;
        let token = self.requests.insert(owner, None, State::Opened);
        self.accept(message, token, buffer, out);
        Some(token)
    }
}

fn probed(head: &Head) -> Status {
    Status { source: Some(head.source), tag: Some(head.tag), bytes: head.bytes, ..Status::EMPTY }
}
