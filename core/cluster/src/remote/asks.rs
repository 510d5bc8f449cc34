//! What a host was asked about files, and has not answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::message::ToAgent;
use talisman_store::files::remote::{Answer, Ask};

/// Whoever waits for an answer hears of it that there will be none by the end of its channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Answer>>,
}

impl Asks {
    /// Asks the host, by whatever says things to it and knows whether that can be done.
    pub(super) fn ask(&self, ask: Ask, say: impl FnOnce(ToAgent) -> bool) -> oneshot::Receiver<Answer> {
        let (answer, answered) = oneshot::channel();
        let number = {
            let mut open = self.lock();
            open.next += 1;
            let number = open.next;
            open.waiting.insert(number, answer);
            number
        };
        if !say(ToAgent::Ask(number, ask)) {
            self.lock().waiting.remove(&number);
        }
        answered
    }

    /// An answer has come; one that nobody waits for is dropped.
    pub(super) fn on_answer(&self, number: u64, answer: Answer) {
        if let Some(waiting) = self.lock().waiting.remove(&number) {
            let _ = waiting.send(answer);
        }
    }

    /// No more will come. The host is not to be talked to any more by now.
    pub(super) fn give_up(&self) {
        self.lock().waiting.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Nothing in a critical section panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use talisman_store::disk::KeyFile;
    use talisman_store::files::remote::What;

    #[test]
    fn every_question_is_answered_or_given_up() {
        let (asks, mut said) = (Asks::default(), Vec::new());
        let mut ask = |is_there| {
            asks.ask(Ask::of((Path::new("/x"), &KeyFile::default()), What::List), |message| {
                said.push(message);
                is_there
            })
        };
        let (mut first, mut second, mut third) = (ask(true), ask(true), ask(false));
        assert!(third.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        asks.on_answer(2, Answer::Checked(vec![]));
        asks.on_answer(2, Answer::Checked(vec![None]));
        asks.on_answer(9, Answer::Checked(vec![]));
        assert_eq!(second.try_recv(), Ok(Answer::Checked(vec![])));
        assert_eq!(first.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        asks.give_up();
        assert_eq!(first.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(matches!(said[..], [ToAgent::Ask(1, _), ToAgent::Ask(2, _), ToAgent::Ask(3, _)]));
    }
}
