//! Agents without a launcher that have come to one that may have one.
//!
//! Whoever has a launcher asks it first whether it is there: one that has died may not be known to have. If it is, whoever came has been
//! lost by it.
//!
//! Pure: a caller is whatever can be told something.

/// Those that wait for an answer, each with the number of the question that is to be answered first.
#[derive(Debug)]
pub struct Inquiries<C> {
    waiting: Vec<(u64, C)>,
    questions: u64,
}

/// Nobody has come yet.
impl<C> Default for Inquiries<C> {
    fn default() -> Self {
        Inquiries { waiting: Vec::new(), questions: 0 }
    }
}

impl<C> Inquiries<C> {
    /// Somebody has come: the number of the question that the launcher is to be asked, once there is one.
    pub fn on_come(&mut self, caller: C) -> u64 {
        self.questions += 1;
        self.waiting.push((self.questions, caller));
        self.questions
    }

    /// The launcher was there when this was asked: those that had come by then are out.
    pub fn on_here(&mut self, number: u64) -> Vec<C> {
        self.waiting.extract_if(.., |(asked, _)| *asked <= number).map(|(_, caller)| caller).collect()
    }

    /// What another launcher has to be asked, as the one before.
    pub fn questions(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|(number, _)| *number)
    }

    /// Those that are still there are told that somebody is.
    pub fn keep(&mut self, mut tell: impl FnMut(&mut C) -> bool) {
        self.waiting.retain_mut(|(_, caller)| tell(caller));
    }

    /// They are sent away, to come again: somebody else listens now.
    pub fn clear(&mut self) -> Vec<C> {
        std::mem::take(&mut self.waiting).into_iter().map(|(_, caller)| caller).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_came_before_the_question_is_out_and_who_came_later_waits() {
        let mut callers = Inquiries::default();
        let asked = ['a', 'b', 'c'].map(|caller| callers.on_come(caller));
        assert_eq!(asked, [1, 2, 3]);
        assert_eq!(callers.on_here(2), ['a', 'b']);
        assert_eq!(callers.questions().collect::<Vec<_>>(), [3], "another launcher is asked this");
        assert_eq!(callers.on_here(2), [' '; 0]);
        assert_eq!(callers.clear(), ['c']);
    }

    #[test]
    fn who_has_gone_is_not_told_any_more() {
        let mut callers = Inquiries::default();
        for caller in ['a', 'b'] {
            callers.on_come(caller);
        }
        callers.keep(|caller| *caller == 'b');
        assert_eq!(callers.clear(), ['b']);
    }
}
