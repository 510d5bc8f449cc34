//! Which variables code uses, and which it binds.

use super::ir::Exit;
use super::rewrite::jump_target;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Arm, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprMacro, ExprPath, ExprWhile};
use syn::{Ident, Local, Macro, Pat, PatIdent, Stmt};

/// Names of variables.
pub type Names = BTreeSet<String>;

/// What is known of a piece of serial code.
#[derive(Default)]
pub struct Facts {
    /// The variables it uses and does not bind itself.
    pub uses: Names,
    /// The jumps out of it.
    pub exits: Vec<Exit>,
}

/// The facts of a statement.
pub fn of_stmt(stmt: &Stmt) -> Facts {
    let mut free = Free::default();
    free.visit_stmt(stmt);
    free.facts
}

/// The facts of an expression.
pub fn of_expr(expr: &Expr) -> Facts {
    let mut free = Free::default();
    free.visit_expr(expr);
    free.facts
}

/// The names a pattern binds, with their `mut`.
pub fn bindings(pat: &Pat) -> Vec<(Ident, bool)> {
    struct Bindings(Vec<(Ident, bool)>);
    impl<'a> Visit<'a> for Bindings {
        fn visit_pat_ident(&mut self, pat: &'a PatIdent) {
            if is_binding(pat) {
                self.0.push((pat.ident.clone(), pat.mutability.is_some()));
            }
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut bindings = Bindings(vec![]);
    bindings.visit_pat(pat);
    bindings.0
}

/// The names a pattern binds.
pub fn bound_names(pat: &Pat) -> Names {
    bindings(pat).into_iter().map(|(name, _)| name.to_string()).collect()
}

/// An identifier in a pattern is a variable, unless it is written like a constant or a variant.
pub fn is_binding(pat: &PatIdent) -> bool {
    pat.subpat.is_some() || pat.by_ref.is_some() || !pat.ident.to_string().starts_with(char::is_uppercase)
}

/// The patterns of an `if let` or `while let` condition.
pub fn condition_patterns(condition: &Expr) -> Vec<&Pat> {
    match condition {
        Expr::Let(e) => vec![&e.pat],
        Expr::Binary(e) => [condition_patterns(&e.left), condition_patterns(&e.right)].concat(),
        Expr::Paren(e) => condition_patterns(&e.expr),
        _ => vec![],
    }
}

/// Finds the free variables, keeping track of what is bound where.
#[derive(Default)]
struct Free {
    bound: Vec<Ident>,
    facts: Facts,
}

impl Free {
    fn bind(&mut self, pat: &Pat) {
        self.bound.extend(bindings(pat).into_iter().map(|(name, _)| name));
    }

    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        let outside = self.bound.len();
        visit(self);
        self.bound.truncate(outside);
    }

    fn used(&mut self, name: &Ident) {
        if !self.bound.contains(name) {
            self.facts.uses.insert(name.to_string());
        }
    }

    /// Identifiers in a macro's arguments, `{name}` in format strings included; not those after a dot.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut dots = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(name) if dots != 1 => self.used(name),
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.format_string(&literal.to_string()),
                _ => {}
            }
            let dot = matches!(&token, TokenTree::Punct(p) if p.as_char() == '.');
            dots = if dot { dots + 1 } else { 0 };
        }
    }

    fn format_string(&mut self, literal: &str) {
        if !literal.starts_with(['"', 'r']) {
            return;
        }
        for part in literal.split('{').skip(1) {
            let inside = part.split('}').next().unwrap_or_default();
            for name in inside.split(|c: char| !c.is_alphanumeric() && c != '_') {
                // `1e` of `{x:.1e}` is no name, and the compiler reports what begins like a number as a bad one, caught or not.
                let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
                if let Some(name) = is_name.then(|| syn::parse_str::<Ident>(name).ok()).flatten() {
                    self.used(&name);
                }
            }
        }
    }
}

impl<'a> Visit<'a> for Free {
    fn visit_expr_path(&mut self, path: &'a ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.used(name);
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_block(&mut self, block: &'a Block) {
        self.within(|free| visit::visit_block(free, block));
    }

    fn visit_local(&mut self, local: &'a Local) {
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
        self.visit_pat(&local.pat);
        self.bind(&local.pat);
    }

    fn visit_arm(&mut self, arm: &'a Arm) {
        self.within(|free| {
            free.bind(&arm.pat);
            visit::visit_arm(free, arm);
        });
    }

    fn visit_expr_for_loop(&mut self, e: &'a ExprForLoop) {
        self.visit_expr(&e.expr);
        self.within(|free| {
            free.bind(&e.pat);
            free.visit_block(&e.body);
        });
    }

    fn visit_expr_closure(&mut self, e: &'a ExprClosure) {
        self.within(|free| {
            e.inputs.iter().for_each(|pat| free.bind(pat));
            free.visit_expr(&e.body);
        });
    }

    fn visit_expr_if(&mut self, e: &'a ExprIf) {
        self.within(|free| {
            free.visit_expr(&e.cond);
            free.visit_block(&e.then_branch);
        });
        if let Some((_, other)) = &e.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, e: &'a ExprWhile) {
        self.within(|free| {
            free.visit_expr(&e.cond);
            free.visit_block(&e.body);
        });
    }

    fn visit_expr_let(&mut self, e: &'a ExprLet) {
        self.visit_expr(&e.expr);
        self.bind(&e.pat);
    }

    fn visit_expr_macro(&mut self, e: &'a ExprMacro) {
        match jump_target(&e.mac) {
            Some(to) => self.facts.exits.push(Exit { to, inside: self.bound.clone() }),
            None => self.visit_macro(&e.mac),
        }
    }

    fn visit_macro(&mut self, mac: &'a Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Whether a statement waits.
pub fn stmt_awaits(stmt: &Stmt) -> bool {
    let mut v = Awaits(false);
    v.visit_stmt(stmt);
    v.0
}

/// Whether an expression waits.
pub fn expr_awaits(expr: &Expr) -> bool {
    let mut v = Awaits(false);
    v.visit_expr(expr);
    v.0
}

struct Awaits(bool);

impl<'a> Visit<'a> for Awaits {
    fn visit_expr_await(&mut self, _: &'a syn::ExprAwait) {
        self.0 = true;
    }
    fn visit_expr_closure(&mut self, _: &'a ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'a syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// An `.await` in the arguments of a macro call.
pub fn await_in_macro(stmt: &Stmt) -> Option<TokenTree> {
    struct InMacros(Option<TokenTree>);
    impl<'a> Visit<'a> for InMacros {
        fn visit_macro(&mut self, mac: &'a Macro) {
            self.0 = self.0.take().or_else(|| find_await(mac.tokens.clone()));
        }
        fn visit_item(&mut self, _: &'a syn::Item) {}
    }
    let mut found = InMacros(None);
    found.visit_stmt(stmt);
    found.0
}

fn find_await(tokens: TokenStream) -> Option<TokenTree> {
    let mut after_dot = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(name) if after_dot && name == "await" => return Some(token),
            TokenTree::Group(group) => {
                if let Some(found) = find_await(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
        after_dot = matches!(&token, TokenTree::Punct(p) if p.as_char() == '.');
    }
    None
}
