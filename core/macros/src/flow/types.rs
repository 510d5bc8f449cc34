//! Types of variables: the ones tokens tell, and the ones that cannot be kept.

use syn::visit::{self, Visit};
use syn::{Error, Expr, Ident, Lit, Type, TypeImplTrait, TypeInfer, TypeReference, parse_quote};

/// The type of an initialiser, where its tokens alone tell it.
pub fn infer(e: &Expr) -> Option<Type> {
    match e {
        Expr::Lit(e) => literal(&e.lit),
        Expr::Cast(e) => Some((*e.ty).clone()),
        Expr::Paren(e) => infer(&e.expr),
        // Enough to complain about: `&self.x` is a reference to something.
        Expr::Reference(_) => Some(parse_quote!(&())),
        _ => None,
    }
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
