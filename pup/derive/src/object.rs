//! `#[pup_object]`: boxed trait objects.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Item, ItemImpl, ItemTrait, parse_quote};

use crate::errors::Errors;

const WHERE: &str = "`#[pup_object]` goes on a trait, and on each `impl Trait for Type`";

/// The item stays, whatever is wrong, so that no other code complains that it is missing.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    if !arguments.is_empty() {
        errors.at(&arguments, "`#[pup_object]` takes no arguments");
    }
    let expanded = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Trait(t)) => on_trait(t, &mut errors),
        Ok(Item::Impl(i)) => on_impl(&i, &mut errors),
        Ok(other) => {
            errors.at_span(first_token(&other), WHERE);
            item
        }
        Err(error) => {
            errors.push(error);
            item
        }
    };
    let errors = errors.to_tokens();
    quote!(#expanded #errors)
}

fn first_token(item: &Item) -> proc_macro2::Span {
    quote!(#item).into_iter().next().map_or_else(proc_macro2::Span::call_site, |token| token.span())
}

fn on_trait(mut item: ItemTrait, errors: &mut Errors) -> TokenStream {
    item.supertraits.push(parse_quote!(::talisman::pup::Object));
    if !item.generics.params.is_empty() {
        errors.at(&item.generics, "a `#[pup_object]` trait has no generic parameters: messages name it");
        return quote!(#item);
    }
    let name = &item.ident;
    let text = name.to_string();
    quote! {
        #item

        #[automatically_derived]
        impl ::talisman::pup::Named for dyn #name {
            const KEY: u64 = ::talisman::pup::key(::core::concat!(::core::module_path!(), "::", #text));
            fn name() -> ::std::string::String {
                ::std::string::String::from(::core::concat!(::core::module_path!(), "::", #text))
            }
        }

        #[automatically_derived]
        impl ::talisman::pup::Pup for ::std::boxed::Box<dyn #name> {
            const MIN_SIZE: usize = 8;
            fn pack(&self, p: &mut ::talisman::pup::Packer) {
                ::talisman::pup::pack_object::<dyn #name>(&**self, p)
            }
            fn unpack(
                u: &mut ::talisman::pup::Unpacker<'_>,
            ) -> ::core::result::Result<Self, ::talisman::pup::PupError> {
                ::talisman::pup::unpack_object::<dyn #name>(#text, u)
            }
        }
    }
}

fn on_impl(item: &ItemImpl, errors: &mut Errors) -> TokenStream {
    let Some((_, path, _)) = &item.trait_ else {
        errors.at(&item.self_ty, WHERE);
        return quote!(#item);
    };
    if !item.generics.params.is_empty() {
        errors.at(
            &item.generics,
            "only a concrete type can be registered: write `impl Trait for Type<f64>` for each instance that travels",
        );
        return quote!(#item);
    }
    let ty = &item.self_ty;
    let text = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    let span = ty.span().resolved_at(proc_macro2::Span::call_site());
    let unpack = quote_spanned!(span=> <#ty as ::talisman::pup::Pup>::unpack(u));
    let name = quote_spanned!(span=> <#ty as ::talisman::pup::Named>::name);
    quote! {
        #item

        ::talisman::pup::inventory::submit! {
            ::talisman::pup::ObjectEntry {
                of: || ::std::any::TypeId::of::<dyn #path>(),
                trait_name: #text,
                name: #name,
                place: (::core::file!(), ::core::line!()),
                unpack: |u| {
                    let object: ::std::boxed::Box<dyn #path> = ::std::boxed::Box::new(#unpack?);
                    ::core::result::Result::Ok(::std::boxed::Box::new(object))
                },
            }
        }
    }
}
