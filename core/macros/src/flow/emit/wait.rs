//! What a label does where the object may wait.

use super::super::ir::{Branch, Code, LabelId, On, Then, Wait};
use super::super::liveness::has_guards;
use super::{Emit, Solved};
use crate::ir::{mailbox, step_method};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

impl Emit<'_> {
    /// Looks for what is waited for: takes it and goes on, or waits.
    pub(super) fn wait(&mut self, solved: &Solved, label: LabelId, wait: &Wait) -> TokenStream {
        let pending = solved.pending(label);
        match &wait.on {
            On::Message { entry, keyed, arity, then } => {
                let got = message(entry, *keyed, *arity, wait.at, &pending);
                self.then(solved, got, then, wait.at)
            }
            On::Reply { slot, wanted, what, then } => {
                self.slots.push(slot.clone());
                let got = reply(slot, *wanted, what, wait.at, &pending);
                self.then(solved, got, then, wait.at)
            }
            On::Call { flow, then } => {
                let got = self.call(flow, &pending);
                self.then(solved, got, then, wait.at)
            }
            On::Any(arms) => {
                let tries: TokenStream = arms.iter().map(|arm| self.try_arm(solved, arm)).collect();
                quote!(#tries #pending)
            }
            On::Overlap { branches, then } => {
                let parts = solved.parts(label);
                self.overlap(solved, branches, &parts, then, &pending)
            }
        }
    }

    fn then(&mut self, solved: &Solved, got: TokenStream, then: &Then, at: Span) -> TokenStream {
        let (pat, code) = (&then.pat, self.code(solved, &then.code));
        let value = quote_spanned!(at=> __got);
        quote!(#got __moved = true; let #pat = #value; #code)
    }

    fn call(&mut self, flow: &Ident, pending: &TokenStream) -> TokenStream {
        let (step, cx) = (step_method(flow), &self.flow.cx);
        quote! {
            let __got = match self.#step(__mail, #cx, &mut *__sub) {
                ::talisman::flow::Step::Done(__value) => __value,
                ::talisman::flow::Step::Wait { moved } => {
                    __moved |= moved;
                    #pending
                }
            };
        }
    }

    /// Runs each part as far as it can go. Where a guard may look at what another part does, until none can go on.
    fn overlap(
        &mut self,
        solved: &Solved,
        branches: &[Branch],
        parts: &[(&Branch, Solved)],
        then: &Code,
        pending: &TokenStream,
    ) -> TokenStream {
        let runs: TokenStream = parts.iter().map(|(_, part)| self.machine(part)).collect();
        let runs = if branches.iter().any(|b| has_guards(&b.machine)) { until_still(&runs) } else { runs };
        let ended = branches.iter().map(|Branch { machine, var, .. }| {
            let state = &machine.name;
            quote!(::core::matches!(#var, #state::Done))
        });
        let then = self.code(solved, then);
        quote!(#runs if !(#(#ended)&&*) #pending #then)
    }
}

fn until_still(runs: &TokenStream) -> TokenStream {
    quote! {
        let mut __any = __moved;
        loop {
            __moved = false;
            #runs
            if !__moved {
                break;
            }
            __any = true;
        }
        __moved = __any;
    }
}

fn message(entry: &Ident, keyed: bool, arity: usize, at: Span, pending: &TokenStream) -> TokenStream {
    let mailbox = mailbox(entry);
    let names: Vec<Ident> = (keyed as usize..arity).map(|i| format_ident!("__a{}", i)).collect();
    let skipped = keyed.then(|| quote!(_,));
    let take = if keyed {
        let test = same_key(at);
        quote!(take_where({ let __key = &__key; #test }))
    } else {
        quote!(take_first())
    };
    let value = match &names[..] {
        [one] => quote!(#one),
        many => quote!((#(#many),*)),
    };
    quote! {
        let ::core::option::Option::Some((#skipped #(#names,)*)) = __mail.#mailbox.#take else #pending;
        let __got = #value;
    }
}

/// Whether a message's first argument is the key. The one text for both places that ask, so that a key that cannot be
/// compared is one error.
pub(super) fn same_key(at: Span) -> TokenStream {
    quote_spanned!(at=> |__m| __m.0 == *__key)
}

/// What was asked, and where, for the one who reads that the answer is unreadable.
fn asked(what: &str, at: Span) -> TokenStream {
    quote_spanned!(at=> ::core::concat!(#what, " (", ::core::file!(), ":", ::core::line!(), ")"))
}

fn reply(slot: &Ident, wanted: bool, what: &str, at: Span, pending: &TokenStream) -> TokenStream {
    let take = if wanted {
        let asked = asked(what, at);
        quote!(take(__wait, #asked, &#slot))
    } else {
        quote!(drop_one(__wait))
    };
    quote!(let ::core::option::Option::Some(__got) = __mail.replies.#take else #pending;)
}
