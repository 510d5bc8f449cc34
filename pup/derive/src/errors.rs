//! Errors are gathered, so that one build shows all of them.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

#[derive(Default)]
pub struct Errors(Vec<Error>);

impl Errors {
    /// An error under the user's own tokens.
    pub fn at(&mut self, tokens: &impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    pub fn at_span(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(Error::new(span, message));
    }

    pub fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One `compile_error!` for each.
    pub fn to_tokens(&self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}
