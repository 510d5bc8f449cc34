//! What a suspended rank waits for, and looking at requests without waiting.

use talisman_pup::Pup;

use super::request::{Owner, State, UnknownRequest};
use super::{Action, Actions, Buffer, Engine, Pattern, Status, Token};

/// What a rank is suspended for.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Condition {
    /// This request has ended: the usual one, without a list.
    One(Token),
    /// All these requests have ended.
    All(Vec<Token>),
    /// One of these requests has ended.
    Any(Vec<Token>),
    /// A message is there that this accepts.
    Message(Pattern),
    /// A message that this accepts has come, and its bytes are here: see [`Engine::await_message`].
    Receive(Pattern, Buffer),
}

/// A condition that does not hold yet.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub(super) struct Waiting {
    pub(super) condition: Condition,
    /// How many requests have to end until it holds.
    pub(super) missing: usize,
}

/// What is found among several requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyOf {
    /// None of them is active: there is nothing to wait for.
    Nothing,
    /// None has ended yet.
    Pending,
    /// The one at this place has.
    Done(usize, Status),
}

impl Engine {
    /// Says what the rank waits for. Returns whether it holds already; if not, [`Action::Wake`] comes as soon as it
    /// does, once.
    #[must_use = "the rank is suspended only if this is false"]
    pub fn block_on(&mut self, condition: Condition) -> bool {
        let missing = match &condition {
            Condition::One(request) => usize::from(self.mark_awaited(*request)),
            Condition::All(requests) => {
                requests.iter().filter(|request| self.mark_awaited(**request)).count()
            }
            Condition::Any(requests) => usize::from(self.none_ended(requests)),
            Condition::Message(pattern) => usize::from(self.unexpected.peek(pattern).is_none()),
            Condition::Receive(..) => 1,
        };
        if let (Condition::Any(requests), 1) = (&condition, missing) {
            requests.iter().for_each(|request| {
                self.mark_awaited(*request);
            });
        }
        self.waiting = (missing > 0).then_some(Waiting { condition, missing });
        missing == 0
    }

    /// Whether this holds, for somebody else than who is suspended.
    pub fn holds(&self, condition: &Condition) -> bool {
        let is_active = |token: &Token| {
            let request = self.requests.get(*token);
            request.is_some_and(|request| !matches!(request.state, State::Complete(_) | State::Inactive))
        };
        match condition {
            Condition::One(request) => !is_active(request),
            Condition::All(requests) => !requests.iter().any(is_active),
            Condition::Any(requests) => !self.none_ended(requests),
            Condition::Message(pattern) => self.unexpected.peek(pattern).is_some(),
            // Made for who is suspended only.
            Condition::Receive(..) => false,
        }
    }

    /// What the rank waits for, if it does.
    pub fn waits_for(&self) -> Option<&Condition> {
        self.waiting.as_ref().map(|waiting| &waiting.condition)
    }

    /// Whether a request has ended; then it is gone, or inactive if it is persistent. An inactive one gives an empty
    /// status.
    ///
    /// # Errors
    /// If there is no such request.
    pub fn test(&mut self, token: Token) -> Result<Option<Status>, UnknownRequest> {
        let request = self.requests.known(token)?;
        match request.state {
            State::Complete(status) if request.plan.is_some() => {
                request.state = State::Inactive;
                Ok(Some(status))
            }
            State::Complete(status) => {
                self.requests.remove(token);
                Ok(Some(status))
            }
            State::Inactive => Ok(Some(Status::EMPTY)),
            _ => Ok(None),
        }
    }

    /// As [`Engine::test`], but the request stays as it is (`MPI_Request_get_status`).
    ///
    /// # Errors
    /// If there is no such request.
    pub fn status(&self, token: Token) -> Result<Option<Status>, UnknownRequest> {
        let request = self.requests.get(token).ok_or(UnknownRequest(token))?;
        Ok(match request.state {
            State::Complete(status) => Some(status),
            State::Inactive => Some(Status::EMPTY),
            _ => None,
        })
    }

    /// Whether a request was begun and not waited for: one that is persistent need not be.
    ///
    /// # Errors
    /// If there is no such request.
    pub fn is_active(&self, token: Token) -> Result<bool, UnknownRequest> {
        let request = self.requests.get(token).ok_or(UnknownRequest(token))?;
        Ok(request.state != State::Inactive)
    }

