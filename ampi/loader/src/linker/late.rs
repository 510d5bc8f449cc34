//! What the process answers for libraries that are loaded later.

use std::sync::OnceLock;

use super::handles::answer;
use crate::{Imports, Program};

static IMPORTS: OnceLock<&'static (dyn Imports + Sync)> = OnceLock::new();

/// Says what libraries that ranks load later are answered: as a rule the [`Imports`] that the program was prepared
/// with. Without it they are answered what [`crate::answer_names`] was given, where no library defines it. Once for a
/// process: false if it was said before.
pub fn answer_later(imports: &'static (dyn Imports + Sync)) -> bool {
    IMPORTS.set(imports).is_ok()
}

/// For a library that a rank of this program loads.
pub fn late_imports(program: &Program) -> LateImports<'_> {
    LateImports(program)
}

pub struct LateImports<'a>(&'a Program);

impl Imports for LateImports<'_> {
    fn answers_for(&self, soname: &str) -> bool {
        let known = self.0.sonames_answered().iter().any(|answered| answered == soname);
        known || IMPORTS.get().is_some_and(|imports| imports.answers_for(soname))
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        IMPORTS.get()?.symbol(name)
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        match IMPORTS.get() {
            Some(imports) => imports.fallback(name),
            None => answer(name),
        }
    }
}
