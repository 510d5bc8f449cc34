//! What a PE that runs again is told in the midst of a step: values of the world; and whether what it sends is what it
//! sent.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::item::Sent;
use talisman_base::ids::PeId;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Command;
use talisman_kernel::wire;
use talisman_pup::Segment;

/// Shared by a PE that runs again, and who runs it.
#[derive(Clone, Default)]
pub(super) struct Expectations(Rc<RefCell<Expected>>);

#[derive(Default)]
struct Expected {
    values: VecDeque<Vec<u8>>,
    sent: VecDeque<Sent>,
    /// What came of the step need not be all there.
    is_last: bool,
    /// The frame that is sent next has bytes that nothing determines.
    is_undetermined: bool,
    /// Messages that were the same so far.
    compared: u64,
    difference: Option<String>,
}

impl Expectations {
    pub(super) fn recorder(&self) -> Box<dyn Recorder> {
        Box::new(self.clone())
    }

    /// A step begins in which the PE had read and sent this.
    pub(super) fn expect(&self, values: VecDeque<Vec<u8>>, sent: VecDeque<Sent>, is_last: bool) {
        let mut expected = self.0.borrow_mut();
        (expected.values, expected.sent, expected.is_last) = (values, sent, is_last);
        expected.is_undetermined = false;
    }

    /// The step is over: how many messages were compared so far.
    ///
    /// # Errors
    /// What is not as it was.
    pub(super) fn check(&self, pe: &Pe, who: &str) -> Result<u64, String> {
        let mut expected = self.0.borrow_mut();
        if let Some(difference) = expected.difference.take() {
            return Err(difference);
        }
        match expected.sent.front() {
            Some(sent) => Err(format!("{who} had sent {}, and does not now", describe(pe, sent))),
            None if !expected.values.is_empty() => {
                Err(format!("{who} had read more values of the world than it does now"))
            }
            None => Ok(expected.compared),
        }
    }
}

impl Expected {
    fn differ(&mut self, difference: impl FnOnce() -> String) {
        if self.difference.is_none() {
            self.difference = Some(difference());
        }
    }
}

/// What a frame was, for people.
fn describe(pe: &Pe, sent: &Sent) -> String {
    format!("PE {} {} bytes: {}", sent.to, sent.bytes, wire::describe(pe, &sent.head))
}

/// Whether a frame is what it was. Of one with bytes that nothing determines it is looked at what it is for.
fn is_same(pe: &Pe, was: &Sent, is: &Sent) -> bool {
    let meant = |sent: &Sent| (sent.to, sent.is_determined, wire::describe(pe, &sent.head));
    match was.is_determined && is.is_determined {
        true => was == is,
        false => meant(was) == meant(is),
    }
}

/// What is different of two frames that are.
fn difference(pe: &Pe, was: &Sent, is: &Sent) -> String {
    let at = was.head.iter().zip(&is.head).position(|(one, other)| one != other);
    match at {
        _ if was.to != is.to || was.bytes != is.bytes => format!("that was {}", describe(pe, was)),
        Some(at) => format!("byte {at} of as many is the first that is another"),
        None => "as many bytes had other contents".into(),
    }
}

impl Recorder for Expectations {
    fn time(&self, _: u64) {}
    fn runs(&self) {}
    fn timers(&self) {}
    fn rests(&self) {}
    fn idle(&self, _: u64, _: u64) {}
    fn asked(&self, _: &Command) {}
    fn value(&self, _: Vec<u8>) {}

    fn value_again(&self) -> Option<Vec<u8>> {
        let mut expected = self.0.borrow_mut();
        let value = expected.values.pop_front();
        if value.is_none() && !expected.is_last {
            expected.differ(|| "the program asks for more values of the world than it did".into());
        }
        value
    }

    fn runs_again(&self) -> bool {
        true
    }

    fn runs_alone(&self) -> bool {
        true
    }

    fn packs_undetermined(&self) {
        self.0.borrow_mut().is_undetermined = true;
    }

    fn sends(&self, pe: &Pe, to: PeId, head: &[u8], segments: &[Segment]) {
        let (is, who) = (Sent::of(to, head, segments), pe.who_runs());
        let mut expected = self.0.borrow_mut();
        let is = if std::mem::take(&mut expected.is_undetermined) { is.undetermined() } else { is };
        match expected.sent.pop_front() {
            Some(was) if is_same(pe, &was, &is) => expected.compared += 1,
            Some(was) => expected
                .differ(|| format!("{who} sends {}; {}", describe(pe, &is), difference(pe, &was, &is))),
            None if expected.is_last => {}
            None => expected.differ(|| format!("{who} sends {}, and did not before", describe(pe, &is))),
        }
    }
}
