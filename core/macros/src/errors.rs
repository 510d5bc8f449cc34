//! Gathers mistakes so that one build shows all of them.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;
use syn::Error;

/// The mistakes found so far.
#[derive(Default)]
pub struct Errors {
    all: Option<Error>,
    count: usize,
}

impl Errors {
    /// Adds a mistake at the given source tokens.
    pub fn at(&mut self, at: &impl ToTokens, message: impl Display) {
        self.push(Error::new_spanned(at, message));
    }

    /// Adds a mistake.
    pub fn push(&mut self, error: Error) {
        self.count += 1;
        match &mut self.all {
            Some(all) => all.combine(error),
            None => self.all = Some(error),
        }
    }

    /// How many there are: two readings tell whether the code between them found one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The mistakes as `compile_error!` calls, to stand next to the rest of the expansion.
    pub fn to_tokens(&self) -> TokenStream {
        self.all.as_ref().map(Error::to_compile_error).unwrap_or_default()
    }

    /// The messages, for tests.
    #[cfg(test)]
    pub fn messages(&self) -> Vec<String> {
        self.all.iter().flat_map(|all| all.clone().into_iter()).map(|e| e.to_string()).collect()
    }
}
