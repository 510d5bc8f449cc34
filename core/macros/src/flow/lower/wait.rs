//! `value.await`, as a statement, on the right of a `let`, or as the method's value.

use super::super::ir::{Body, Code, Machine, Node, On, Then, Wait, meaning};
use super::super::uses::{Names, bound_names, expr_awaits};
use super::{Lower, Place, WHERE_AWAIT, is_variable, value_type, without_parens};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Ident, Local, Pat, Stmt, Type, parse_quote};

/// What is awaited, ready to become a label.
pub struct Awaited {
    /// What is done before the wait.
    pub before: Vec<Node>,
    pub hidden: Vec<(Ident, TokenStream)>,
    pub kind: AwaitedKind,
    /// The type of the value, where the chare's own signatures tell it.
    pub ty: Option<Type>,
}

/// The part of [`On`] that does not depend on what comes then.
pub enum AwaitedKind {
    Message { entry: Ident, keyed: bool, arity: usize },
    Reply { slot: Ident, wanted: bool, what: String },
    Call { flow: Ident },
}

/// The pattern on the left of a `let`, and the type if one is written.
pub struct Target {
    pub pat: Pat,
    pub ty: Option<Type>,
}

impl Target {
    /// A variable of ours, which the statement after the wait uses.
    pub fn value() -> Self {
        Target { pat: parse_quote!(__value), ty: None }
    }
}

