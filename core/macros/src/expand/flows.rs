//! What a chare with async entries has beside its state: messages and answers that wait, and the running entries.

use crate::errors::Errors;
use crate::flow::{self, FlowCode};
use crate::ir::{Chare, Method, start_function, step_method};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

/// The code for a chare's async entries.
pub struct Flows {
    pub code: TokenStream,
    /// The items of `impl Chare` that are about them.
    pub chare_items: TokenStream,
    /// A statement that takes running entries as far as they can go.
    pub poll: TokenStream,
    /// Whether an entry that waits looks at more than messages: the guard of an arm may read the object's state.
    watches: bool,
}

impl Flows {
    /// After an entry with a body has run, an async entry can only go on if it watches the object's state.
    pub fn poll_after_bodies(&self) -> Option<&TokenStream> {
        self.watches.then_some(&self.poll)
    }
}

/// Expands every async method of the chare, and what they share.
pub fn expand(chare: &Chare, errors: &mut Errors) -> Flows {
    if !chare.has_flows() {
        let chare_items = quote!(
            type Flows = ();
        );
        return Flows { code: quote!(), chare_items, poll: quote!(), watches: false };
    }
    let scope = flow::Scope::of(chare);
    let compiled: Vec<FlowCode> = chare.flows().map(|m| flow::expand(&scope, m, errors)).collect();
    let watches = compiled.iter().any(|f| f.watches);
    let running: Vec<&Method> = chare.flows().filter(|m| m.exported()).collect();
    let poll = if running.is_empty() { quote!() } else { quote!(self.__poll(__flows, __cx);) };
    let (mail, all) = (mail(chare), all(chare, &running));
    let methods = methods(chare, &compiled, poll_method(chare, &running, watches));
    let types = compiled.iter().map(|f| &f.types);
    Flows {
        code: quote!(#(#types)* #mail #all #methods),
        chare_items: chare_items(chare, &running, &poll),
        poll,
        watches,
    }
}

fn flows_type(chare: &Chare) -> Ident {
    format_ident!("__{}Flows", chare.ident)
}

/// A struct of parts that each have a default and are packed one after the other.
struct Parts {
    names: Vec<Ident>,
    types: Vec<TokenStream>,
    /// What an error in this part is called.
    texts: Vec<String>,
}

/// The messages and answers that wait.
fn mail(chare: &Chare) -> TokenStream {
    let mut parts = Parts {
        names: vec![format_ident!("replies")],
        types: vec![quote!(::talisman::flow::Replies)],
        texts: vec!["(answers)".into()],
    };
    for method in chare.receives() {
        let types = method.arg_types();
        parts.names.push(method.mailbox());
        parts.types.push(quote!(::talisman::flow::Mailbox<(#(#types,)*)>));
        parts.texts.push(method.name.to_string());
    }
    record(chare, &chare.mail_type(), &parts)
}

/// The mail and the running entries.
fn all(chare: &Chare, running: &[&Method]) -> TokenStream {
    let (_, type_generics, _) = chare.generics.split_for_impl();
    let mail = chare.mail_type();
    let mut parts = Parts {
        names: vec![format_ident!("mail")],
        types: vec![quote!(#mail #type_generics)],
        texts: vec!["(messages)".into()],
    };
    for method in running {
        let state = chare.state_type(&method.name);
        parts.names.push(method.running());
        parts.types.push(quote!(::talisman::flow::RunningList<#state #type_generics>));
        parts.texts.push(method.name.to_string());
    }
    record(chare, &flows_type(chare), &parts)
}

fn record(chare: &Chare, name: &Ident, parts: &Parts) -> TokenStream {
    let (impl_generics, type_generics, bounds) = chare.generics.split_for_impl();
    let (params, self_ty) = (&chare.generics.params, &chare.self_ty);
    let Parts { names, types, texts } = parts;
    let (result, pup) = (quote!(::core::result::Result), quote!(::talisman::pup));
    quote! {
        #[doc(hidden)]
        #[allow(private_bounds, private_interfaces, reason = "arguments may be of the user's private types")]
        pub struct #name<#params> #bounds { #(#names: #types,)* of: ::core::marker::PhantomData<fn() -> #self_ty> }
        impl #impl_generics ::core::default::Default for #name #type_generics #bounds {
            fn default() -> Self {
                #name { #(#names: ::core::default::Default::default(),)* of: ::core::marker::PhantomData }
            }
        }
        impl #impl_generics #pup::Pup for #name #type_generics #bounds {
            fn pack(&self, __p: &mut #pup::Packer) { #(#pup::Pup::pack(&self.#names, __p);)* }
            fn lend<'__a>(&'__a self, __p: &mut #pup::Lender<'__a>) { #(#pup::Pup::lend(&self.#names, __p);)* }
            fn unpack(__u: &mut #pup::Unpacker<'_>) -> #result<Self, #pup::PupError> {
                #result::Ok(#name {
                    #(#names: #pup::Pup::unpack(__u).map_err(|__e| __e.field(#texts))?,)*
                    of: ::core::marker::PhantomData,
                })
            }
        }
    }
}

/// The methods of the chare that its async entries became.
fn methods(chare: &Chare, compiled: &[FlowCode], poll: Option<TokenStream>) -> TokenStream {
    let (impl_generics, type_generics, bounds) = chare.generics.split_for_impl();
    let self_ty = &chare.self_ty;
    let steps = compiled.iter().map(|f| &f.step);
    let starts = chare.flows().zip(compiled).map(|(method, flow)| {
        let (start, state) = (start_function(&method.name), chare.state_type(&method.name));
        let (names, types, kept) = (method.arg_names(), method.arg_types(), &flow.first);
        quote! {
            #[doc(hidden)]
            #[allow(
                unused_variables, dead_code, non_snake_case, clippy::all,
                reason = "a state keeps only the arguments that are needed later; the name is made from the user's"
            )]
            fn #start(#(#names: #types),*) -> #state #type_generics { #state::S0 { #(#kept),* } }
        }
    });
    quote!(impl #impl_generics #self_ty #bounds { #(#steps)* #(#starts)* #poll })
}

/// Steps each running entry until none can move.
///
/// A message or an answer lets at most one entry move, and what that entry does lets no other move, unless one watches
/// the object's state: only then is there a second round.
fn poll_method(chare: &Chare, running: &[&Method], watches: bool) -> Option<TokenStream> {
    if running.is_empty() {
        return None;
    }
    let (_, type_generics, _) = chare.generics.split_for_impl();
    let flows = flows_type(chare);
    let one = running.iter().map(|method| {
        let (name, list, step) = (&method.name, method.running(), step_method(&method.name));
        // The one place that demands `Pup` of the result.
        let answer = match &method.ret {
            Some(ty) => quote_spanned!(ty.span()=> |__to, __value| ::talisman::flow::answer(__to, __value)),
            None => quote!(|__to, __value| ::talisman::flow::answer(__to, __value)),
        };
        quote!(__flows.#list.poll(
            |__at| {
                __cx.__resumes(Self::#name);
                self.#step(&mut __flows.mail, __cx, __at)
            },
            #answer
        ))
    });
    let any = quote!(#(#one)||*);
    let body = if watches { quote!(while #any {}) } else { quote!(let _ = #any;) };
    Some(quote! {
        #[doc(hidden)]
        #[allow(clippy::all, reason = "made from the user's statements")]
        fn __poll(&mut self, __flows: &mut #flows #type_generics, __cx: &mut ::talisman::Cx<Self>) { #body }
    })
}

fn chare_items(chare: &Chare, running: &[&Method], poll: &TokenStream) -> TokenStream {
    let (_, type_generics, _) = chare.generics.split_for_impl();
    let flows = flows_type(chare);
    let (lists, texts): (Vec<_>, Vec<_>) = running.iter().map(|m| (m.running(), m.name.to_string())).unzip();
    quote! {
        type Flows = #flows #type_generics;
        #[allow(unused_variables, reason = "a chare without running entries looks at no answer")]
        fn replied(
            &mut self,
            __flows: &mut Self::Flows,
            __cx: &mut ::talisman::Cx<Self>,
            __wait: u64,
            __value: ::talisman::pup::Packed,
        ) {
            if __flows.mail.replies.push(__wait, __value) {
                #poll
            }
        }
        fn waiting(__flows: &Self::Flows) -> ::std::vec::Vec<::talisman::flow::Waiting> {
            let mut __all = ::std::vec::Vec::new();
            #(for __state in __flows.#lists.states() { __state.__waits(#texts, &mut __all); })*
            __all
        }
        fn owed(__flows: &Self::Flows) -> ::std::vec::Vec<(&'static str, ::talisman::flow::Route)> {
            let mut __all = ::std::vec::Vec::new();
            #(__all.extend(__flows.#lists.owed().map(|__to| (#texts, ::core::clone::Clone::clone(__to))));)*
            __all
        }
    }
}
