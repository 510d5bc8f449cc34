//! `Self` written out.

use syn::visit_mut::{self, VisitMut};
use syn::{ExprPath, Type, TypePath, parse_quote};

/// Replaces `Self` by this type.
pub struct SelfType<'a>(pub &'a Type);

impl VisitMut for SelfType<'_> {
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        let (ty, first) = (self.0, &path.path.segments[0]);
        if path.qself.is_none() && path.path.segments.len() == 2 && first.ident == "Self" {
            let rest = &path.path.segments[1];
            *path = parse_quote!(<#ty>::#rest);
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && let Some(written_out) = self.replaced(path)
        {
            *ty = written_out;
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

impl SelfType<'_> {
    fn replaced(&self, path: &TypePath) -> Option<Type> {
        let segments = &path.path.segments;
        if path.qself.is_some() || segments[0].ident != "Self" {
            return None;
        }
        match segments.len() {
            1 => Some(self.0.clone()),
            // An associated type of a chare is one of the trait `Chare`: `Self::Index`.
            2 => {
                let (ty, name) = (self.0, &segments[1]);
                Some(parse_quote!(<#ty as ::talisman::chare::Chare>::#name))
            }
            _ => None,
        }
    }
}
