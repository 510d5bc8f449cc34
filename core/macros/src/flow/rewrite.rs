//! Turns `break`, `continue`, `return` and `?` that leave a serial piece of the body into what leaves a label.

use super::Flow;
use super::ir::LabelId;
use crate::errors::Errors;
use proc_macro2::Span;
use quote::quote_spanned;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprBreak, ExprContinue, ExprMacro, ExprReturn, ExprTry, Lifetime, Macro, Token, Type, parse_quote,
};

/// A loop of the body that waits inside, or a labelled block that does.
#[derive(Clone)]
pub struct Loop {
    pub label: Option<String>,
    /// Where `continue` goes; a block has no such place.
    pub head: Option<LabelId>,
    /// Where `break` goes.
    pub after: LabelId,
}

/// A jump to a label, until `emit` knows what to write for it.
fn jump(to: LabelId, at: Span) -> Expr {
    syn::parse2(quote_spanned!(at=> __talisman_jump!(#to))).expect("a macro call")
}

/// The label that this macro call, written by [`Rewrite`], jumps to.
pub fn jump_target(mac: &Macro) -> Option<LabelId> {
    if !mac.path.is_ident("__talisman_jump") {
        return None;
    }
    let number: syn::LitInt = mac.parse_body().ok()?;
    number.base10_parse().ok()
}

/// Replaces the jumps in a piece of code.
pub struct ReplaceJumps<F: FnMut(LabelId) -> Expr>(pub F);

impl<F: FnMut(LabelId) -> Expr> VisitMut for ReplaceJumps<F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Macro(ExprMacro { mac, .. }) if jump_target(mac).is_some() => {
                *expr = (self.0)(jump_target(mac).expect("just looked"));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
}

/// The rewriting of one piece of serial code.
pub struct Rewrite<'a> {
    pub flow: &'a Flow<'a>,
    /// The loops around it that wait inside, from outside to inside.
    pub loops: &'a [Loop],
    /// Whether the piece is in the body itself, and not in a part of an `overlap`.
    pub main: bool,
    pub errors: &'a mut Errors,
    /// How many loops inside the piece the visitor is in, and the labels there.
    pub depth: usize,
    pub labels: Vec<String>,
}

impl<'a> Rewrite<'a> {
    /// The loop that a `break` or `continue` with this label leaves; `Ok(None)` if that is inside the piece.
    fn target(&self, label: Option<&Lifetime>, wants_loop: bool) -> Result<Option<&'a Loop>, ()> {
        let Some(label) = label else {
            let last = self.loops.iter().rev().find(|l| l.head.is_some());
            return if self.depth > 0 { Ok(None) } else { last.map(Some).ok_or(()) };
        };
        let label = label.ident.to_string();
        if self.labels.contains(&label) {
            return Ok(None);
        }
        let named = self.loops.iter().rev().find(|l| l.label.as_deref() == Some(&label));
        named.filter(|l| !wants_loop || l.head.is_some()).map(Some).ok_or(())
    }

    fn leave_by_break(&mut self, e: &ExprBreak) -> Option<Expr> {
        let target = self.target(e.label.as_ref(), false);
        if let (Some(value), Err(()) | Ok(Some(_))) = (&e.expr, &target) {
            self.errors.at(
                value,
                "`break` with a value cannot leave a loop that waits: store the value in a local declared before the loop",
            );
        }
        match target {
            Ok(target) => target.map(|l| jump(l.after, e.span())),
            Err(()) => {
                self.errors.at(e, "`break` has no loop to leave here");
                None
            }
        }
    }

    fn leave_by_continue(&mut self, e: &ExprContinue) -> Option<Expr> {
        match self.target(e.label.as_ref(), true) {
            Ok(target) => target.and_then(|l| l.head).map(|head| jump(head, e.span())),
            Err(()) => {
                self.errors.at(e, "`continue` has no loop here");
                None
            }
        }
    }

    fn leave_by_return(&mut self, e: &ExprReturn) -> Expr {
        if !self.main {
            self.errors.at(e, "`return` cannot leave one part of an `overlap` while the others wait");
        }
        let value = e.expr.as_ref().map_or_else(|| parse_quote!(()), |e| e.clone());
        done(&value, e.span())
    }

    fn leave_by_question_mark(&mut self, e: &ExprTry) -> Expr {
        if !self.main {
            self.errors.at(e, "`?` cannot leave one part of an `overlap` while the others wait");
        } else if !self.flow.method.ret.as_ref().is_some_and(is_result) {
            self.errors.at(e, "`?` needs an async entry that returns a `Result`");
        }
        let (tried, at) = (&e.expr, e.span());
        let error = parse_quote!(::core::result::Result::Err(::core::convert::From::from(__e)));
        let leave = done(&error, at);
        let whole = quote_spanned!(at=> match #tried {
            ::core::result::Result::Ok(__v) => __v,
            ::core::result::Result::Err(__e) => #leave,
        });
        syn::parse2(whole).expect("a match expression")
    }

    /// Visits a loop or a labelled block of the piece itself.
    fn inside(&mut self, e: &mut Expr, label: Option<String>, is_loop: bool) {
        let outside = self.labels.len();
        self.labels.extend(label);
        self.depth += is_loop as usize;
        visit_mut::visit_expr_mut(self, e);
        self.depth -= is_loop as usize;
        self.labels.truncate(outside);
    }
}

/// `return Step::Done(value)`.
fn done(value: &Expr, at: Span) -> Expr {
    let whole = quote_spanned!(at=> return ::talisman::flow::Step::Done(#value));
    syn::parse2(whole).expect("a return expression")
}

/// Whether this is a `Result`, as far as its name tells.
pub fn is_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Result"))
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let name = |label: &Option<syn::Label>| label.as_ref().map(|l| l.name.ident.to_string());
        match e {
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Loop(l) => {
                return {
                    let label = name(&l.label);
                    self.inside(e, label, true)
                };
            }
            Expr::While(l) => {
                return {
                    let label = name(&l.label);
                    self.inside(e, label, true)
                };
            }
            Expr::ForLoop(l) => {
                return {
                    let label = name(&l.label);
                    self.inside(e, label, true)
                };
            }
            Expr::Block(b) => {
                return {
                    let label = name(&b.label);
                    self.inside(e, label, false)
                };
            }
            _ => visit_mut::visit_expr_mut(self, e),
        }
        let replacement = match e {
            Expr::Break(e) => self.leave_by_break(e),
            Expr::Continue(e) => self.leave_by_continue(e),
            Expr::Return(e) => Some(self.leave_by_return(e)),
            Expr::Try(e) => Some(self.leave_by_question_mark(e)),
            _ => None,
        };
        if let Some(replacement) = replacement {
            *e = replacement;
        }
    }

    /// Arguments that are expressions, as in `vec![…]` and `format!(…)`, are rewritten like any.
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone());
        if let Ok(mut arguments) = arguments
            && arguments.iter().any(leaves)
        {
            arguments.iter_mut().for_each(|e| self.visit_expr_mut(e));
            mac.tokens = quote::quote!(#arguments);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Whether there is anything to rewrite.
fn leaves(e: &Expr) -> bool {
    struct Leaves(bool);
    impl<'a> syn::visit::Visit<'a> for Leaves {
        fn visit_expr(&mut self, e: &'a Expr) {
            match e {
                Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) => self.0 = true,
                Expr::Closure(_) | Expr::Async(_) => {}
                _ => syn::visit::visit_expr(self, e),
            }
        }
    }
    let mut leaves = Leaves(false);
    syn::visit::Visit::visit_expr(&mut leaves, e);
    leaves.0
}
