//! `cx.when(…)` and `match cx.when_any().await { … }`.

use super::super::ir::{Arm, Body, Code, Machine, Node, On, Wait, meaning};
use super::wait::{Awaited, AwaitedKind};
use super::{Lower, Place, let_typed, value_type, without_parens};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, ExprMethodCall, Ident, Pat, Path, Stmt, Type};

impl Lower<'_> {
    /// `cx.when(Self::entry)` and `cx.when(Self::entry, key)`.
    pub(super) fn message(&mut self, m: &Machine, place: &Place, call: &ExprMethodCall) -> Option<Awaited> {
        let Some(named) = call.args.first() else {
            self.errors.at(
                call,
                "`cx.when(Self::entry)` or `cx.when(Self::entry, key)`; to wait for whichever of several comes first: \
                 `match cx.when_any().await { Self::a(…) => …, Self::b(…) => … }`",
            );
            return None;
        };
        let Expr::Path(path) = named else {
            self.errors.at(named, "`cx.when` takes a receive entry of this chare: `cx.when(Self::ghost)`");
            return None;
        };
        let entry = self.receive_entry(&path.path)?;
        if let Some(third) = call.args.iter().nth(2) {
            self.errors.at(third, "`cx.when` takes the entry and, to match, the value of its first argument");
        }
        let types = self.argument_types(&entry);
        let key = call.args.iter().nth(1);
        let (mut before, mut hidden) = (vec![], vec![]);
        if let Some(key) = key {
            let Some(ty) = types.first() else {
                self.errors.at(key, format!("`{entry}` has no argument to match"));
                return None;
            };
            let (key, uses) = self.plain_expr(m, place, key);
            let name = format_ident!("__key");
            before.push(Node::Raw(let_typed(&name, ty, &key), uses));
            hidden.push((name, quote!(#ty)));
        }
        let keyed = key.is_some();
        let ty = Some(value_type(&types[keyed as usize..]));
        Some(Awaited { before, hidden, kind: AwaitedKind::Message { entry, keyed, arity: types.len() }, ty })
    }

    /// `match cx.when_any().await { … }`.
    pub(super) fn lower_any(
        &mut self,
        m: &mut Machine,
        place: Place,
        base: &Expr,
        arms: &[syn::Arm],
        rest: &[Stmt],
        tail: bool,
    ) -> Code {
        let base = without_parens(base);
        if self.context_call(base, "when_any").is_none_or(|call| !call.args.is_empty()) {
            self.errors.at(
                base,
                "bind what is awaited with `let` and match on that; `match ….await` is for `cx.when_any()`",
            );
            return vec![];
        }
        let label = m.label(place.env.clone());
        let inside = place.inside(self.join(m, &place, rest, tail));
        let arms: Vec<Arm> = arms.iter().filter_map(|arm| self.message_arm(m, inside.clone(), arm)).collect();
        let at = syn::spanned::Spanned::span(base);
        m.labels[label].body = Body::Wait(Box::new(Wait { at, hidden: vec![], on: On::Any(arms) }));
        vec![Node::Jump(label, meaning(&place.env))]
    }

    fn message_arm(&mut self, m: &mut Machine, mut place: Place, arm: &syn::Arm) -> Option<Arm> {
        let Pat::TupleStruct(pat) = &arm.pat else {
            self.errors.at(
                &arm.pat,
                "an arm of `match cx.when_any().await` is a receive entry with its arguments: \
                 `Self::ghost(iter, cells) => …`",
            );
            return None;
        };
        let entry = self.receive_entry(&pat.path)?;
        let types = self.argument_types(&entry);
        if pat.elems.len() != types.len() {
            let text =
                format!("`{entry}` has {} arguments, this pattern has {}", types.len(), pat.elems.len());
            self.errors.at(&arm.pat, text);
            return None;
        }
        for (pat, ty) in pat.elems.iter().zip(&types) {
            let known = matches!(pat, Pat::Ident(_)).then_some(ty);
            self.bind(&mut place, pat, known, true);
        }
        let guard = match &arm.guard {
            Some((_, guard)) if self.must_not_wait(guard) => return None,
            Some((_, guard)) => Some((**guard).clone()),
            None => None,
        };
        let pats = pat.elems.iter().cloned().collect();
        Some(Arm { entry, types, pats, guard, code: self.arm(m, place, &arm.body) })
    }

    fn argument_types(&self, entry: &Ident) -> Vec<Type> {
        self.flow.scope.receives[&entry.to_string()].iter().map(|arg| arg.ty.clone()).collect()
    }

    /// The entry without a body that this path names.
    fn receive_entry(&mut self, path: &Path) -> Option<Ident> {
        let scope = self.flow.scope;
        let of_chare = path.segments.len() == 2
            && (path.segments[0].ident == "Self" || path.segments[0].ident == scope.chare.ident);
        let name = &path.segments.last()?.ident;
        if of_chare && scope.receives.contains_key(&name.to_string()) {
            return Some(name.clone());
        }
        if of_chare && scope.entries.contains(&name.to_string()) {
            self.errors.at(
                path,
                format!(
                    "`{name}` has a body, which runs as soon as its message arrives; to receive it here declare it \
                     without one: `#[entry] fn {name}(…);`"
                ),
            );
        } else {
            self.unknown_entry(path);
        }
        None
    }

    fn unknown_entry(&mut self, at: &impl ToTokens) {
        let scope = self.flow.scope;
        let known: Vec<String> = scope.receives.keys().map(|name| format!("`Self::{name}`")).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        self.errors
            .at(at, format!("this is not a receive entry of `{}` (it has: {known})", scope.chare.ident));
    }
}
