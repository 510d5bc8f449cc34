//! The type parameters of a generic chare.

use crate::errors::Errors;
use syn::{Generics, Ident, Type, TypeParamBound, WherePredicate, parse_quote};

/// Traits that say nothing about the wire, and lie near.
const OTHERS: &[&str] = &[
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Display",
    "Eq",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Send",
    "Sized",
    "Sync",
    "Unpin",
];

/// A parameter that is bounded by none but such traits is no `Value`. Said once, and given that bound: each use of the
/// parameter would complain otherwise.
pub fn check(generics: &mut Generics, errors: &mut Errors) {
    let (params, predicates) = (&mut generics.params, &generics.where_clause);
    for param in params {
        let syn::GenericParam::Type(param) = param else { continue };
        let further = predicates.iter().flat_map(|clause| &clause.predicates);
        let further = further.filter_map(|predicate| bounds_on(predicate, &param.ident)).flatten();
        if param.bounds.iter().chain(further).all(says_nothing) {
            let name = &param.ident;
            errors.at(
                name,
                format!("a type parameter of a chare is bounded by `talisman::Value`, so that it can travel: `{name}: Value`"),
            );
            param.bounds.push(parse_quote!(::talisman::Value));
        }
    }
}

fn bounds_on<'p>(
    predicate: &'p WherePredicate,
    name: &Ident,
) -> Option<impl Iterator<Item = &'p TypeParamBound>> {
    match predicate {
        WherePredicate::Type(of) if matches!(&of.bounded_ty, Type::Path(path) if path.path.is_ident(name)) => {
            Some(of.bounds.iter())
        }
        _ => None,
    }
}

fn says_nothing(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| OTHERS.iter().any(|other| last.ident == other))
        }
        _ => true,
    }
}
