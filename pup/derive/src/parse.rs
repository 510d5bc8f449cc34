//! From syntax to the model. A mistake is noted and parsing goes on, to find the others too.

use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, GenericParam, LitInt, LitStr, Member, Token, Type};

use crate::errors::Errors;
use crate::ir::{Body, Field, How, Model, Since, TypeOptions, Variant};

const ON_TYPE: &str = "`#[pup(…)]` on a type takes: name, version, plain, bound, restore";
const ON_FIELD: &str = "`#[pup(…)]` on a field takes: skip, skip = value, serde, with = module, since = version, default = value";

pub fn parse(input: &DeriveInput, errors: &mut Errors) -> Model {
    refuse_lifetimes(input, errors);
    let options = type_options(&input.attrs, errors);
    let body = body(input, &options, errors);
    if options.plain.is_some() {
        check_plain(input, &options, &body, errors);
    }
    Model { ident: input.ident.clone(), generics: input.generics.clone(), options, body }
}

fn refuse_lifetimes(input: &DeriveInput, errors: &mut Errors) {
    for parameter in &input.generics.params {
        if let GenericParam::Lifetime(l) = parameter {
            let (name, lifetime) = (&input.ident, &l.lifetime);
            errors.at(
                l,
                format!("`{name}` borrows (`{lifetime}`): only owned data can be sent or checkpointed"),
            );
        }
    }
}

fn type_options(attributes: &[Attribute], errors: &mut Errors) -> TypeOptions {
    let mut options = TypeOptions::default();
    each_key(attributes, errors, |meta, errors| {
        match key(&meta).as_str() {
            "name" => once(&mut options.name, meta.value()?.parse()?, &meta, errors),
            "version" => once(&mut options.version, version(&meta, errors)?, &meta, errors),
            "plain" => once(&mut options.plain, meta.path.span(), &meta, errors),
            "bound" => once(&mut options.bound, bound(&meta)?, &meta, errors),
            "restore" => once(&mut options.restore, meta.value()?.parse()?, &meta, errors),
            _ => unknown(&meta, ON_TYPE, errors)?,
        }
        Ok(())
    });
    options
}

fn bound(meta: &ParseNestedMeta<'_>) -> syn::Result<Punctuated<syn::WherePredicate, Token![,]>> {
    let text: LitStr = meta.value()?.parse()?;
    text.parse_with(Punctuated::parse_terminated)
}

fn version(meta: &ParseNestedMeta<'_>, errors: &mut Errors) -> syn::Result<u16> {
    let number: LitInt = meta.value()?.parse()?;
    let version = number.base10_parse()?;
    if version == 0 {
        errors.at(&number, "versions start at 1");
    }
    Ok(version)
}

fn body(input: &DeriveInput, options: &TypeOptions, errors: &mut Errors) -> Body {
    let name = &input.ident;
    match &input.data {
        Data::Struct(s) => Body::Struct(fields(&s.fields, &name.to_string(), options, errors)),
        Data::Enum(e) => Body::Enum(e.variants.iter().map(|v| variant(v, input, options, errors)).collect()),
        Data::Union(u) => {
            errors.at(&u.union_token, "a union cannot be packed: nobody knows which field is the live one");
            Body::Struct(vec![])
        }
    }
}

fn variant(v: &syn::Variant, input: &DeriveInput, options: &TypeOptions, errors: &mut Errors) -> Variant {
    for attribute in v.attrs.iter().filter(|a| a.path().is_ident("pup")) {
        errors.at(attribute, "`#[pup(…)]` goes on the type or on a field, not on a variant");
    }
    let text = format!("{}::{}", input.ident, v.ident);
    Variant { ident: v.ident.clone(), fields: fields(&v.fields, &text, options, errors) }
}

fn fields(fields: &Fields, of: &str, options: &TypeOptions, errors: &mut Errors) -> Vec<Field> {
    fields.iter().zip(fields.members()).map(|(f, member)| field(f, member, of, options, errors)).collect()
}

fn field(f: &syn::Field, member: Member, of: &str, options: &TypeOptions, errors: &mut Errors) -> Field {
    let parsed = field_options(f, options, errors);
    let how = parsed.how.unwrap_or(How::Packed);
    if let (Type::Reference(reference), How::Packed) = (&f.ty, &how) {
        errors.at(
            reference,
            "a reference cannot be sent or checkpointed: own the data (`Vec`, `String`, `Box`), or `#[pup(skip = value)]`",
        );
    }
    let label = match &member {
        Member::Named(name) => format!("{of}.{name}"),
        Member::Unnamed(index) => format!("{of}.{}", index.index),
    };
    let since = parsed.since.map(|version| Since { version, default: parsed.default });
    Field { member, label, ty: f.ty.clone(), how, since }
}

