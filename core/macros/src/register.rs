//! `register!`: instances of generic chares, made known to the program.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Result, Token, Type};

/// `register!(Block<f64>, Block<f32>)`.
pub fn expand(types: TokenStream) -> Result<TokenStream> {
    let types = Punctuated::<Type, Token![,]>::parse_terminated.parse2(types)?;
    Ok(types.iter().map(submit).collect())
}

/// Puts one type on the list that the program reads when it starts.
pub fn submit(ty: &Type) -> TokenStream {
    quote!(::talisman::inventory::submit! { ::talisman::chare::chare_type::<#ty>() })
}
