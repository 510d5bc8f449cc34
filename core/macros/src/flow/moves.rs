//! Where a part of an `overlap` moves a variable that others use, as far as its text tells.
//!
//! rustc sees a loop around the code of each part, and would say that the variable is moved in a former turn of that, where the reader sees
//! none. So each such place asks, through a trait of the runtime, that the variable's type be `Copy`: the trait's message says what is wrong.
//! Whether a place moves is told by its syntax; what moves unseen (in a macro's arguments, by a method that takes `self`) is left to rustc.

use super::ir::{Body, Code, Machine, Node, On};
use super::uses::{Names, bindings};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::BTreeMap;
use syn::parse::Parser;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Ident, Local, Pat};

/// Who uses a variable besides the part that may move it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum User {
    /// Another part of the `overlap`.
    AnotherPart,
    /// What comes after the `overlap`.
    Afterwards,
}

/// The variables that a part shares with somebody.
pub type Shared = BTreeMap<String, User>;

/// Those of them that are worth asking about in this machine: the part never gives them a new value, and has no others of their names.
pub fn watched(machine: &Machine, mut shared: Shared) -> Shared {
    let own = |name: &String| {
        machine.labels.iter().flat_map(|label| &label.env).any(|l| l.name == name.as_str() && machine.owns(l))
    };
    shared.retain(|name, _| !own(name));
    if !shared.is_empty() {
        let mut assigned = Assigned(Names::new());
        machine.labels.iter().for_each(|label| assigned.body(&label.body));
        shared.retain(|name, _| !assigned.0.contains(name));
    }
    shared
}