#[derive(Default)]
struct FieldOptions {
    how: Option<How>,
    since: Option<u16>,
    default: Option<Expr>,
}

fn field_options(f: &syn::Field, of_type: &TypeOptions, errors: &mut Errors) -> FieldOptions {
    let mut options = FieldOptions::default();
    each_key(&f.attrs, errors, |meta, errors| {
        match key(&meta).as_str() {
            "skip" => way(&mut options.how, How::Skip(optional_value(&meta)?), &meta, errors),
            "serde" => way(&mut options.how, How::Serde, &meta, errors),
            "with" => way(&mut options.how, How::With(meta.value()?.parse()?), &meta, errors),
            "since" => once(&mut options.since, since(&meta, of_type, errors)?, &meta, errors),
            "default" => once(&mut options.default, meta.value()?.parse()?, &meta, errors),
            _ => unknown(&meta, ON_FIELD, errors)?,
        }
        Ok(())
    });
    check_combination(f, &options, errors);
    options
}

fn optional_value(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<Expr>> {
    if meta.input.peek(Token![=]) { meta.value()?.parse().map(Some) } else { Ok(None) }
}

fn since(meta: &ParseNestedMeta<'_>, of_type: &TypeOptions, errors: &mut Errors) -> syn::Result<u16> {
    let number: LitInt = meta.value()?.parse()?;
    let since: u16 = number.base10_parse()?;
    if of_type.version.is_none_or(|version| since > version) {
        errors.at(
            &number,
            format!("`since = {since}` needs `#[pup(version = {since})]`, or higher, on the type"),
        );
    }
    Ok(since)
}

fn check_combination(f: &syn::Field, options: &FieldOptions, errors: &mut Errors) {
    let Some(attribute) = f.attrs.iter().find(|a| a.path().is_ident("pup")) else { return };
    if options.default.is_some() && options.since.is_none() {
        errors.at(
            attribute,
            "`default` is the value of a field that an older version did not have: it goes with `since = version`",
        );
    }
    if options.since.is_some() && matches!(options.how, Some(How::Skip(_))) {
        errors.at(attribute, "a skipped field is in no version: drop `since`, or `skip`");
    }
}

/// `#[pup(plain)]` needs a type whose bytes are its fields, one after the other, and nothing else.
fn check_plain(input: &DeriveInput, options: &TypeOptions, body: &Body, errors: &mut Errors) {
    let span = options.plain.unwrap_or_else(proc_macro2::Span::call_site);
    let mut refuse = |wrong: bool, message: &str| {
        if wrong {
            errors.at_span(span, message);
        }
    };
    refuse(
        matches!(body, Body::Enum(_)),
        "`#[pup(plain)]` is for structs: not every bit pattern is a variant",
    );
    refuse(
        matches!(body, Body::Struct(_)) && !is_repr_c(&input.attrs),
        "`#[pup(plain)]` needs `#[repr(C)]`: otherwise the order of the fields may differ from build to build",
    );
    refuse(!input.generics.params.is_empty(), "`#[pup(plain)]` is for types without generic parameters");
    refuse(options.version.is_some(), "a plain type has no version: it is its bytes");
    refuse(options.restore.is_some(), "a plain type cannot be restored: slices of it arrive in one piece");
    refuse(
        body.fields().iter().any(|f| !matches!(f.how, How::Packed) || f.since.is_some()),
        "a plain type is all its bytes: no field can be skipped, converted or versioned",
    );
}

fn is_repr_c(attributes: &[Attribute]) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
        // What is not understood here is for the compiler to judge.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            skip_value(&meta)
        });
    }
    found
}

fn each_key(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut take: impl FnMut(ParseNestedMeta<'_>, &mut Errors) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("pup")) {
        if let Err(error) = attribute.parse_nested_meta(|meta| take(meta, errors)) {
            errors.push(error);
        }
    }
}

fn key(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

fn once<T>(slot: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>, errors: &mut Errors) {
    if slot.replace(value).is_some() {
        errors.at(&meta.path, format!("`{}` is given twice", key(meta)));
    }
}

fn way(slot: &mut Option<How>, how: How, meta: &ParseNestedMeta<'_>, errors: &mut Errors) {
    if slot.replace(how).is_some() {
        errors.at(&meta.path, "a field has one of `skip`, `serde` and `with`");
    }
}

fn unknown(meta: &ParseNestedMeta<'_>, takes: &str, errors: &mut Errors) -> syn::Result<()> {
    errors.at(&meta.path, takes);
    skip_value(meta)
}

/// Passes over `= value` or `(…)`, so that the keys after it are still read.
fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<proc_macro2::TokenStream>()?;
    }
    Ok(())
}
