//! `Invoke` for each entry and `Construct` for each init: how a message's arguments cross a wire, and where they go.
//!
//! This is the one place that demands `Pup` and `Send` of an argument, at the argument's own type.

use super::flows::Flows;
use super::generic_arguments;
use super::inherent::{local_trait, output};
use crate::ir::{Chare, EntryOptions, Method, Role, start_function};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// The impls of `Invoke` and `Construct`.
pub fn expand(chare: &Chare, flows: &Flows) -> TokenStream {
    let entries = chare.entries().enumerate().map(|(number, m)| invoke(chare, flows, number, m));
    let inits = chare.inits().enumerate().map(|(number, m)| construct(chare, number, m));
    quote!(#(#entries)* #(#inits)*)
}

fn invoke(chare: &Chare, flows: &Flows, number: usize, method: &Method) -> TokenStream {
    let (impl_generics, _, bounds) = chare.generics.split_for_impl();
    let (self_ty, text) = (&chare.self_ty, method.name.to_string());
    let (output, options, wire) = (output(method), entry_options(&method.options), wire_format(method));
    let names = method.arg_names();
    let body = match method.role {
        Role::Receive => {
            let mailbox = method.mailbox();
            let poll = &flows.poll;
            quote!(__flows.mail.#mailbox.push((#(#names,)*)); #poll)
        }
        Role::Flow { .. } => start(method, flows),
        _ => run(chare, flows, method),
    };
    quote! {
        #[allow(private_interfaces, reason = "entries may take the user's private types")]
        impl #impl_generics ::talisman::chare::Invoke<#number> for #self_ty #bounds {
            type Output = #output;
            const NAME: &'static str = #text;
            const OPTIONS: ::talisman::chare::EntryOptions = #options;
            #[allow(
                unused_variables,
                reason = "an entry may take no argument, no context, and leave the flows alone"
            )]
            fn invoke(
                &mut self,
                __flows: &mut Self::Flows,
                __cx: &mut ::talisman::Cx<Self>,
                (#(#names,)*): Self::Args,
            ) {
                #body
            }
            #wire
        }
    }
}

/// Starts an async entry: it goes on the list of running ones, and from there as far as it can.
fn start(method: &Method, flows: &Flows) -> TokenStream {
    let (list, start, names) = (method.running(), start_function(&method.name), method.arg_names());
    let poll = &flows.poll;
    quote! {
        __flows.#list.start(Self::#start(#(#names),*), __cx.__take_reply());
        #poll
    }
}

/// Runs an entry's body, and answers what it returns.
fn run(chare: &Chare, flows: &Flows, method: &Method) -> TokenStream {
    let (local, generics, name) = (local_trait(chare), generic_arguments(chare), &method.name);
    let (names, context) = (method.arg_names(), context(method));
    let call = quote!(<Self as #local<#(#generics),*>>::#name(self, #context #(#names),*));
    let answer = match &method.ret {
        Some(ty) => quote_spanned!(ty.span()=> __cx.__reply(__value);),
        // Whoever waits for a broadcast hears when each element has run it.
        None => quote!(__cx.__reply(());),
    };
    let poll = flows.poll_after_bodies();
    let let_value = if method.ret.is_some() { quote!(let __value =) } else { quote!() };
    quote!(#let_value #call; #answer #poll)
}

fn context(method: &Method) -> Option<TokenStream> {
    method.cx.is_some().then(|| quote!(__cx,))
}

fn entry_options(options: &EntryOptions) -> TokenStream {
    let priority = options.priority.map(|p| quote!(.priority(#p)));
    let expedited = options.expedited.then(|| quote!(.expedited()));
    quote!(::talisman::chare::EntryOptions::new() #priority #expedited)
}

fn construct(chare: &Chare, number: usize, method: &Method) -> TokenStream {
    let (impl_generics, _, bounds) = chare.generics.split_for_impl();
    let (self_ty, text, name) = (&chare.self_ty, method.name.to_string(), &method.name);
    let (names, context, wire) = (method.arg_names(), context(method), wire_format(method));
    quote! {
        #[allow(private_interfaces, reason = "entries may take the user's private types")]
        impl #impl_generics ::talisman::chare::Construct<#number> for #self_ty #bounds {
            const NAME: &'static str = #text;
            #[allow(unused_variables, reason = "an #[init] may do without the context")]
            fn construct(__cx: &mut ::talisman::Cx<Self>, (#(#names,)*): Self::Args) -> Self {
                Self::#name(#context #(#names),*)
            }
            #wire
        }
    }
}

/// The type of the arguments, and how to pack and unpack them.
fn wire_format(method: &Method) -> TokenStream {
    let (types, names) = (method.arg_types(), method.arg_names());
    let (lends, unpacks) = (method.args.iter().map(lend), method.args.iter().map(|a| unpack(method, a)));
    let result = quote!(::core::result::Result);
    // The one place that demands `Send` of an argument.
    let moves =
        types.iter().map(|ty| quote_spanned!(ty.span()=> <::talisman::chare::Moves<#ty>>::between_threads()));
    quote! {
        type Args = (#(#types,)*);
        const ARGS_MOVE: ::talisman::chare::Moves<Self::Args> = <::talisman::chare::Moves<Self::Args>>::all((#(#moves,)*));
        #[allow(unused_variables, reason = "there may be no argument")]
        fn lend<'__a>((#(#names,)*): &'__a Self::Args, __p: &mut ::talisman::pup::Lender<'__a>) { #(#lends)* }
        #[allow(unused_variables, reason = "there may be no argument")]
        fn unpack(
            __u: &mut ::talisman::pup::Unpacker<'_>,
        ) -> #result<Self::Args, ::talisman::pup::PupError> {
            #result::Ok((#(#unpacks,)*))
        }
    }
}

fn lend(arg: &crate::ir::Arg) -> TokenStream {
    let (name, ty) = (&arg.name, &arg.ty);
    quote_spanned!(ty.span()=> <#ty as ::talisman::pup::Pup>::lend(#name, __p);)
}

fn unpack(method: &Method, arg: &crate::ir::Arg) -> TokenStream {
    let (ty, field) = (&arg.ty, format!("{}({})", method.name, arg.name));
    let error = format_ident!("__e");
    let read = quote_spanned!(ty.span()=> <#ty as ::talisman::pup::Pup>::unpack(__u));
    quote!(#read.map_err(|#error| #error.field(#field))?)
}
