//! What the derive knows about a type, with every attribute understood.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprPath, Generics, Ident, LitStr, Member, Token, Type, WherePredicate};

pub struct Model {
    pub ident: Ident,
    pub generics: Generics,
    pub options: TypeOptions,
    pub body: Body,
}

#[derive(Default)]
pub struct TypeOptions {
    pub name: Option<LitStr>,
    pub version: Option<u16>,
    /// Where `plain` was written.
    pub plain: Option<Span>,
    pub bound: Option<Punctuated<WherePredicate, Token![,]>>,
    pub restore: Option<ExprPath>,
}

pub enum Body {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

pub struct Variant {
    pub ident: Ident,
    pub fields: Vec<Field>,
}

pub struct Field {
    pub member: Member,
    /// The name in errors, such as `Grid.cells`.
    pub label: String,
    pub ty: Type,
    pub how: How,
    pub since: Option<Since>,
}

/// The way of a field into the bytes and back.
pub enum How {
    Packed,
    Skip(Option<Expr>),
    Serde,
    With(ExprPath),
}

/// A field that versions before this one do not have.
pub struct Since {
    pub version: u16,
    pub default: Option<Expr>,
}

impl Body {
    pub fn fields(&self) -> Vec<&Field> {
        match self {
            Body::Struct(fields) => fields.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|v| &v.fields).collect(),
        }
    }
}

impl Field {
    pub fn is_skipped(&self) -> bool {
        matches!(self.how, How::Skip(_))
    }
}
