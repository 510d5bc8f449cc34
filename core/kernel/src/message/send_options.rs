//! How a message is sent, beside what it says: most often as all others, or with an integer as its priority.
//!
//! That much is in the envelope. What few messages need beside it is a box of its own, which costs as much as a message.

use super::envelope::Extra;
use crate::entry_info::{EntryInfo, EntryOptions};
use talisman_sched::priority::Priority;

/// In place of a priority: before everything that waits.
pub const EXPEDITED: i16 = i16::MIN;

/// How a message is sent, beside what it says.
#[derive(Default)]
pub struct SendOptions {
    /// As in [`Envelope`](super::envelope::Envelope).
    pub priority: i16,
    pub extra: Option<Box<Extra>>,
}

impl SendOptions {
    /// Before everything that waits.
    pub const EXPEDITED: SendOptions = SendOptions { priority: EXPEDITED, extra: None };

    /// With this priority.
    #[inline]
    pub fn with_priority(priority: &Priority) -> SendOptions {
        match priority.to_int().and_then(fitting) {
            Some(priority) => SendOptions { priority, extra: None },
            None => Extra { priority: Some(priority.clone()), ..Extra::default() }.into(),
        }
    }

    /// What its entry says holds where the call says nothing else.
    #[inline(always)]
    pub fn or_of(self, entry: &EntryInfo) -> SendOptions {
        let EntryOptions { priority, expedited } = entry.options;
        if priority == 0 && !expedited { self } else { self.with_options(priority, expedited) }
    }

    fn with_options(self, priority: i32, expedited: bool) -> SendOptions {
        match (self.is_plain(), expedited, fitting(priority)) {
            (true, true, _) => SendOptions::EXPEDITED,
            (true, false, Some(priority)) => SendOptions { priority, extra: None },
            _ => {
                let mut extra = self.spelled_out().unwrap_or_default();
                extra.expedited |= expedited;
                extra.priority.get_or_insert_with(|| Priority::int(priority));
                SendOptions { priority: 0, extra: Some(extra) }
            }
        }
    }

    /// Whether nothing was said.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.priority == 0 && self.extra.is_none()
    }

    /// All of it in the form that has room for everything.
    pub fn spelled_out(self) -> Option<Box<Extra>> {
        if self.priority == 0 {
            return self.extra;
        }
        let mut extra = self.extra.unwrap_or_default();
        match self.priority {
            EXPEDITED => extra.expedited = true,
            priority => extra.priority = Some(Priority::int(priority.into())),
        }
        Some(extra)
    }
}

/// A priority as an envelope has it, if it fits there.
#[inline]
fn fitting(priority: i32) -> Option<i16> {
    i16::try_from(priority).ok().filter(|priority| ![0, EXPEDITED].contains(priority))
}

impl From<Extra> for SendOptions {
    fn from(extra: Extra) -> SendOptions {
        SendOptions { priority: 0, extra: Some(Box::new(extra)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The priority, and whether it is expedited, as spelled out; and whether it took a box.
    fn told(options: SendOptions) -> (Option<Option<i32>>, bool, bool) {
        let boxed = options.extra.is_some();
        let extra = options.spelled_out().unwrap_or_default();
        (extra.priority.map(|priority| priority.to_int()), extra.expedited, boxed)
    }

    #[test]
    fn what_fits_takes_no_box() {
        let of = |priority| told(SendOptions::with_priority(&Priority::int(priority)));
        assert_eq!(told(SendOptions::default()), (None, false, false));
        assert_eq!(told(SendOptions::EXPEDITED), (None, true, false));
        assert_eq!(of(-7), (Some(Some(-7)), false, false));
        assert_eq!(of(32_767), (Some(Some(32_767)), false, false));
        // One that is said goes before what the entry says, also if it is the default one.
        assert_eq!(of(0), (Some(Some(0)), false, true));
        for large in [i32::from(EXPEDITED), 32_768, i32::MIN] {
            assert_eq!(of(large), (Some(Some(large)), false, true));
        }
        let long = Priority::bits([true; 99]);
        assert_eq!(told(SendOptions::with_priority(&long)), (Some(None), false, true));
    }

    #[test]
    fn what_an_entry_says_holds_where_the_call_says_nothing() {
        let said = |priority| SendOptions::with_priority(&Priority::int(priority));
        let reply = || SendOptions::from(Extra::default());
        assert_eq!(told(SendOptions::default().with_options(5, false)), (Some(Some(5)), false, false));
        assert_eq!(told(SendOptions::default().with_options(5, true)), (None, true, false));
        assert_eq!(told(said(3).with_options(5, false)), (Some(Some(3)), false, true));
        assert_eq!(told(said(0).with_options(5, false)), (Some(Some(0)), false, true));
        assert_eq!(told(said(3).with_options(0, true)), (Some(Some(3)), true, true));
        assert!(told(SendOptions::EXPEDITED.with_options(5, false)).1);
        assert_eq!(told(reply().with_options(5, false)), (Some(Some(5)), false, true));
    }
}
