//! The arms of `match cx.when_any().await`.
//!
//! A message stays in its mailbox until an arm wants it, so an arm is first tried on a reference. That needs care: a
//! guard sees what the pattern binds as values. Where it looks only at numbers the reference test copies them; else the
//! message is taken out, tried, and given back.

use super::super::ir::Arm;
use super::super::types::is_plainly_copy;
use super::super::uses::{self, Names, bindings, bound_names, is_binding};
use super::{Emit, Solved};
use crate::ir::mailbox;
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{FieldPat, Ident, Pat, parse_quote};

impl Emit<'_> {
    /// Looks for a message that the arm takes, and goes on with it.
    pub(super) fn try_arm(&mut self, solved: &Solved, arm: &Arm) -> TokenStream {
        let code = self.code(solved, &arm.code);
        match tested_by_reference(arm) {
            Some(pats) => by_reference(arm, &pats, &code),
            None => by_value(arm, &code),
        }
    }
}

fn guard(arm: &Arm) -> Option<TokenStream> {
    arm.guard.as_ref().map(|guard| quote!(if #guard))
}

fn by_reference(arm: &Arm, tested: &[Pat], code: &TokenStream) -> TokenStream {
    let (mailbox, pats, guard) = (mailbox(&arm.entry), &arm.pats, guard(arm));
    quote! {
        if let ::core::option::Option::Some(__found) =
            __mail.#mailbox.find(|__m| match *__m { (#(#tested,)*) #guard => true, _ => false })
        {
            let (#(#pats,)*) = __mail.#mailbox.remove(__found) else { ::core::unreachable!() };
            __moved = true;
            #code
        }
    }
}

fn by_value(arm: &Arm, code: &TokenStream) -> TokenStream {
    let (mailbox, pats, guard) = (mailbox(&arm.entry), &arm.pats, guard(arm));
    let bound: Vec<(Ident, bool)> = pats.iter().flat_map(bindings).collect();
    let values = bound.iter().map(|(name, _)| name);
    let variables = bound.iter().map(|(name, mutable)| {
        let mutable = mutable.then(|| quote!(mut));
        quote!(#mutable #name)
    });
    let result = quote!(::core::result::Result);
    quote! {
        if let ::core::option::Option::Some((#(#variables,)*)) = __mail.#mailbox.take(|__m| match __m {
            (#(#pats,)*) #guard => #result::Ok((#(#values,)*)),
            __m => #result::Err(__m),
        }) {
            __moved = true;
            #code
        }
    }
}

/// The patterns without the variables that the guard does not use, if those it uses can be copied.
fn tested_by_reference(arm: &Arm) -> Option<Vec<Pat>> {
    let used = arm.guard.as_ref().map_or_else(Names::new, |guard| uses::of_expr(guard).uses);
    let mut tested = arm.pats.clone();
    for (pat, ty) in tested.iter_mut().zip(&arm.types) {
        let copied =
            matches!(pat, Pat::Ident(p) if p.subpat.is_none() && p.by_ref.is_none()) && is_plainly_copy(ty);
        if copied {
            if let Pat::Ident(pat) = pat {
                pat.mutability = None;
            }
        } else if bound_names(pat).is_disjoint(&used) {
            WithoutVariables.visit_pat_mut(pat);
        } else {
            return None;
        }
    }
    Some(tested)
}

struct WithoutVariables;

impl VisitMut for WithoutVariables {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        visit_mut::visit_pat_mut(self, pat);
        if let Pat::Ident(variable) = pat
            && is_binding(variable)
        {
            *pat = match variable.subpat.take() {
                Some((_, inner)) => *inner,
                None => parse_quote!(_),
            };
        }
    }

    /// `Point { x }` becomes `Point { x: _ }`.
    fn visit_field_pat_mut(&mut self, field: &mut FieldPat) {
        field.colon_token.get_or_insert_default();
        visit_mut::visit_field_pat_mut(self, field);
    }
}
