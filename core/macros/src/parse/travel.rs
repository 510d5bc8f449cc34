//! Types that cannot travel to another machine, and what to use instead.

use crate::errors::Errors;
use quote::quote;
use syn::{PathSegment, Type, TypeReference, parse_quote};

/// The type itself if it can travel; otherwise complains, and gives one that can.
pub fn owned(ty: &Type, what: &str, errors: &mut Errors) -> Type {
    match ty {
        Type::Reference(reference) => {
            let (instead, text) = owner_of(reference);
            errors.at(
                ty,
                format!("{what} of an entry travels to another machine, so it is owned: `{text}` instead of a reference"),
            );
            instead
        }
        Type::ImplTrait(_) => {
            errors.at(ty, format!("{what} of an entry has one concrete type"));
            parse_quote!(())
        }
        Type::Path(path) if path.path.segments.last().is_some_and(is_shared) => {
            errors.at(
                ty,
                format!(
                    "{what} of an entry cannot be shared with the sender: pass the value, or a `Shared<T>`"
                ),
            );
            parse_quote!(())
        }
        _ => ty.clone(),
    }
}

fn is_shared(segment: &PathSegment) -> bool {
    segment.ident == "Rc" || segment.ident == "Arc"
}

/// The type that owns what this reference points to, and how to show it.
fn owner_of(reference: &TypeReference) -> (Type, String) {
    match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => {
            (parse_quote!(::std::string::String), "String".into())
        }
        Type::Slice(slice) => {
            let element = &slice.elem;
            (parse_quote!(::std::vec::Vec<#element>), format!("Vec<{}>", quote!(#element)))
        }
        other => (other.clone(), quote!(#other).to_string()),
    }
}
