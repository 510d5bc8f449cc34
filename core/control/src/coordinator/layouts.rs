//! Whether the processes of a job have everything at the same addresses, where the program needs that.

use talisman_base::layout::mark::{LayoutMark, compare, in_words};

/// The layout that all have to have, once it is known, and whose it is.
#[derive(Debug, Default)]
pub(super) struct Layouts(Option<(String, LayoutMark)>);

impl Layouts {
    /// Of a job that has one from before, if it has.
    pub(super) fn known(whose: &str, mark: Option<&LayoutMark>) -> Self {
        Layouts(mark.map(|mark| (whose.to_owned(), mark.clone())))
    }

    /// A process that is called so says what its layout is, if its program needs one; the first one decides. Gives what
    /// is wrong with it.
    pub(super) fn on_hello(&mut self, name: &str, mark: Option<LayoutMark>) -> Option<String> {
        let mark = mark?;
        let (whose, first) = self.0.get_or_insert_with(|| (name.to_owned(), mark.clone()));
        let differences = compare(&mark, first);
        (!differences.is_empty()).then(|| {
            format!(
                "its addresses differ from those of {whose}, so that nothing can move there: {}; run the same program \
                 with the same libraries on processors and kernels that are alike",
                in_words(&differences)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(thread_pointer: u64) -> LayoutMark {
        LayoutMark { thread_pointer, ..LayoutMark::default() }
    }

    #[test]
    fn the_first_one_decides() {
        let mut layouts = Layouts::default();
        assert_eq!(layouts.on_hello("node 1", None), None);
        assert_eq!(layouts.on_hello("node 1", Some(mark(1))), None);
        assert_eq!(layouts.on_hello("node 0", Some(mark(1))), None);
        let why = layouts.on_hello("node 2", Some(mark(2))).unwrap();
        assert!(why.contains("those of node 1") && why.contains("0x2 here, 0x1 there"), "{why}");
    }

    #[test]
    fn a_checkpoint_decides_before_anybody() {
        let mut layouts = Layouts::known("the checkpoint", Some(&mark(1)));
        assert!(layouts.on_hello("node 0", Some(mark(2))).unwrap().contains("those of the checkpoint"));
        assert_eq!(Layouts::known("the checkpoint", None).on_hello("node 0", Some(mark(2))), None);
    }
}
