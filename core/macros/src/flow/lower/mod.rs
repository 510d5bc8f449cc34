//! Lowers a body to labels.
//!
//! Code without `.await` stays as it is. A statement that waits ends the code before it with a jump; what follows the
//! statement becomes a label of its own, unless the statement is the only one to lead there.

mod bind;
mod control;
mod message;
mod overlap;
mod question;
mod wait;

use super::Flow;
use super::ir::{Body, Code, Env, LabelId, Local, Machine, Node, Out, Piece, meaning};
pub use control::set_loop_variable;

use self::question::question;
use self::wait::Target;
use super::rewrite::{Loop, Rewrite};
use super::types::infer;
use super::uses::{self, Facts, await_in_macro, expr_awaits, stmt_awaits};
use crate::errors::Errors;
use proc_macro2::Span;
use quote::quote;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, Ident, Item, Stmt, Type, parse_quote};

const WHERE_AWAIT: &str = "an `.await` stands alone as a statement, on the right of a `let` or of an assignment, or under \
     `match cx.when_any().await`: what is computed before and after it are two separate steps of the object. \
     Write `let x = ….await;`, and go on with `x`";

/// A lowered body.
pub struct Lowered {
    pub machine: Machine,
    /// The items declared in the body.
    pub items: Vec<Item>,
}

/// Lowers the body of an async method.
pub fn lower(flow: &Flow, errors: &mut Errors) -> Lowered {
    let name = flow.scope.chare.state_type(&flow.method.name);
    let mut machine = Machine::new(name, Out::Main);
    let mut lower = Lower { flow, errors, items: vec![], ids: 0, counters: 0, branches: 0 };
    let env = lower.arguments();
    let start = machine.label(env.clone());
    let next = if flow.method.ret.is_some() { Next::Value } else { Next::End };
    let place = Place { env, depth: 1, next, loops: vec![] };
    let block = flow.method.block.as_ref().expect("an async method has a body");
    let code = lower.block(&mut machine, place, &block.stmts);
    machine.labels[start].body = Body::Code(code);
    Lowered { machine, items: lower.items }
}

/// What comes after a block.
#[derive(Clone, Copy)]
enum Next {
    Jump(LabelId),
    /// The end, without a value.
    End,
    /// The end: the block's value is the method's.
    Value,
}

/// Where in the body the lowering is.
#[derive(Clone)]
struct Place {
    env: Env,
    depth: usize,
    next: Next,
    loops: Vec<Loop>,
}

impl Place {
    /// A block inside, after which `next` comes.
    fn inside(&self, next: Next) -> Place {
        Place { depth: self.depth + 1, next, ..self.clone() }
    }

    /// The body of a loop.
    fn in_loop(&self, around: Loop) -> Place {
        let mut place = self.clone();
        place.depth += 1;
        place.loops.push(around);
        place
    }
}

struct Lower<'a> {
    flow: &'a Flow<'a>,
    errors: &'a mut Errors,
    items: Vec<Item>,
    ids: u32,
    counters: u32,
    branches: u32,
}

