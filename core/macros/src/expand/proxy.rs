//! What proxies and builders offer: one method for each entry, one for each init.

use crate::expand::generic_arguments;
use crate::ir::{Chare, Method, Role};
use proc_macro2::{Span, TokenStream};
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
        #[allow(
            private_bounds, private_interfaces, non_camel_case_types,
            reason = "the chare and its types may be private"
        )]
        pub struct #name<#params __To>(__To, ::core::marker::PhantomData<fn() -> #self_ty>) #bounds;
        #[allow(clippy::expl_impl_clone_on_copy, reason = "a derived one would ask it of the chare")]
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
        #[allow(
            private_bounds, private_interfaces, dead_code, deprecated, clippy::too_many_arguments,
            reason = "the methods are the user's entries"
        )]
        impl<#params __To: ::talisman::chare::SendTo<#self_ty>> #target #bounds { #(#methods)* }
    }
}

fn entry_method(chare: &Chare, method: &Method) -> TokenStream {
    let (name, names, self_ty) = (&method.name, method.arg_names(), &chare.self_ty);
    let target = quote!(::talisman::chare::SendTo::<#self_ty>);
    let arguments = quote!(&self.0, <#self_ty>::#name, (#(#names,)*));
    if !method.answers() {
        return match method.role {
            Role::Receive => {
                offered(method, quote_spanned!(place(method)=> ()), quote!(#target::post(#arguments)))
            }
            _ => {
                let sent =
                    quote_spanned!(place(method)=> <__To as ::talisman::chare::SendTo<#self_ty>>::Sent);
                offered(method, sent, quote!(#target::send(#arguments)))
            }
        };
    }
    let output = super::inherent::output(method);
    let reply = quote_spanned!(place(method)=> <__To as ::talisman::chare::SendTo<#self_ty>>::Reply<#output>);
    offered(method, reply, quote!(#target::call(#arguments)))
}

/// The method that proxies or builders offer, at the place of the user's: an error about a call of it points there.
fn offered(method: &Method, result: TokenStream, body: TokenStream) -> TokenStream {
    let (docs, vis, name) = (&method.docs, &method.vis, &method.name);
    let (names, types) = (method.arg_names(), method.arg_types());
    let method = quote_spanned!(place(method)=> fn #name(&self, #(#names: #types),*) -> #result { #body });
    quote!(#(#docs)* #vis #method)
}

/// The place of the user's method, for code that is ours: linters know the difference.
fn place(method: &Method) -> Span {
    Span::call_site().located_at(method.name.span())
}

fn inits(chare: &Chare) -> TokenStream {
    let (name, self_ty, params) = (inits_type(chare), &chare.self_ty, parameters(chare));
    let (arguments, bounds) = (generic_arguments(chare), &chare.generics.where_clause);
    let methods = chare.inits().enumerate().map(|(number, m)| init_method(chare, number, m));
    let taken = |name: &Ident| chare.inits().any(|init| init.name == *name);
    let too_early = chare.entries().filter(|m| !taken(&m.name)).map(|m| too_early(chare, m));
    let target = quote!(#name<#(#arguments,)* __To>);
    quote! {
        #[doc(hidden)]
        #[allow(
            private_bounds, private_interfaces, non_camel_case_types,
            reason = "the chare and its types may be private"
        )]
        pub struct #name<#params __To>(__To, ::core::marker::PhantomData<fn() -> #self_ty>) #bounds;
        impl<#params __To> ::talisman::chare::WrapInit<__To> for #target #bounds {
            fn wrap(__to: __To) -> Self { #name(__to, ::core::marker::PhantomData) }
            fn __target(&self) -> &__To { &self.0 }
        }
        #[allow(private_bounds, private_interfaces, dead_code, reason = "the chare and its types may be private")]
        #[allow(
            clippy::too_many_arguments, clippy::wrong_self_convention, clippy::new_ret_no_self,
            reason = "the methods are called as the user's entries are"
        )]
        impl<#params __To: ::talisman::chare::Create<#self_ty>> #target #bounds { #(#methods)* #(#too_early)* }
    }
}

/// An entry on what is still to be created: there so that the error says what is missing.
fn too_early(chare: &Chare, method: &Method) -> TokenStream {
    let (vis, name, self_ty) = (&method.vis, &method.name, &chare.self_ty);
    let (names, types) = (method.arg_names(), method.arg_types());
    quote_spanned! {place(method)=>
        #[doc(hidden)]
        #vis fn #name(&self, #(#names: #types),*) where __To: ::talisman::chare::Existing<#self_ty> {
            let _ = (#(#names,)*);
        }
    }
}

fn init_method(chare: &Chare, number: usize, method: &Method) -> TokenStream {
    let (names, number, self_ty) = (method.arg_names(), number as u16, &chare.self_ty);
    let create = quote!(::talisman::chare::Create::<#self_ty>::create(&self.0, #number, (#(#names,)*)));
    offered(method, quote_spanned!(place(method)=> __To::Made), create)
}

/// The chare's generic parameters with a comma after the last, to go before ours.
fn parameters(chare: &Chare) -> TokenStream {
    let params = chare.generics.params.iter();
    quote!(#(#params,)*)
}
