//! The where clauses of the generated impls.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::quote;
use syn::visit::{self, Visit};
use syn::{GenericParam, Generics, Path, Type, TypePath, WherePredicate, parse_quote};

use crate::ir::{Field, How, Model};

/// For `Named`: every type parameter has a name.
pub fn named(model: &Model) -> Generics {
    let predicates: Vec<WherePredicate> = model
        .generics
        .type_params()
        .map(|t| &t.ident)
        .map(|t| parse_quote!(#t: ::talisman::pup::Named))
        .collect();
    with(&model.generics, predicates)
}

/// For `Pup`: what the fields need, or what `bound` says.
pub fn pup(model: &Model) -> Generics {
    match &model.options.bound {
        Some(bound) => with(&model.generics, bound.iter().cloned()),
        None => with(&model.generics, inferred(model)),
    }
}

fn with(generics: &Generics, predicates: impl IntoIterator<Item = WherePredicate>) -> Generics {
    let mut generics = generics.clone();
    generics.make_where_clause().predicates.extend(predicates);
    generics
}

fn inferred(model: &Model) -> Vec<WherePredicate> {
    let parameters = model.generics.params.iter().filter_map(|p| match p {
        GenericParam::Type(t) => Some(t.ident.clone()),
        _ => None,
    });
    let mut predicates = Predicates { parameters: parameters.collect(), seen: HashSet::new(), found: vec![] };
    model.body.fields().into_iter().for_each(|field| predicates.field(field));
    predicates.found
}

struct Predicates {
    parameters: HashSet<Ident>,
    seen: HashSet<String>,
    found: Vec<WherePredicate>,
}

impl Predicates {
    fn field(&mut self, field: &Field) {
        let ty = &field.ty;
        match &field.how {
            How::Packed => self.visit_type(ty),
            How::Skip(None) => self.whole(ty, parse_quote!(#ty: ::core::default::Default)),
            How::Serde => self.whole(ty, parse_quote!(#ty: ::talisman::pup::via_serde::Serde)),
            How::Skip(Some(_)) | How::With(_) => {}
        }
        if field.since.as_ref().is_some_and(|since| since.default.is_none()) {
            self.whole(ty, parse_quote!(#ty: ::core::default::Default));
        }
    }

    /// A demand on the whole type of a field, if a parameter is in it: otherwise the code itself makes the demand.
    fn whole(&mut self, ty: &Type, predicate: WherePredicate) {
        let mut mentions = Mentions { parameters: &self.parameters, found: false };
        mentions.visit_type(ty);
        if mentions.found {
            self.add(predicate);
        }
    }

    fn pup(&mut self, ty: &TypePath) {
        self.add(parse_quote!(#ty: ::talisman::pup::Pup));
    }

    fn add(&mut self, predicate: WherePredicate) {
        if self.seen.insert(quote!(#predicate).to_string()) {
            self.found.push(predicate);
        }
    }

    fn starts_with_parameter(&self, path: &Path) -> bool {
        path.segments.first().is_some_and(|segment| self.parameters.contains(&segment.ident))
    }
}

impl Visit<'_> for Predicates {
    fn visit_type_path(&mut self, ty: &TypePath) {
        if ty.path.segments.last().is_some_and(|segment| segment.ident == "PhantomData") {
            return;
        }
        let mut mentions = Mentions { parameters: &self.parameters, found: false };
        ty.qself.iter().for_each(|q| mentions.visit_type(&q.ty));
        if mentions.found || self.starts_with_parameter(&ty.path) {
            self.pup(ty);
        } else {
            visit::visit_type_path(self, ty);
        }
    }
}

struct Mentions<'a> {
    parameters: &'a HashSet<Ident>,
    found: bool,
}

impl Visit<'_> for Mentions<'_> {
    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= self.parameters.contains(ident);
    }
}