/// What asks, before this code, that nothing it moves is shared.
pub fn asks(code: &impl ToTokens, shared: &Shared) -> TokenStream {
    if shared.is_empty() {
        return TokenStream::new();
    }
    let Ok(stmts) = Block::parse_within.parse2(quote!(#code ;)) else { return TokenStream::new() };
    let mut moves = Moves { shared, bound: Names::new(), found: vec![] };
    let mut bound = Bound(Names::new());
    stmts.iter().for_each(|stmt| bound.visit_stmt(stmt));
    moves.bound = bound.0;
    stmts.iter().for_each(|stmt| moves.visit_stmt(stmt));
    moves.found.iter().map(|(name, user)| ask(name, *user)).collect()
}

fn ask(name: &Ident, user: User) -> TokenStream {
    let at = Span::call_site().located_at(name.span());
    let ask = match user {
        User::AnotherPart => quote_spanned!(at=> used_by_another_part),
        User::Afterwards => quote_spanned!(at=> used_after_overlap),
    };
    quote_spanned!(at=> if false { ::talisman::flow::#ask(&#name); })
}

/// Finds variables that are moved.
struct Moves<'a> {
    shared: &'a Shared,
    /// Names that mean something else somewhere in the code.
    bound: Names,
    found: Vec<(Ident, User)>,
}

impl Moves<'_> {
    fn value(&mut self, expr: &Expr) {
        match expr {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Path(path) => {
                let Some(name) = path.path.get_ident() else { return };
                let user =
                    self.shared.get(&name.to_string()).filter(|_| !self.bound.contains(&name.to_string()));
                self.found.extend(user.map(|user| (name.clone(), *user)));
            }
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Moves<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(e) => e.args.iter().for_each(|arg| self.value(arg)),
            Expr::MethodCall(e) => e.args.iter().for_each(|arg| self.value(arg)),
            Expr::Assign(e) if !matches!(*e.left, Expr::Infer(_)) => self.value(&e.right),
            Expr::Struct(e) => e.fields.iter().for_each(|field| self.value(&field.expr)),
            Expr::Tuple(e) => e.elems.iter().for_each(|value| self.value(value)),
            Expr::Array(e) => e.elems.iter().for_each(|value| self.value(value)),
            Expr::ForLoop(e) => self.value(&e.expr),
            Expr::Binary(e) if takes_operands(&e.op) => {
                self.value(&e.left);
                self.value(&e.right);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_local(&mut self, local: &'a Local) {
        let pat = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        if let (Pat::Ident(one), Some(init)) = (pat, &local.init)
            && one.by_ref.is_none()
        {
            self.value(&init.expr);
        }
        visit::visit_local(self, local);
    }

    /// What a closure does may never be done, or by reference.
    fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'a syn::Item) {}
}

fn takes_operands(op: &BinOp) -> bool {
    matches!(op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_))
}

/// Finds the names that patterns inside bind.
struct Bound(Names);

impl<'a> Visit<'a> for Bound {
    fn visit_pat(&mut self, pat: &'a Pat) {
        self.0.extend(bindings(pat).into_iter().map(|(name, _)| name.to_string()));
    }
}

/// Finds the variables that are given a new value.
struct Assigned(Names);

impl Assigned {
    fn body(&mut self, body: &Body) {
        match body {
            Body::Code(code) => self.code(code),
            Body::Wait(wait) => match &wait.on {
                On::Message { then, .. } | On::Reply { then, .. } | On::Call { then, .. } => {
                    self.code(&then.code)
                }
                On::Any(arms) => arms.iter().for_each(|arm| self.code(&arm.code)),
                On::Overlap { branches, then } => {
                    let labels = branches.iter().flat_map(|branch| &branch.machine.labels);
                    labels.for_each(|label| self.body(&label.body));
                    self.code(then);
                }
            },
        }
    }

    fn code(&mut self, code: &Code) {
        for node in code {
            match node {
                Node::Run(piece) => self.visit_stmt(&piece.code),
                Node::If(condition, then, otherwise) => {
                    self.visit_expr(&condition.code);
                    self.code(then);
                    self.code(otherwise);
                }
                Node::Match(value, cases) => {
                    self.visit_expr(&value.code);
                    cases.iter().for_each(|case| self.code(&case.code));
                }
                Node::Done(Some(value)) => self.visit_expr(&value.code),
                Node::Raw(..) | Node::Count(..) | Node::Jump(..) | Node::Branches(_) | Node::Done(None) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Assigned {
    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        if let Expr::Path(path) = &*assign.left {
            self.0.extend(path.path.get_ident().map(ToString::to_string));
        }
        visit::visit_expr_assign(self, assign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{Stmt, parse_quote};

    fn found(stmt: Stmt) -> Vec<String> {
        let shared = Shared::from([("v".into(), User::AnotherPart), ("w".into(), User::Afterwards)]);
        let asks = asks(&stmt, &shared).to_string();
        let of = |ask: &str, name: &str| {
            let question = format!("{ask} (& {name})");
            asks.matches(&question).map(|_| name.to_string()).collect::<Vec<_>>()
        };
        [of("used_by_another_part", "v"), of("used_after_overlap", "w")].concat()
    }

    #[test]
    fn what_takes_a_value_moves_it() {
        for stmt in [
            parse_quote!(take(v);),
            parse_quote!(self.all.push(v);),
            parse_quote!(self.all = v;),
            parse_quote!(let x = v;),
            parse_quote!(let x: Vec<u8> = (v);),
            parse_quote!(let x = Pair { v };),
            parse_quote!(if this() {
                take((1, v))
            }),
            parse_quote!(for x in v {}),
            parse_quote!(let x = v + 1;),
        ] {
            assert_eq!(found(stmt), ["v"]);
        }
        assert_eq!(found(parse_quote!(take(v, w);)), ["v", "w"]);
    }

    #[test]
    fn what_only_looks_at_a_value_does_not() {
        for stmt in [
            parse_quote!(take(&v);),
            parse_quote!(v.push(1);),
            parse_quote!(take(v.clone());),
            parse_quote!(take(v[0]);),
            parse_quote!(let _ = v;),
            parse_quote!(let ref x = v;),
            parse_quote!(if v == w {}),
            parse_quote!(all.for_each(|x| take(v));),
            parse_quote!(for v in all() {
                take(v)
            }),
            parse_quote!(take(x.v);),
        ] {
            assert_eq!(found(stmt), Vec::<String>::new());
        }
    }
}
