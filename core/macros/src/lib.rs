//! The macros of Talisman: `#[chare]`, `#[talisman::main]`, `register!` and `#[derive(ArrayIndex)]`.
//!
//! Every macro goes the same way: `parse` reads what the user wrote and checks it, `ir` holds it, `expand` writes the
//! code. Async entries have a compiler of their own in `flow`; `core/macros/README.md` tells how it works. Mistakes are
//! gathered in `errors::Errors` and shown next to the rest of the expansion, so that one mistake in one method does
//! not make every other use of the chare an error too.
//!
//! The crate is used through `talisman`, which is also what the generated code names: it contains only absolute
//! `::talisman::…` and `::core::…` / `::std::…` paths, and no `unsafe`.
//!
//! What users read is where the macros are exported (`core/src/macro_docs/`). The examples run as tests there: those of this crate would have
//! all of Talisman built a second time, as what a compiler loads is.

#![allow(missing_docs, reason = "macros are documented where they are exported")]

use proc_macro::TokenStream;

mod equivalence;
mod errors;
mod expand;
mod flow;
mod index;
mod ir;
mod main_fn;
mod parse;
mod register;

#[proc_macro_attribute]
pub fn chare(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(expand::chare_attribute(options.into(), item.into()))
}

#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(main_fn::expand(options.into(), item.into()))
}

#[proc_macro]
pub fn register(types: TokenStream) -> TokenStream {
    or_error(register::expand(types.into()))
}

#[proc_macro_derive(ArrayIndex)]
pub fn derive_array_index(item: TokenStream) -> TokenStream {
    or_error(syn::parse(item).and_then(|item| index::expand(&item)))
}

/// Makes a plain structure a value that virtual MPI ranks can send: its bytes travel. The other proof is `Pup` with
/// `#[pup(plain)]`. Generated code names `::talisman_ampi`.
#[proc_macro_derive(Equivalence)]
pub fn derive_equivalence(item: TokenStream) -> TokenStream {
    or_error(syn::parse(item).map(|item| equivalence::expand(&item)))
}

fn or_error(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}
