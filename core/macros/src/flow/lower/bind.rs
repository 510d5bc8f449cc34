//! Brings the variables of patterns into scope.

use super::super::ir::Local;
use super::super::uses::{bindings, condition_patterns, is_binding};
use super::{Lower, Place};
use syn::{Expr, Ident, Pat, Type};

impl Lower<'_> {
    /// The variables of a pattern, with their types as far as `ty`, the type of the whole, tells.
    pub(super) fn bind(&mut self, place: &mut Place, pat: &Pat, ty: Option<&Type>, pattern: bool) {
        match (pat, ty) {
            (Pat::Type(typed), _) => self.bind(place, &typed.pat, Some(&typed.ty), pattern),
            (Pat::Ident(one), _) if one.subpat.is_none() && one.by_ref.is_none() => {
                if is_binding(one) {
                    self.variable(place, &one.ident, ty, one.mutability.is_some(), pattern);
                }
            }
            (Pat::Tuple(tuple), Some(Type::Tuple(types))) if types.elems.len() == tuple.elems.len() => {
                for (pat, ty) in tuple.elems.iter().zip(&types.elems) {
                    self.bind(place, pat, Some(ty), pattern);
                }
            }
            (Pat::Tuple(tuple), _) => tuple.elems.iter().for_each(|pat| self.bind(place, pat, None, pattern)),
            (other, _) => {
                for (name, mutable) in bindings(other) {
                    self.variable(place, &name, None, mutable, true);
                }
            }
        }
    }

    /// The variables of the patterns in the condition of an `if` or `while`.
    pub(super) fn bind_condition(&mut self, place: &mut Place, condition: &Expr) {
        for pat in condition_patterns(condition) {
            self.bind(place, pat, None, true);
        }
    }

    fn variable(&mut self, place: &mut Place, name: &Ident, ty: Option<&Type>, mutable: bool, pattern: bool) {
        let (id, depth) = (self.fresh_id(), place.depth);
        place.env.retain(|local| local.name != *name);
        place.env.push(Local {
            id,
            name: name.clone(),
            ty: ty.cloned(),
            mutable,
            range: None,
            depth,
            pattern,
        });
    }
}
