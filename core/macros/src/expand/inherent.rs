//! The user's own items, a constant for each entry, and the bodies of the entries.

use crate::ir::{Chare, Method, Role};
use crate::parse::SelfType;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{FnArg, Ident, Pat, Signature, Type};

/// The inherent impl block, and the local trait with the bodies.
pub fn expand(chare: &Chare) -> TokenStream {
    let (impl_generics, _, bounds) = chare.generics.split_for_impl();
    let (self_ty, attrs, kept) = (&chare.self_ty, &chare.attrs, &chare.kept);
    let own = chare
        .methods
        .iter()
        .filter(|m| matches!(m.role, Role::Init | Role::Restored | Role::Lost | Role::Departs | Role::Waits))
        .map(|method| {
            let (attrs, vis, sig, block) = (&method.attrs, &method.vis, &method.sig, &method.block);
            // Nobody but a message makes a chare.
            let lints = (method.role == Role::Init)
                .then(|| quote!(#[allow(clippy::new_without_default, clippy::must_use_candidate, reason = "the user has named the function")]));
            quote!(#lints #(#attrs)* #vis #sig #block)
        });
    let constants = chare.entries().enumerate().map(|(number, method)| constant(number, method));
    let bodies = bodies(chare);
    quote! {
        #(#attrs)*
        impl #impl_generics #self_ty #bounds { #(#own)* #(#kept)* #(#constants)* }
        #bodies
    }
}

/// `Block::ghost`: the entry as a value.
fn constant(number: usize, method: &Method) -> TokenStream {
    let (docs, vis, name, types) = (&method.docs, &method.vis, &method.name, method.arg_types());
    let output = output(method);
    quote! {
        #(#docs)*
        #[allow(
            non_upper_case_globals, dead_code, private_interfaces, clippy::type_complexity,
            reason = "constants are called as the user's entries are, and have their types"
        )]
        #vis const #name: ::talisman::chare::Entry<Self, (#(#types,)*), #output> =
            ::talisman::chare::Entry::of::<#number>();
    }
}

/// What an entry returns.
pub fn output(method: &Method) -> TokenStream {
    method.ret.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty))
}

/// The local trait whose methods are the entries' bodies.
pub fn local_trait(chare: &Chare) -> Ident {
    format_ident!("__{}Local", chare.ident)
}

/// The bodies as methods of a local trait: the constants have taken their names among the inherent items, and
/// `self.ghost(cx, …)` still works.
fn bodies(chare: &Chare) -> Option<TokenStream> {
    let bodies: Vec<&Method> = chare.methods.iter().filter(|m| m.role == Role::Entry).collect();
    if bodies.is_empty() {
        return None;
    }
    let (impl_generics, type_generics, bounds) = chare.generics.split_for_impl();
    let (name, params, self_ty) = (local_trait(chare), &chare.generics.params, &chare.self_ty);
    let declared = bodies.iter().map(|m| declaration(&m.sig, self_ty));
    let defined = bodies.iter().map(|m| {
        let (sig, block) = (&m.sig, &m.block);
        // The constant is what others use, and what can be deprecated.
        let attrs = m.attrs.iter().filter(|a| !a.path().is_ident("deprecated"));
        quote!(#(#attrs)* #sig #block)
    });
    Some(quote! {
        #[doc(hidden)]
        #[allow(
            dead_code, non_camel_case_types,
            reason = "an entry is seldom called as a method too; the name is made from the user's"
        )]
        trait #name<#params>: ::talisman::chare::Chare #bounds { #(#declared)* }
        impl #impl_generics #name #type_generics for #self_ty #bounds { #(#defined)* }
    })
}

/// A signature without the patterns that only a body may have. In the trait `Self` is not yet the chare, so it is
/// written out.
fn declaration(sig: &Signature, self_ty: &Type) -> TokenStream {
    let mut sig = sig.clone();
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.clear();
            SelfType(self_ty).visit_type_mut(&mut typed.ty);
            if let Pat::Ident(pat) = &mut *typed.pat {
                pat.mutability = None;
            }
        }
    }
    SelfType(self_ty).visit_return_type_mut(&mut sig.output);
    quote!(#[allow(clippy::too_many_arguments, reason = "the user has as many")] #sig;)
}
