//! `#[derive(ArrayIndex)]`: a struct of integers as the index of a chare array.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Index, Member, Result, Type};

/// The impls of `ArrayIndex` and `IntoIndex`.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "an array index is a struct of integers"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "an array index has no generic parameters"));
    }
    let members: Vec<Member> = data.fields.iter().enumerate().map(member).collect();
    let types: Vec<&Type> = data.fields.iter().map(|f| &f.ty).collect();
    let bits: Vec<TokenStream> = types.iter().map(|t| quote_spanned!(t.span()=> <#t>::BITS)).collect();
    let too_long =
        format!("`{name}` has more than 128 bits: an element's name must fit into a message's header");
    let take_back = members.iter().zip(&types).zip(&bits).rev().map(|((member, ty), bits)| {
        let least = least(ty);
        quote!(__out.#member = (__bits ^ #least) as #ty; __bits = __bits.checked_shr(#bits).unwrap_or(0);)
    });
    let least = types.iter().map(|ty| least(ty));
    Ok(quote! {
        const _: () = ::core::assert!(0 #(+ #bits)* <= 128, #too_long);
        #[automatically_derived]
        impl ::talisman::ArrayIndex for #name {
            fn to_bits(self) -> u128 {
                let mut __bits = 0u128;
                #(__bits = __bits.checked_shl(#bits).unwrap_or(0)
                    | ((self.#members as i128 as u128 ^ #least) & (u128::MAX >> (128 - #bits)));)*
                __bits
            }
            #[allow(unused_assignments, reason = "after the last field nothing reads the bits that are left")]
            fn from_bits(mut __bits: u128) -> Self {
                let mut __out = #name { #(#members: 0),* };
                #(#take_back)*
                __out
            }
        }
        #[automatically_derived]
        impl ::talisman::IntoIndex<#name> for #name {
            fn into_index(self) -> #name {
                self
            }
        }
    })
}

/// The sign bit of a signed type, and those above it: turned, it makes the order of the bits that of the values.
fn least(ty: &Type) -> TokenStream {
    quote!(<#ty>::MIN as i128 as u128)
}

fn member((at, field): (usize, &syn::Field)) -> Member {
    match &field.ident {
        Some(name) => name.clone().into(),
        None => Index::from(at).into(),
    }
}
