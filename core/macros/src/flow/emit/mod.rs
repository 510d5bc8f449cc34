//! Writes the code of a machine: a state type, and a loop over a `match` with an arm for each label.

mod any;
mod state;
mod wait;

use super::Flow;
use super::ir::{
    Body, Branch, Code, Env, Label, LabelId, Local, Machine, Meaning, Node, On, Out, Piece, Range,
};
use super::liveness::{Live, watches};
use super::lower::set_loop_variable;
use super::moves::{self, Shared, User};
use super::rewrite::ReplaceJumps;
use super::types::cannot_be_kept;
use super::uses::Names;
use crate::errors::Errors;
use crate::parse::SelfType;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Stmt};

/// The code of an async method.
pub struct Emitted {
    pub types: TokenStream,
    pub body: TokenStream,
    pub first: Vec<Ident>,
    pub watches: bool,
}

/// Writes the code of a method's machine.
pub fn emit(flow: &Flow, machine: &Machine, errors: &mut Errors) -> Emitted {
    let mut emit = Emit { flow, errors, types: TokenStream::new(), slots: vec![], reported: BTreeSet::new() };
    let solved = Solved::of(machine);
    let machine_body = emit.machine(&solved);
    let slots = emit.slots.iter().map(|slot| quote!(let #slot = ::talisman::flow::Answer::of_any_type();));
    let body = quote!(#(#slots)* #machine_body);
    let first = solved.fields(0).map(|local| local.name.clone()).collect();
    let object = ["self", &flow.cx.to_string()];
    Emitted { types: emit.types, body, first, watches: watches(machine, &object) }
}

/// A machine, and what its labels need.
struct Solved<'m> {
    machine: &'m Machine,
    live: Live,
    /// Variables of the machine around it that have become its own.
    adopted: Names,
    /// Those that it shares with others, and so must not move.
    shared: Shared,
}

impl<'m> Solved<'m> {
    fn of(machine: &'m Machine) -> Self {
        Self::with(machine, Names::new(), Shared::new())
    }

    fn with(machine: &'m Machine, adopted: Names, shared: Shared) -> Self {
        Solved { machine, live: Live::of(machine), adopted, shared: moves::watched(machine, shared) }
    }

    /// The parts of an overlap, each with the variables that have become its own.
    fn parts(&self, label: LabelId) -> Vec<(&'m Branch, Solved<'m>)> {
        let machine = self.machine;
        let Label { env, body: Body::Wait(wait) } = &machine.labels[label] else { return vec![] };
        let On::Overlap { branches, then } = &wait.on else { return vec![] };
        let own = |name: &String| {
            env.iter().any(|local| local.name == name.as_str() && local.range.is_none() && self.owns(local))
        };
        let adopted = self.live.adopted(branches, then).into_iter();
        let adopted = adopted.map(|names| names.into_iter().filter(own).collect());
        branches
            .iter()
            .zip(adopted)
            .map(|(branch, names)| {
                let shared = self.shared_by(env, branches, branch, &names);
                (branch, Solved::with(&branch.machine, names, shared))
            })
            .collect()
    }

    /// The variables around a part of an overlap that others use too.
    fn shared_by(&self, env: &Env, branches: &[Branch], part: &Branch, adopted: &Names) -> Shared {
        let others = branches.iter().filter(|other| other.var != part.var);
        let user = |name: &String| {
            let local = env.iter().find(|local| local.name == name.as_str() && local.range.is_none())?;
            match others.clone().any(|other| other.outer.contains(name)) {
                // It belongs to an overlap around this one, and perhaps another part of that uses it.
                _ if !self.owns(local) => self.shared.get(name).copied(),
                true => Some(User::AnotherPart),
                false => Some(User::Afterwards),
            }
        };
        let names = part.outer.iter().filter(|name| !adopted.contains(*name));
        names.filter_map(|name| Some((name.clone(), user(name)?))).collect()
    }

    /// Whether this variable is a field of the machine's states.
    fn owns(&self, local: &Local) -> bool {
        self.machine.owns(local) || self.adopted.contains(&local.name.to_string())
    }

    /// The labels there is code for.
    fn labels(&self) -> impl Iterator<Item = LabelId> {
        (0..self.machine.labels.len()).filter(|label| self.live.reached(*label))
    }

    /// The variables that a label needs.
    fn needed(&self, label: LabelId) -> impl Iterator<Item = &'m Local> {
        let needs = self.live.needs(label);
        let env = self.machine.labels[label].env.iter();
        env.filter(move |local| self.owns(local) && needs.contains(&local.name.to_string()))
    }

    /// Those of them that are fields of its state, and not of a state inside.
    fn fields(&self, label: LabelId) -> impl Iterator<Item = &'m Local> {
        let inside: Names = self.parts(label).into_iter().flat_map(|(_, part)| part.adopted).collect();
        self.needed(label)
            .filter(move |local| local.range.is_none() && !inside.contains(&local.name.to_string()))
    }

    /// The name of a label's state.
    fn state(&self, label: LabelId) -> TokenStream {
        let (machine, variant) = (&self.machine.name, variant(label));
        quote!(#machine::#variant)
    }

    /// A label's state, made of the variables in scope.
    fn made(&self, label: LabelId) -> TokenStream {
        let state = self.state(label);
        let mut fields = vec![];
        let body = &self.machine.labels[label].body;
        for local in self.fields(label) {
            let (name, mut value) = (&local.name, local.name.clone());
            // At the `.await`, so that "used after move" points there.
            if let Body::Wait(wait) = body {
                value.set_span(wait.at.resolved_at(name.span()));
            }
            fields.push(quote!(#name: #value));
        }
        if let Body::Wait(wait) = body {
            fields.extend(wait.hidden.iter().map(|(name, _)| quote!(#name)));
        }
        quote!(#state { #(#fields),* })
    }

    /// Goes to a label.
    fn jump(&self, label: LabelId) -> TokenStream {
        let made = self.made(label);
        match &self.machine.out {
            Out::Main => quote!({ __state = #made; continue '__flow; }),
            Out::Branch { var, life, .. } => quote!({ #var = #made; continue #life; }),
        }
    }

    /// Waits at a label.
    fn pending(&self, label: LabelId) -> TokenStream {
        let made = self.made(label);
        match &self.machine.out {
            Out::Main => quote!({ *__at = #made; return ::talisman::flow::Step::Wait { moved: __moved }; }),
            Out::Branch { var, life, .. } => quote!({ #var = #made; break #life; }),
        }
    }
}

fn variant(label: LabelId) -> Ident {
    format_ident!("S{}", label)
}

struct Emit<'a> {
    flow: &'a Flow<'a>,
    errors: &'a mut Errors,
    types: TokenStream,
    /// The variables that carry the types of answers and loop variables.
    slots: Vec<Ident>,
    /// What was complained about: several labels may need the same variable.
    reported: BTreeSet<String>,
}

impl Emit<'_> {
    /// The loop that runs a machine. Its state type goes to `types`.
    fn machine(&mut self, solved: &Solved) -> TokenStream {
        let arms: Vec<TokenStream> = solved.labels().map(|label| self.arm(solved, label)).collect();
        let state_type = self.state_type(solved);
        self.types.extend(state_type);
        let name = &solved.machine.name;
        let ended = quote!(#name::Done | #name::__Of(_));
        match &solved.machine.out {
            Out::Main => {
                let unreachable = quote!(::core::unreachable!("this async entry has ended"));
                quote!('__flow: loop { match __state { #(#arms)* #ended => #unreachable } })
            }
            Out::Branch { var, life, .. } => quote! {
                #life: loop {
                    match ::core::mem::replace(&mut #var, #name::Done) { #(#arms)* #ended => break #life }
                }
            },
        }
    }

    fn arm(&mut self, solved: &Solved, label: LabelId) -> TokenStream {
        let state = solved.state(label);
        let mut fields: Vec<TokenStream> = vec![];
        for local in solved.fields(label) {
            let (name, mutable) = (&local.name, local.mutable.then(|| quote!(mut)));
            fields.push(quote!(#mutable #name));
        }
        let loop_variables: Vec<TokenStream> = solved
            .needed(label)
            .filter_map(|local| Some(set_loop_variable(&local.name, local.range.as_ref()?)))
            .collect();
        let body = match &solved.machine.labels[label].body {
            Body::Code(code) if code.is_empty() => quote!(::core::unreachable!()),
            Body::Code(code) => self.code(solved, code),
            Body::Wait(wait) => {
                fields.extend(wait.hidden.iter().map(|(name, _)| quote!(mut #name)));
                self.wait(solved, label, wait)
            }
        };
        let started = (label == 0).then(|| quote!(__moved = true;));
        quote!(#state { #(#fields),* } => { #started #(#loop_variables)* #body })
    }

    fn code(&mut self, solved: &Solved, code: &Code) -> TokenStream {
        code.iter().map(|node| self.node(solved, node)).collect()
    }

    fn node(&mut self, solved: &Solved, node: &Node) -> TokenStream {
        match node {
            Node::Run(piece) => {
                let asks = moves::asks(&piece.code, &solved.shared);
                let stmt = self.stmt(solved, piece);
                quote!(#asks #stmt)
            }
            Node::Raw(tokens, _) => {
                let asks = moves::asks(tokens, &solved.shared);
                quote!(#asks #tokens)
            }
            Node::Count(Range { counter, slot }, range, _) => {
                self.slots.push(slot.clone());
                // All that can be wrong with the range is wrong at one place, and told once.
                let at = Span::call_site().located_at(syn::spanned::Spanned::span(range));
                let mut typed = slot.clone();
                typed.set_span(at);
                let of = quote_spanned!(at=> __range);
                let new = quote_spanned!(at=> ::talisman::flow::Counter::new(#of, &#typed));
                quote!(let #of = #range; let mut #counter = #new;)
            }
            Node::If(condition, then, otherwise) => {
                let asks = moves::asks(&condition.code, &solved.shared);
                let condition = self.expr(solved, condition);
                let (then, otherwise) = (self.code(solved, then), self.code(solved, otherwise));
                quote!(#asks if #condition { #then } else { #otherwise })
            }
            Node::Match(value, cases) => {
                let asks = moves::asks(&value.code, &solved.shared);
                let value = self.expr(solved, value);
                let mut arms = TokenStream::new();
                for case in cases {
                    let (pat, guard) = (&case.pat, case.guard.as_ref().map(|guard| self.expr(solved, guard)));
                    let (guard, body) = (guard.map(|guard| quote!(if #guard)), self.code(solved, &case.code));
                    arms.extend(quote!(#pat #guard => { #body }));
                }
                quote!(#asks match #value { #arms })
            }
            Node::Jump(to, here) => {
                self.check_jump(solved, *to, here, &[]);
                solved.jump(*to)
            }
            Node::Branches(label) => {
                let begin = |(branch, part): &(&Branch, Solved)| {
                    let (var, state) = (&branch.var, part.state(0));
                    let fields = part.fields(0).map(|local| &local.name);
                    quote!(let #var = #state { #(#fields),* };)
                };
                solved.parts(*label).iter().map(begin).collect()
            }
            Node::Done(value) => {
                let asks = value.as_ref().map(|value| moves::asks(&value.code, &solved.shared));
                let done = self.done(solved, value.as_ref());
                quote!(#asks #done)
            }
        }
    }

    fn done(&mut self, solved: &Solved, value: Option<&Piece<Expr>>) -> TokenStream {
        let value = value.map(|value| self.expr(solved, value));
        match &solved.machine.out {
            Out::Main => {
                // A missing value is shown at the type that wants one.
                let ret = self.flow.method.ret.as_ref();
                let at = ret.map_or_else(Span::call_site, syn::spanned::Spanned::span);
                let value = value.map_or_else(|| quote_spanned!(at=> ()), ToTokens::into_token_stream);
                match ret {
                    None => quote!({ return ::talisman::flow::Step::Done(#value); }),
                    Some(ret) => {
                        quote!({ let __value: #ret = #value; return ::talisman::flow::Step::Done(__value); })
                    }
                }
            }
            Out::Branch { life, .. } => quote!({ #value; __moved = true; break #life; }),
        }
    }

    fn stmt(&mut self, solved: &Solved, piece: &Piece<Stmt>) -> Stmt {
        self.check_exits(solved, piece);
        let mut code = piece.code.clone();
        ReplaceJumps(|to| Expr::Verbatim(solved.jump(to))).visit_stmt_mut(&mut code);
        code
    }

    fn expr(&mut self, solved: &Solved, piece: &Piece<Expr>) -> Expr {
        self.check_exits(solved, piece);
        let mut code = piece.code.clone();
        ReplaceJumps(|to| Expr::Verbatim(solved.jump(to))).visit_expr_mut(&mut code);
        code
    }

    fn check_exits<T>(&mut self, solved: &Solved, piece: &Piece<T>) {
        for exit in &piece.exits {
            self.check_jump(solved, exit.to, &piece.here, &exit.inside);
        }
    }

    /// A jump takes along the variables that its target needs: each name must still mean the same variable here.
    fn check_jump(&mut self, solved: &Solved, to: LabelId, here: &Meaning, inside: &[Ident]) {
        for field in solved.fields(to) {
            let renamed = here.iter().find(|(name, id)| *name == field.name && *id != field.id);
            let hidden =
                renamed.map(|(name, _)| name).or_else(|| inside.iter().find(|name| **name == field.name));
            if let Some(name) = hidden {
                let text = format!(
                    "this `{name}` hides an outer `{name}` that is needed again later, after an `.await`: give one of \
                     them another name"
                );
                self.report(name, text);
            }
        }
    }

    /// The type of a field, for a variable that is kept.
    fn kept_type(&mut self, local: &Local) -> TokenStream {
        let name = &local.name;
        let Some(ty) = &local.ty else {
            let where_to = match local.pattern {
                true => format!("give it a type before that: `let {name}: Type = {name};`"),
                false => format!("write its type here: `let {name}: Type = …`"),
            };
            let text = format!(
                "`{name}` is needed after an `.await`, so it becomes part of the object's checkpoint; {where_to}"
            );
            self.report(name, text);
            return quote!(());
        };
        if let Some(error) = cannot_be_kept(name, ty) {
            if self.reported.insert(format!("{name} {}", local.id)) {
                self.errors.push(error);
            }
            return quote!(());
        }
        let mut ty = ty.clone();
        SelfType(&self.flow.scope.chare.self_ty).visit_type_mut(&mut ty);
        quote!(#ty)
    }

    fn report(&mut self, at: &Ident, text: String) {
        if self.reported.insert(format!("{text} {:?}", at.span())) {
            self.errors.at(at, text);
        }
    }
}