impl Lower<'_> {
    pub(super) fn waiting_let(
        &mut self,
        m: &mut Machine,
        place: Place,
        local: &Local,
        rest: &[Stmt],
    ) -> Code {
        let init = local.init.as_ref().expect("only an initialiser can wait");
        if let Some((_, diverge)) = &init.diverge {
            self.errors.at(
                diverge,
                "`let … else` cannot wait: write `let x = ….await;`, and then `let … = x else { … };`",
            );
            return vec![];
        }
        match &*init.expr {
            Expr::Await(e) if !expr_awaits(&e.base) => {
                self.wait(m, place, &e.base, Some(target(&local.pat)), rest)
            }
            other => {
                self.errors.at(other, WHERE_AWAIT);
                vec![]
            }
        }
    }

    /// The method's value is what is awaited.
    pub(super) fn wait_for_tail(&mut self, m: &mut Machine, place: Place, base: &Expr) -> Code {
        let value: Ident = parse_quote!(__value);
        let target = Target { pat: parse_quote!(#value), ty: self.flow.method.ret.clone() };
        let give = Stmt::Expr(parse_quote!(#value), None);
        self.wait(m, place, base, Some(target), &[give])
    }

    /// `base.await`, bound to `target`, followed by `rest`.
    pub(super) fn wait(
        &mut self,
        m: &mut Machine,
        mut place: Place,
        base: &Expr,
        target: Option<Target>,
        rest: &[Stmt],
    ) -> Code {
        let base = without_parens(base);
        if let Some(call) = self.context_call(base, "overlap") {
            if let Some(target) = &target {
                self.errors.at(
                    &target.pat,
                    "`overlap` has no value: let its parts write into `self` or into locals declared before it",
                );
            }
            return self.lower_overlap(m, place, call, rest);
        }
        let Some(awaited) = self.awaited(m, &place, base, target.as_ref()) else { return vec![] };
        let label = m.label(place.env.clone());
        let mut code = awaited.before;
        code.push(Node::Jump(label, meaning(&place.env)));
        let (pat, names) = self.bind_target(&mut place, target, awaited.ty);
        let then = Then { pat, names, code: self.block(m, place, rest) };
        let on = match awaited.kind {
            AwaitedKind::Message { entry, keyed, arity } => On::Message { entry, keyed, arity, then },
            AwaitedKind::Reply { slot, wanted, what } => On::Reply { slot, wanted, what, then },
            AwaitedKind::Call { flow } => On::Call { flow, then },
        };
        m.labels[label].body = Body::Wait(Box::new(Wait { at: place_of(base), hidden: awaited.hidden, on }));
        code
    }

    fn bind_target(
        &mut self,
        place: &mut Place,
        target: Option<Target>,
        known: Option<Type>,
    ) -> (TokenStream, Names) {
        let Some(Target { pat, ty }) = target else { return (quote!(_), Names::new()) };
        self.bind(place, &pat, ty.as_ref().or(known.as_ref()), false);
        let typed = ty.map(|ty| quote!(: #ty));
        (quote!(#pat #typed), bound_names(&pat))
    }

    fn awaited(
        &mut self,
        m: &Machine,
        place: &Place,
        base: &Expr,
        target: Option<&Target>,
    ) -> Option<Awaited> {
        if let Some(call) = self.context_call(base, "when") {
            return self.message(m, place, call);
        }
        if let Some(call) = self.context_call(base, "when_any") {
            self.errors.at(
                call,
                "`cx.when_any()` gives one of several messages: look at it with `match cx.when_any().await { \
                 Self::a(…) => …, Self::b(…) => … }`",
            );
            return None;
        }
        if let Some(call) = own_method(base) {
            let name = call.method.to_string();
            if self.flow.scope.flows.contains_key(&name) {
                return Some(self.method(m, place, call));
            }
            if self.flow.scope.receives.contains_key(&name) {
                self.errors.at(
                    call,
                    format!("`{name}` has no body: wait for it with `cx.when(Self::{name}).await`"),
                );
                return None;
            }
        }
        Some(self.reply(m, place, base, target))
    }

    /// The call of this method of `cx`, if it is one.
    pub(super) fn context_call<'e>(&self, e: &'e Expr, method: &str) -> Option<&'e ExprMethodCall> {
        match e {
            Expr::MethodCall(call) if is_variable(&call.receiver, &self.flow.cx) && call.method == method => {
                Some(call)
            }
            _ => None,
        }
    }

    /// Another async method of the chare: its state becomes a field of ours.
    fn method(&mut self, m: &Machine, place: &Place, call: &ExprMethodCall) -> Awaited {
        let chare = self.flow.scope.chare;
        let (state, start) = (chare.state_type(&call.method), crate::ir::start_function(&call.method));
        let (_, generics, _) = chare.generics.split_for_impl();
        let with_context = call.args.first().is_some_and(|first| is_variable(first, &self.flow.cx));
        let mut uses = Names::new();
        let mut args = vec![];
        for arg in call.args.iter().skip(with_context as usize) {
            let (arg, arg_uses) = self.plain_expr(m, place, arg);
            args.push(arg);
            uses.extend(arg_uses);
        }
        let begin =
            quote_spanned!(call.span()=> let __sub = ::std::boxed::Box::new(Self::#start(#(#args),*)););
        let ret = self.flow.scope.flows[&call.method.to_string()].clone();
        Awaited {
            before: vec![Node::Raw(begin, uses)],
            hidden: vec![(format_ident!("__sub"), quote!(::std::boxed::Box<#state #generics>))],
            kind: AwaitedKind::Call { flow: call.method.clone() },
            ty: Some(ret.unwrap_or_else(|| value_type(&[]))),
        }
    }

    /// Anything else that can be awaited: its value comes in a message, under a number.
    fn reply(&mut self, m: &Machine, place: &Place, base: &Expr, target: Option<&Target>) -> Awaited {
        let (value, uses) = self.plain_expr(m, place, base);
        let slot = format_ident!("__answer{}", self.fresh_id());
        let cx = &self.flow.cx;
        let what = quote_spanned!(place_of(base)=> __what);
        let begin = quote_spanned! {place_of(base)=>
            let #what = #value;
            let __wait = __mail.replies.begin(#cx.__id(), #what, &#slot);
        };
        Awaited {
            before: vec![Node::Raw(begin, uses)],
            hidden: vec![(format_ident!("__wait"), quote!(u64))],
            kind: AwaitedKind::Reply { slot, wanted: target.is_some(), what: self.describe(base) },
            ty: target.and_then(|target| target.ty.clone()),
        }
    }

    /// What is awaited, in words.
    fn describe(&self, base: &Expr) -> String {
        match base {
            Expr::MethodCall(call) if is_variable(&call.receiver, &self.flow.cx) => {
                format!("`cx.{}`", call.method)
            }
            Expr::MethodCall(call) if call.method == "reduce" => match without_parens(&call.receiver) {
                Expr::MethodCall(inner) => format!("the answers of `{}`", inner.method),
                _ => "the answers of a broadcast".into(),
            },
            Expr::MethodCall(call) => format!("the answer of `{}`", call.method),
            _ => "an answer".into(),
        }
    }
}

/// `self.method(…)`.
fn own_method(e: &Expr) -> Option<&ExprMethodCall> {
    match e {
        Expr::MethodCall(call) if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self")) => {
            Some(call)
        }
        _ => None,
    }
}

/// Where to point for what is awaited: the span of a whole expression is only that of its first token.
pub fn place_of(e: &Expr) -> Span {
    match e {
        Expr::MethodCall(call) => call.method.span(),
        Expr::Call(call) => place_of(&call.func),
        Expr::Path(path) => path.path.segments.last().map_or_else(|| path.span(), Spanned::span),
        other => other.span(),
    }
}

fn target(pat: &Pat) -> Target {
    match pat {
        Pat::Type(typed) => Target { pat: (*typed.pat).clone(), ty: Some((*typed.ty).clone()) },
        other => Target { pat: other.clone(), ty: None },
    }
}
