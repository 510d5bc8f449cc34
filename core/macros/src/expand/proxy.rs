//! What proxies and builders offer: one method for each entry, one for each init.

use crate::expand::generic_arguments;
use crate::ir::{Chare, Method};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

/// The type that proxies deref to.
pub fn entries_type(chare: &Chare) -> Ident {
    format_ident!("{}Entries", chare.ident)
}

/// The type that builders deref to.
pub fn inits_type(chare: &Chare) -> Ident {
    format_ident!("{}Inits", chare.ident)
}

/// Both types with their methods.
pub fn expand(chare: &Chare) -> TokenStream {
    let (entries, inits) = (entries(chare), inits(chare));
    quote!(#entries #inits)
}

fn entries(chare: &Chare) -> TokenStream {
    let (name, self_ty, params) = (entries_type(chare), &chare.self_ty, parameters(chare));
    let (arguments, bounds) = (generic_arguments(chare), &chare.generics.where_clause);
    let doc = format!("The entries of [`{}`], as its proxies offer them.", chare.ident);
    let methods = chare.entries().map(|m| entry_method(chare, m));
    let target = quote!(#name<#(#arguments,)* __To>);
    quote! {
        #[doc = #doc]
        #[allow(private_bounds, private_interfaces, non_camel_case_types)]
        pub struct #name<#params __To>(__To, ::core::marker::PhantomData<fn() -> #self_ty>) #bounds;
        impl<#params __To: ::core::clone::Clone> ::core::clone::Clone for #target #bounds {
            fn clone(&self) -> Self {
                #name(::core::clone::Clone::clone(&self.0), ::core::marker::PhantomData)
            }
        }
        impl<#params __To: ::core::marker::Copy> ::core::marker::Copy for #target #bounds {}
        impl<#params __To: ::core::marker::Copy> ::talisman::chare::Wrap<__To> for #target #bounds {
            fn wrap(__to: __To) -> Self { #name(__to, ::core::marker::PhantomData) }
            fn __target(&self) -> &__To { &self.0 }
        }
        #[allow(private_bounds, private_interfaces, dead_code, clippy::too_many_arguments)]
        impl<#params __To: ::talisman::chare::SendTo<#self_ty>> #target #bounds { #(#methods)* }
    }
}

fn entry_method(chare: &Chare, method: &Method) -> TokenStream {
    let (docs, vis, name, self_ty) = (&method.docs, &method.vis, &method.name, &chare.self_ty);
    let names = method.arg_names();
    let target = quote!(::talisman::chare::SendTo::<#self_ty>);
    let arguments = quote!(&self.0, <#self_ty>::#name, (#(#names,)*));
    let signature = signature(method);
    if !method.answers() {
        return quote!(#(#docs)* #vis #signature { #target::send(#arguments) });
    }
    let output = super::inherent::output(method);
    quote! {
        #(#docs)*
        #vis #signature -> <__To as ::talisman::chare::SendTo<#self_ty>>::Reply<#output> {
            #target::call(#arguments)
        }
    }
}

/// `fn name(&self, arguments)`, at the place of the method: an error about a call of it points there.
fn signature(method: &Method) -> TokenStream {
    let (name, names, types) = (&method.name, method.arg_names(), method.arg_types());
    // `self` as in the body, also where the method comes out of a `macro_rules!`.
    let receiver = quote!(&self);
    quote_spanned!(name.span()=> fn #name(#receiver, #(#names: #types),*))
}

fn inits(chare: &Chare) -> TokenStream {
    let (name, self_ty, params) = (inits_type(chare), &chare.self_ty, parameters(chare));
    let (arguments, bounds) = (generic_arguments(chare), &chare.generics.where_clause);
    let methods = chare.inits().enumerate().map(|(number, m)| init_method(chare, number, m));
    let target = quote!(#name<#(#arguments,)* __To>);
    quote! {
        #[doc(hidden)]
        #[allow(private_bounds, private_interfaces, non_camel_case_types)]
        pub struct #name<#params __To>(__To, ::core::marker::PhantomData<fn() -> #self_ty>) #bounds;
        impl<#params __To> ::talisman::chare::WrapInit<__To> for #target #bounds {
            fn wrap(__to: __To) -> Self { #name(__to, ::core::marker::PhantomData) }
            fn __target(&self) -> &__To { &self.0 }
        }
        #[allow(private_bounds, private_interfaces, dead_code)]
        #[allow(clippy::too_many_arguments, clippy::wrong_self_convention, clippy::new_ret_no_self)]
        impl<#params __To: ::talisman::chare::Create<#self_ty>> #target #bounds { #(#methods)* }
    }
}

fn init_method(chare: &Chare, number: usize, method: &Method) -> TokenStream {
    let (docs, vis, self_ty, signature) = (&method.docs, &method.vis, &chare.self_ty, signature(method));
    let (names, number) = (method.arg_names(), number as u16);
    quote! {
        #(#docs)*
        #vis #signature -> __To::Made {
            ::talisman::chare::Create::<#self_ty>::create(&self.0, #number, (#(#names,)*))
        }
    }
}

/// The chare's generic parameters with a comma after the last, to go before ours.
fn parameters(chare: &Chare) -> TokenStream {
    let params = chare.generics.params.iter();
    quote!(#(#params,)*)
}