impl Lower<'_> {
    fn arguments(&mut self) -> Env {
        let mut env = vec![];
        for arg in &self.flow.method.args {
            env.push(Local {
                id: self.fresh_id(),
                name: arg.name.clone(),
                ty: Some(arg.ty.clone()),
                mutable: arg.mutable,
                range: None,
                depth: 0,
                pattern: false,
            });
        }
        env
    }

    fn fresh_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    /// The statements of a block, and the way out of it.
    fn block(&mut self, m: &mut Machine, mut place: Place, stmts: &[Stmt]) -> Code {
        let mut code = vec![];
        for (at, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[at + 1..];
            if let Stmt::Item(item) = stmt {
                self.items.push(item.clone());
            } else if let Some(inside) = await_in_macro(stmt) {
                self.errors.at(
                    &inside,
                    "an `.await` cannot be inside a macro call: bind the value with `let` first",
                );
            } else if stmt_awaits(stmt) {
                code.extend(self.waiting(m, place, stmt, rest));
                return code;
            } else if let (true, Next::Value, Stmt::Expr(value, None)) = (rest.is_empty(), place.next, stmt) {
                code.push(Node::Done(Some(self.expr_piece(m, &place, value))));
                return code;
            } else {
                code.push(Node::Run(self.stmt_piece(m, &place, stmt)));
                self.declare(&mut place, stmt);
            }
        }
        code.push(self.leave(&place));
        code
    }

    /// The way out of a block that has run to its end.
    fn leave(&self, place: &Place) -> Node {
        match place.next {
            Next::Jump(label) => Node::Jump(label, meaning(&place.env)),
            Next::End | Next::Value => Node::Done(None),
        }
    }

    /// Brings the variables of a serial `let` into scope.
    fn declare(&mut self, place: &mut Place, stmt: &Stmt) {
        if let Stmt::Local(local) = stmt {
            let ty = local.init.as_ref().and_then(|init| infer(&init.expr, &place.env, &self.flow.cx));
            self.bind(place, &local.pat, ty.as_ref(), false);
        }
    }

    /// A statement with an `.await` inside, and everything after it.
    fn waiting(&mut self, m: &mut Machine, place: Place, stmt: &Stmt, rest: &[Stmt]) -> Code {
        let unfinished = matches!(stmt, Stmt::Expr(_, None));
        let tail = unfinished && rest.is_empty() && matches!(place.next, Next::Value);
        if let Some(question) = question(stmt) {
            return self.ask(m, place, question, rest);
        }
        match stmt {
            Stmt::Local(local) => self.waiting_let(m, place, local, rest),
            Stmt::Expr(e, _) => self.waiting_expr(m, place, e, rest, tail),
            other => {
                self.errors.at(other, WHERE_AWAIT);
                vec![]
            }
        }
    }

    /// `tail`: the expression's value is the method's.
    fn waiting_expr(&mut self, m: &mut Machine, place: Place, e: &Expr, rest: &[Stmt], tail: bool) -> Code {
        match e {
            Expr::Await(e) if !expr_awaits(&e.base) => {
                if tail {
                    self.wait_for_tail(m, place, &e.base)
                } else {
                    self.wait(m, place, &e.base, None, rest)
                }
            }
            Expr::Assign(_) | Expr::Binary(_) => match assignment(e) {
                Some((base, then)) => {
                    let then: Vec<Stmt> = [then].into_iter().chain(rest.iter().cloned()).collect();
                    self.wait(m, place, &base, Some(Target::value()), &then)
                }
                None => {
                    self.errors.at(e, WHERE_AWAIT);
                    vec![]
                }
            },
            Expr::If(e) => self.lower_if(m, place, e, rest, tail),
            Expr::Match(e) => self.lower_match(m, place, e, rest, tail),
            Expr::Block(e) => self.lower_block(m, place, e, rest, tail),
            Expr::Loop(e) => self.lower_loop(m, place, e, rest),
            Expr::While(e) => self.lower_while(m, place, e, rest),
            Expr::ForLoop(e) => self.lower_for(m, place, e, rest),
            other => {
                self.errors.at(other, WHERE_AWAIT);
                vec![]
            }
        }
    }

    /// Complains about an `.await` where none can be.
    fn must_not_wait(&mut self, e: &Expr) -> bool {
        let waits = expr_awaits(e);
        if waits {
            self.errors.at(e, WHERE_AWAIT);
        }
        waits
    }

    fn stmt_piece(&mut self, m: &Machine, place: &Place, stmt: &Stmt) -> Piece<Stmt> {
        let mut stmt = stmt.clone();
        self.rewrite(m, place).visit_stmt_mut(&mut stmt);
        // The tail of a block whose value nobody wants.
        if let Stmt::Expr(_, semi @ None) = &mut stmt {
            *semi = Some(Default::default());
        }
        let Facts { uses, exits } = uses::of_stmt(&stmt);
        Piece { code: stmt, uses, exits, here: meaning(&place.env) }
    }

    fn expr_piece(&mut self, m: &Machine, place: &Place, expr: &Expr) -> Piece<Expr> {
        let mut expr = expr.clone();
        self.rewrite(m, place).visit_expr_mut(&mut expr);
        let Facts { uses, exits } = uses::of_expr(&expr);
        Piece { code: expr, uses, exits, here: meaning(&place.env) }
    }

    /// An expression that goes into code of ours: nothing can leave it but `return` and `?`.
    fn plain_expr(&mut self, m: &Machine, place: &Place, expr: &Expr) -> (Expr, uses::Names) {
        let outside = Place { loops: vec![], ..place.clone() };
        let piece = self.expr_piece(m, &outside, expr);
        (piece.code, piece.uses)
    }

    fn rewrite<'r>(&'r mut self, m: &Machine, place: &'r Place) -> Rewrite<'r> {
        Rewrite {
            flow: self.flow,
            loops: &place.loops,
            main: matches!(m.out, Out::Main),
            errors: self.errors,
            depth: 0,
            labels: vec![],
        }
    }
}

/// `place = base.await` or `place += base.await`: what is awaited, and the statement with the value in its place.
fn assignment(e: &Expr) -> Option<(Expr, Stmt)> {
    let mut then = e.clone();
    let (left, right) = match &mut then {
        Expr::Assign(e) => (&e.left, &mut e.right),
        Expr::Binary(e) if assigns(&e.op) => (&e.left, &mut e.right),
        _ => return None,
    };
    let Expr::Await(awaited) = without_parens(right) else { return None };
    if expr_awaits(left) || expr_awaits(&awaited.base) {
        return None;
    }
    let base = (*awaited.base).clone();
    **right = value_at(&base);
    Some((base, Stmt::Expr(then, Some(Default::default()))))
}

/// The value that was waited for, at the place where it is asked for.
fn value_at(base: &Expr) -> Expr {
    let value = Ident::new("__value", Span::call_site().located_at(wait::place_of(base)));
    parse_quote!(#value)
}

/// `+=` and its like.
fn assigns(op: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// The expression inside any parentheses.
fn without_parens(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(e) => without_parens(&e.expr),
        Expr::Group(e) => without_parens(&e.expr),
        e => e,
    }
}

fn is_variable(e: &Expr, name: &Ident) -> bool {
    matches!(e, Expr::Path(path) if path.path.is_ident(name))
}

/// The unit type, or the one and only, or the tuple.
fn value_type(types: &[Type]) -> Type {
    match types {
        [one] => one.clone(),
        many => syn::parse2(quote!((#(#many),*))).expect("a tuple"),
    }
}

/// `let name: ty = value;`, at the place of the value.
fn let_typed(name: &Ident, ty: &Type, value: &Expr) -> proc_macro2::TokenStream {
    quote_spanned!(value.span()=> let #name: #ty = #value;)
}
