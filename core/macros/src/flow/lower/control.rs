//! Control flow around an `.await`.

use super::super::ir::{Body, Case, Code, LabelId, Local, Machine, Node, Piece, Range, meaning};
use super::super::rewrite::Loop;
use super::super::uses::Names;
use super::{Lower, Next, Place, without_parens};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Expr, ExprBlock, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprWhile, Ident, Label, Pat, Stmt,
    parse_quote,
};

impl Lower<'_> {
    pub(super) fn lower_if(
        &mut self,
        m: &mut Machine,
        place: Place,
        e: &ExprIf,
        rest: &[Stmt],
        tail: bool,
    ) -> Code {
        if self.must_not_wait(&e.cond) {
            return vec![];
        }
        let join = self.join(m, &place, rest, tail);
        let condition = self.expr_piece(m, &place, &e.cond);
        let mut then_place = place.inside(join);
        self.bind_condition(&mut then_place, &e.cond);
        let then = self.block(m, then_place, &e.then_branch.stmts);
        let otherwise = match &e.else_branch {
            None => vec![self.leave(&Place { next: join, ..place })],
            Some((_, other)) => self.arm(m, place.inside(join), other),
        };
        vec![Node::If(condition, then, otherwise)]
    }

    pub(super) fn lower_match(
        &mut self,
        m: &mut Machine,
        place: Place,
        e: &ExprMatch,
        rest: &[Stmt],
        tail: bool,
    ) -> Code {
        if let Expr::Await(awaited) = &*e.expr {
            return self.lower_any(m, place, &awaited.base, &e.arms, rest, tail);
        }
        if self.must_not_wait(&e.expr) {
            return vec![];
        }
        let join = self.join(m, &place, rest, tail);
        let value = self.expr_piece(m, &place, &e.expr);
        let mut cases = vec![];
        for arm in &e.arms {
            let mut inside = place.inside(join);
            self.bind(&mut inside, &arm.pat, None, true);
            if arm.guard.as_ref().is_some_and(|(_, guard)| self.must_not_wait(guard)) {
                continue;
            }
            let guard = arm.guard.as_ref().map(|(_, guard)| self.expr_piece(m, &inside, guard));
            cases.push(Case { pat: arm.pat.clone(), guard, code: self.arm(m, inside, &arm.body) });
        }
        vec![Node::Match(value, cases)]
    }

    pub(super) fn lower_block(
        &mut self,
        m: &mut Machine,
        place: Place,
        e: &ExprBlock,
        rest: &[Stmt],
        tail: bool,
    ) -> Code {
        let Some(label) = &e.label else {
            let join = self.join(m, &place, rest, tail);
            return self.block(m, place.inside(join), &e.block.stmts);
        };
        let after = self.join_label(m, &place, rest);
        let mut inside = place.in_loop(Loop { label: Some(name(label)), head: None, after });
        inside.next = Next::Jump(after);
        self.block(m, inside, &e.block.stmts)
    }

    pub(super) fn lower_loop(&mut self, m: &mut Machine, place: Place, e: &ExprLoop, rest: &[Stmt]) -> Code {
        let after = self.join_label(m, &place, rest);
        let head = m.label(place.env.clone());
        let code = self.loop_body(m, &place, &e.label, head, after, &e.body.stmts);
        m.labels[head].body = Body::Code(code);
        vec![Node::Jump(head, meaning(&place.env))]
    }

    pub(super) fn lower_while(
        &mut self,
        m: &mut Machine,
        place: Place,
        e: &ExprWhile,
        rest: &[Stmt],
    ) -> Code {
        if self.must_not_wait(&e.cond) {
            return vec![];
        }
        let after = self.join_label(m, &place, rest);
        let head = m.label(place.env.clone());
        let condition = self.expr_piece(m, &place, &e.cond);
        let mut inside = place.clone();
        inside.depth += 1;
        self.bind_condition(&mut inside, &e.cond);
        inside.depth -= 1;
        let body = self.loop_body(m, &inside, &e.label, head, after, &e.body.stmts);
        let here = meaning(&place.env);
        m.labels[head].body =
            Body::Code(vec![Node::If(condition, body, vec![Node::Jump(after, here.clone())])]);
        vec![Node::Jump(head, here)]
    }

    /// A `for` loop over a range: its counter is a local of ours, its variable is computed from that.
    pub(super) fn lower_for(
        &mut self,
        m: &mut Machine,
        place: Place,
        e: &ExprForLoop,
        rest: &[Stmt],
    ) -> Code {
        if self.must_not_wait(&e.expr) {
            return vec![];
        }
        self.counters += 1;
        let counter = format_ident!("__i{}", self.counters);
        let counted = Range { counter: counter.clone(), slot: format_ident!("__int{}", self.fresh_id()) };
        let after = self.join_label(m, &place, rest);
        let range = without_parens(&e.expr);
        let (start, start_uses) = self.plain_expr(m, &place, range);
        let mut outside = place.clone();
        outside.env.push(self.counter_local(&place, &counter));
        let head = m.label(outside.env.clone());
        let mut inside = outside.clone();
        let value = self.loop_variable(&mut inside, &e.pat, counted.clone());
        let mut body: Code = value.into_iter().collect();
        body.extend(self.loop_body(m, &inside, &e.label, head, after, &e.body.stmts));
        let here = meaning(&outside.env);
        let more = Piece {
            code: parse_quote!(#counter.advance()),
            uses: Names::from([counter.to_string()]),
            exits: vec![],
            here: here.clone(),
        };
        m.labels[head].body = Body::Code(vec![Node::If(more, body, vec![Node::Jump(after, here.clone())])]);
        vec![Node::Count(counted, start.into_token_stream(), start_uses), Node::Jump(head, here)]
    }

    fn counter_local(&mut self, place: &Place, counter: &Ident) -> Local {
        Local {
            id: self.fresh_id(),
            name: counter.clone(),
            ty: Some(parse_quote!(::talisman::flow::Counter)),
            mutable: true,
            range: None,
            depth: place.depth,
            pattern: false,
        }
    }

    /// Brings the variable of a `for` loop into scope, and gives the statement that sets it.
    fn loop_variable(&mut self, place: &mut Place, pat: &Pat, range: Range) -> Option<Node> {
        let name = match pat {
            Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() && pat.mutability.is_none() => {
                &pat.ident
            }
            Pat::Wild(_) => return None,
            other => {
                self.errors.at(other, "a `for` loop that waits inside runs over a range of integers, with a plain variable or `_`: `for i in 0..items.len()`");
                return None;
            }
        };
        let uses = Names::from([range.counter.to_string()]);
        let set = set_loop_variable(name, &range);
        let (id, depth) = (self.fresh_id(), place.depth + 1);
        place.env.retain(|local| local.name != *name);
        let (name, range) = (name.clone(), Some(range));
        place.env.push(Local { id, name, ty: None, mutable: false, range, depth, pattern: false });
        Some(Node::Raw(set, uses))
    }

    fn loop_body(
        &mut self,
        m: &mut Machine,
        place: &Place,
        label: &Option<Label>,
        head: LabelId,
        after: LabelId,
        body: &[Stmt],
    ) -> Code {
        let mut inside = place.in_loop(Loop { label: label.as_ref().map(name), head: Some(head), after });
        inside.next = Next::Jump(head);
        self.block(m, inside, body)
    }

    /// The body of a `match` arm, or what follows `else`.
    pub(super) fn arm(&mut self, m: &mut Machine, place: Place, body: &Expr) -> Code {
        match body {
            Expr::Block(e) if e.label.is_none() => self.block(m, place, &e.block.stmts),
            e => self.block(m, place, &[Stmt::Expr(e.clone(), None)]),
        }
    }

    /// Where the parts of a statement come together again.
    pub(super) fn join(&mut self, m: &mut Machine, place: &Place, rest: &[Stmt], tail: bool) -> Next {
        match place.next {
            Next::Value if tail => Next::Value,
            Next::Value => Next::Jump(self.join_label(m, place, rest)),
            next if rest.is_empty() => next,
            _ => Next::Jump(self.join_label(m, place, rest)),
        }
    }

    /// The same, where it has to be a label.
    fn join_label(&mut self, m: &mut Machine, place: &Place, rest: &[Stmt]) -> LabelId {
        if let (true, Next::Jump(label)) = (rest.is_empty(), place.next) {
            return label;
        }
        let label = m.label(place.env.clone());
        let code = self.block(m, place.clone(), rest);
        m.labels[label].body = Body::Code(code);
        label
    }
}

fn name(label: &Label) -> String {
    label.name.ident.to_string()
}

/// `let i = counter.value(…);`
pub fn set_loop_variable(name: &Ident, range: &Range) -> TokenStream {
    let Range { counter, slot } = range;
    quote!(let #name = #counter.value(&#slot);)
}
