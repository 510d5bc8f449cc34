//! The compiler for async methods: an `async fn` body becomes a state machine whose states are plain data.
//!
//! `lower` turns the body into labels ([`ir`]), `liveness` finds the locals each label needs, `emit` writes a state
//! type with a variant for each label, and a method that goes from label to label. See `core/macros/README.md`.

mod emit;
mod ir;
mod liveness;
mod lower;
mod moves;
mod rewrite;
#[cfg(test)]
mod tests;
mod types;
mod uses;

pub use uses::stmt_awaits;

use crate::errors::Errors;
use crate::ir::{Arg, Chare, Method, step_method};
use ir::Machine;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Ident, Item, Type};

/// What an async method can name of its chare.
pub struct Scope<'a> {
    pub chare: &'a Chare,
    /// The entries without a body, and their arguments.
    pub receives: BTreeMap<String, Vec<Arg>>,
    /// The async methods, and what they return.
    pub flows: BTreeMap<String, Option<Type>>,
    pub entries: BTreeSet<String>,
}

impl<'a> Scope<'a> {
    /// The scope of every async method of this chare.
    pub fn of(chare: &'a Chare) -> Self {
        Scope {
            chare,
            receives: chare.receives().map(|m| (m.name.to_string(), m.args.clone())).collect(),
            flows: chare.flows().map(|m| (m.name.to_string(), m.ret.clone())).collect(),
            entries: chare.entries().map(|m| m.name.to_string()).collect(),
        }
    }
}

/// One async method, as the compiler sees it.
pub struct Flow<'a> {
    pub scope: &'a Scope<'a>,
    pub method: &'a Method,
    /// What its body calls the context.
    pub cx: Ident,
}

/// What an async method became.
pub struct FlowCode {
    /// The types of its states.
    pub types: TokenStream,
    /// The method that takes it as far as it can go.
    pub step: TokenStream,
    /// The arguments that its first state keeps.
    pub first: Vec<Ident>,
    /// Whether a guard reads the object's state.
    pub watches: bool,
}

/// Compiles an async method. After a mistake, the code is that of an empty body: the chare stays whole, and the only
/// errors shown are those found here.
pub fn expand(scope: &Scope, method: &Method, errors: &mut Errors) -> FlowCode {
    let cx = method.cx.clone().unwrap_or_else(|| format_ident!("__cx"));
    let flow = Flow { scope, method, cx };
    let before = errors.count();
    let lowered = lower::lower(&flow, errors);
    let emitted = emit::emit(&flow, &lowered.machine, errors);
    if errors.count() == before {
        return assemble(&flow, &lowered.items, emitted);
    }
    let mut already_reported = Errors::default();
    let empty = emit::emit(&flow, &Machine::unreachable(&flow), &mut already_reported);
    assemble(&flow, &[], empty)
}

fn assemble(flow: &Flow, items: &[Item], emitted: emit::Emitted) -> FlowCode {
    let (chare, method) = (flow.scope.chare, flow.method);
    let (_, generics, _) = chare.generics.split_for_impl();
    let (state, mail) = (chare.state_type(&method.name), chare.mail_type());
    let ret = method.ret.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let (step, cx, body) = (step_method(&method.name), &flow.cx, &emitted.body);
    let (lints, context) = (method.lints(), method.context_type());
    let step = quote! {
        #[doc(hidden)]
        #(#lints)*
        #[allow(
            unused_mut, unused_variables, unused_assignments, unreachable_code, unreachable_patterns,
            reason = "the user's statements, cut up and put in other places: what was used before may not be here"
        )]
        #[allow(
            irrefutable_let_patterns, unused_labels, dead_code, non_snake_case, clippy::all,
            reason = "the user's statements, cut up"
        )]
        fn #step(
            &mut self,
            __mail: &mut #mail #generics,
            #cx: #context,
            __at: &mut #state #generics,
        ) -> ::talisman::flow::Step<#ret> {
            if !__at.__ready(__mail) {
                return ::talisman::flow::Step::Wait { moved: false };
            }
            #(#items)*
            let mut __moved = false;
            let mut __state = ::core::mem::replace(__at, #state::Done);
            #body
        }
    };
    FlowCode { types: emitted.types, step, first: emitted.first, watches: emitted.watches }
}