    /// The first of several requests that has ended. `None` stands for a null request.
    ///
    /// # Errors
    /// If one is not there.
    pub fn test_any(&mut self, tokens: &[Option<Token>]) -> Result<AnyOf, UnknownRequest> {
        let mut active = false;
        for (at, token) in tokens.iter().enumerate() {
            let Some(token) = *token else { continue };
            let request = self.requests.known(token)?;
            if let State::Complete(status) = request.state {
                self.test(token)?;
                return Ok(AnyOf::Done(at, status));
            }
            active |= request.state != State::Inactive;
        }
        Ok(if active { AnyOf::Pending } else { AnyOf::Nothing })
    }

    /// All of several requests that have ended, with their places; `None` if none of them is active.
    ///
    /// # Errors
    /// If one is not there.
    pub fn test_some(
        &mut self,
        tokens: &[Option<Token>],
    ) -> Result<Option<Vec<(usize, Status)>>, UnknownRequest> {
        let (mut active, mut ended) = (false, Vec::new());
        for (at, token) in tokens.iter().enumerate() {
            let Some(token) = *token else { continue };
            let state = self.requests.known(token)?.state;
            active |= state != State::Inactive;
            if let State::Complete(status) = state {
                self.test(token)?;
                ended.push((at, status));
            }
        }
        Ok(active.then_some(ended))
    }

    /// The statuses of several requests if all have ended; else they stay as they are.
    ///
    /// # Errors
    /// If one is not there.
    pub fn test_all(&mut self, tokens: &[Option<Token>]) -> Result<Option<Vec<Status>>, UnknownRequest> {
        for token in tokens.iter().flatten() {
            if self.status(*token)?.is_none() {
                return Ok(None);
            }
        }
        let test = |token: &Option<Token>| match token {
            None => Ok(Status::EMPTY),
            Some(token) => self.test(*token).map(|status| status.unwrap_or(Status::EMPTY)),
        };
        tokens.iter().map(test).collect::<Result<_, _>>().map(Some)
    }

    /// Ends a request and tells who waits for it.
    pub(super) fn complete(&mut self, token: Token, status: Status, out: &mut Actions) {
        let Some(request) = self.requests.get_mut(token) else { return };
        request.state = State::Complete(status);
        let awaited = std::mem::take(&mut request.awaited);
        match request.owner {
            Owner::User if awaited => self.one_less(out),
            Owner::User => {}
            Owner::Schedule(schedule) => {
                self.requests.remove(token);
                self.finished.push_back((schedule, status));
            }
            Owner::Part(part) => {
                self.requests.remove(token);
                self.ended_parts.push_back(part);
            }
            Owner::Nobody => {
                self.requests.remove(token);
                // Who takes leave of a communicator waits for what was freed, too.
                if awaited {
                    self.one_less(out);
                }
            }
        }
    }

    /// A message was put among the unexpected ones.
    pub(super) fn message_kept(&mut self, head: &super::Head, out: &mut Actions) {
        if let Some(Waiting { condition: Condition::Message(pattern), .. }) = &self.waiting
            && pattern.accepts(head)
        {
            self.one_less(out);
        }
    }

    fn one_less(&mut self, out: &mut Actions) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.missing = waiting.missing.saturating_sub(1);
        if waiting.missing == 0 {
            self.stop_waiting();
            out.push(Action::Wake);
        }
    }

    fn stop_waiting(&mut self) {
        let Some(Waiting { condition: Condition::Any(requests), .. }) = self.waiting.take() else { return };
        for token in requests {
            if let Some(request) = self.requests.get_mut(token) {
                request.awaited = false;
            }
        }
    }

    /// Returns whether it is one more to wait for: active, and not marked yet.
    fn mark_awaited(&mut self, token: Token) -> bool {
        let Some(request) = self.requests.get_mut(token) else { return false };
        let active = !matches!(request.state, State::Complete(_) | State::Inactive);
        active && !std::mem::replace(&mut request.awaited, true)
    }

    /// Whether there is an active request and none that has ended.
    fn none_ended(&self, tokens: &[Token]) -> bool {
        let states =
            || tokens.iter().filter_map(|token| self.requests.get(*token)).map(|request| request.state);
        let active = states().any(|state| !matches!(state, State::Inactive | State::Complete(_)));
        active && !states().any(|state| matches!(state, State::Complete(_)))
    }
}
