//! Writes the code of a chare.

mod chare;
mod entry;
mod flows;
mod inherent;
mod proxy;

use crate::errors::Errors;
use crate::ir::{Chare, Kind, Options};
use crate::parse;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, ItemImpl, Result, Type};

/// `#[chare(…)]` on an impl block.
pub fn chare_attribute(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = parse::chare_options(arguments);
    let block = parse::impl_block(item)?;
    let mut errors = Errors::default();
    let options = options.unwrap_or_else(|error| {
        errors.push(error);
        Options::of(Kind::Array(Box::new(syn::parse_quote!(i32))))
    });
    Ok(expand(options, block, errors)?.code)
}

/// The code of a chare, and what else `#[talisman::main]` wants to know.
pub struct Expanded {
    pub code: TokenStream,
    /// The types of the arguments of the first `#[init]`.
    pub init_types: Vec<Type>,
}

/// Expands a chare's impl block; what is wrong with it is part of the code.
pub fn expand(options: Options, block: ItemImpl, mut errors: Errors) -> Result<Expanded> {
    let chare = parse::chare(options, block, &mut errors)?;
    let flows = flows::expand(&chare, &mut errors);
    let parts = [
        errors.to_tokens(),
        inherent::expand(&chare),
        proxy::expand(&chare),
        entry::expand(&chare, &flows),
        chare::expand(&chare, &flows),
        flows.code,
    ];
    let init_types =
        chare.inits().next().map_or(vec![], |init| init.arg_types().into_iter().cloned().collect());
    Ok(Expanded { code: quote!(#(#parts)*), init_types })
}

/// The chare's generic parameters as arguments: `T, N`.
fn generic_arguments(chare: &Chare) -> Vec<TokenStream> {
    let argument = |param: &GenericParam| match param {
        GenericParam::Type(t) => {
            let name = &t.ident;
            quote!(#name)
        }
        GenericParam::Const(c) => {
            let name = &c.ident;
            quote!(#name)
        }
        GenericParam::Lifetime(l) => {
            let name = &l.lifetime;
            quote!(#name)
        }
    };
    chare.generics.params.iter().map(argument).collect()
}
