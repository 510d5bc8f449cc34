//! `#[derive(Equivalence)]`: a plain structure as a value of MPI messages.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

/// The impl of `Equivalence`. That the structure is plain is what its supertrait demands.
pub fn expand(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let (generics, of_type, bounds) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::talisman_ampi::api::traits::Equivalence for #name #of_type #bounds {}
    }
}
