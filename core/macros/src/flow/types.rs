//! Types of variables: the ones tokens tell, and the ones that cannot be kept.

use super::ir::Local;
use syn::visit::{self, Visit};
use syn::{
    Error, Expr, ExprCall, ExprMethodCall, Ident, Lit, PathArguments, Type, TypeImplTrait, TypeInfer,
    TypeReference, parse_quote,
};

/// The type of an initialiser, where its tokens and the variables in scope tell it. `cx`: what the body calls the context.
pub fn infer(e: &Expr, env: &[Local], cx: &Ident) -> Option<Type> {
    match e {
        Expr::Lit(e) => literal(&e.lit),
        Expr::Cast(e) => Some((*e.ty).clone()),
        Expr::Paren(e) => infer(&e.expr, env, cx),
        Expr::Path(e) => {
            let name = e.path.get_ident()?;
            env.iter().rev().find(|local| local.name == *name)?.ty.clone()
        }
        Expr::Call(e) => named_handle(e),
        Expr::MethodCall(e) => created(e).or_else(|| own_handle(e, cx)).or_else(|| part(e, env, cx)),
        // Enough to complain about: `&self.x` is a reference to something.
        Expr::Reference(_) => Some(parse_quote!(&())),
        _ => None,
    }
}

/// `Block::sparse()`, `Driver::main_chare()`.
fn named_handle(call: &ExprCall) -> Option<Type> {
    let (chare, maker) = of_chare(&call.func)?;
    match maker.to_string().as_str() {
        "sparse" => Some(parse_quote!(::talisman::Array<#chare>)),
        "main_chare" => Some(parse_quote!(::talisman::Proxy<#chare>)),
        _ => None,
    }
}

/// `Block::array(4).map(…).new(…)`: what the last call gives, where that names the `#[init]`.
fn created(call: &ExprMethodCall) -> Option<Type> {
    const OF_BUILDERS: [&str; 3] = ["map", "on", "with_priority"];
    if OF_BUILDERS.iter().any(|name| call.method == name) {
        return None;
    }
    let mut root = &*call.receiver;
    while let Expr::MethodCall(inner) = root {
        OF_BUILDERS.iter().find(|name| inner.method == **name)?;
        root = &inner.receiver;
    }
    let Expr::Call(root) = root else { return None };
    let (chare, maker) = of_chare(&root.func)?;
    match maker.to_string().as_str() {
        "array" => Some(parse_quote!(::talisman::Array<#chare>)),
        "group" => Some(parse_quote!(::talisman::Group<#chare>)),
        "chare" => Some(parse_quote!(::talisman::Proxy<#chare>)),
        _ => None,
    }
}

/// `cx.array()`, `cx.group()`, `cx.me()`.
fn own_handle(call: &ExprMethodCall, cx: &Ident) -> Option<Type> {
    let Expr::Path(receiver) = &*call.receiver else { return None };
    if !receiver.path.is_ident(cx) {
        return None;
    }
    match call.method.to_string().as_str() {
        "array" => Some(parse_quote!(::talisman::Array<Self>)),
        "group" => Some(parse_quote!(::talisman::Group<Self>)),
        "me" => Some(parse_quote!(::talisman::Proxy<Self>)),
        _ => None,
    }
}

/// `blocks.at(3)`, `counters.here()`, `blocks.section(…)`, of a handle whose type is known.
fn part(call: &ExprMethodCall, env: &[Local], cx: &Ident) -> Option<Type> {
    let Type::Path(of) = infer(&call.receiver, env, cx)? else { return None };
    let handle = of.path.segments.last()?;
    let PathArguments::AngleBracketed(chare) = &handle.arguments else { return None };
    match (handle.ident.to_string().as_str(), call.method.to_string().as_str()) {
        ("Array", "at") | ("Group", "on" | "here") => Some(parse_quote!(::talisman::Proxy #chare)),
        ("Array" | "Group", "section") => Some(parse_quote!(::talisman::Section #chare)),
        ("Array" | "Group" | "Section" | "Proxy", "clone") => Some(Type::Path(of.clone())),
        _ => None,
    }
}

/// `Chare::function`: the chare's type and the function's name.
fn of_chare(function: &Expr) -> Option<(Type, Ident)> {
    let Expr::Path(path) = function else { return None };
    let mut chare = path.path.clone();
    let name = chare.segments.pop()?.into_value().ident;
    chare.segments.pop_punct()?;
    (path.qself.is_none()).then(|| (parse_quote!(#chare), name))
}

fn literal(literal: &Lit) -> Option<Type> {
    match literal {
        Lit::Bool(_) => Some(parse_quote!(bool)),
        Lit::Char(_) => Some(parse_quote!(char)),
        Lit::Int(n) if !n.suffix().is_empty() => syn::parse_str(n.suffix()).ok(),
        Lit::Float(x) if !x.suffix().is_empty() => syn::parse_str(x.suffix()).ok(),
        _ => None,
    }
}

/// Why a variable of this type cannot be part of a checkpoint, if so.
pub fn cannot_be_kept(name: &Ident, ty: &Type) -> Option<Error> {
    let mut finder = Finder { name, found: None };
    finder.visit_type(ty);
    finder.found
}

struct Finder<'n> {
    name: &'n Ident,
    found: Option<Error>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_type_reference(&mut self, ty: &'a TypeReference) {
        let text = format!(
            "`{}` is a reference and is needed after an `.await`: by then the object may live on another machine; take \
             the reference again afterwards, or keep an owned value",
            self.name
        );
        // The type of `let x = &…` was made up: its place is the variable's.
        let made_up = matches!(&*ty.elem, Type::Tuple(t) if t.elems.is_empty());
        let error = if made_up { Error::new_spanned(self.name, text) } else { Error::new_spanned(ty, text) };
        self.found.get_or_insert(error);
    }

    fn visit_type_infer(&mut self, ty: &'a TypeInfer) {
        let text = format!(
            "`{}` is needed after an `.await`, so its whole type must be written, without `_`",
            self.name
        );
        self.found.get_or_insert(Error::new_spanned(ty, text));
    }

    fn visit_type_impl_trait(&mut self, ty: &'a TypeImplTrait) {
        let text =
            format!("`{}` is needed after an `.await`: `impl Trait` has no type to write down", self.name);
        self.found.get_or_insert(Error::new_spanned(ty, text));
    }

    /// Function pointers may well have references in their signature.
    fn visit_type_bare_fn(&mut self, ty: &'a syn::TypeBareFn) {
        let _ = ty;
    }

    fn visit_type(&mut self, ty: &'a Type) {
        visit::visit_type(self, ty);
    }
}

/// Whether a `match` by reference can copy a value of this type out: a number, a character or a `bool`.
pub fn is_plainly_copy(ty: &Type) -> bool {
    const COPY: &[&str] = &[
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    match ty {
        Type::Path(path) => COPY.iter().any(|name| path.path.is_ident(name)),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_plainly_copy),
        Type::Array(array) => is_plainly_copy(&array.elem),
        _ => false,
    }
}
