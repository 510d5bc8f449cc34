//! The arguments of `#[chare(…)]` and of `#[entry(…)]`.

use crate::errors::Errors;
use crate::ir::{EntryOptions, Kind, Options};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, LitInt, LitStr, Meta, Result, Token, Type, parse_quote};

const KINDS: &str = "`#[chare(…)]` says what kind of chare this is: single, array1d … array6d, array(IndexType), group, \
     nodegroup; the main chare has `#[talisman::main]`. Also: ordered, name = \"…\", instances(…)";
const ENTRY_OPTIONS: &str = "`#[entry(…)]` takes: priority = number, expedited, ack";

/// What `#[chare(…)]` says.
pub fn chare_options(arguments: TokenStream) -> Result<Options> {
    let at = arguments.clone();
    let mut read = Read::default();
    syn::meta::parser(|meta| read.one(meta)).parse2(arguments)?;
    let Some(kind) = read.kind else {
        let nothing = at.is_empty();
        return Err(if nothing {
            Error::new(Span::call_site(), KINDS)
        } else {
            Error::new_spanned(&at, KINDS)
        });
    };
    if let (Some(at), false) = (read.ordered, matches!(kind, Kind::Array(_))) {
        return Err(Error::new(at, "`ordered` is for chare arrays: it is about messages between elements"));
    }
    Ok(Options { kind, ordered: read.ordered.is_some(), instances: read.instances, name: read.name })
}

#[derive(Default)]
struct Read {
    kind: Option<Kind>,
    ordered: Option<Span>,
    instances: Vec<Type>,
    name: Option<LitStr>,
}

impl Read {
    fn one(&mut self, meta: ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let kind = match name.as_str() {
            "single" => Kind::Single,
            "group" => Kind::Group,
            "nodegroup" => Kind::NodeGroup,
            "array" => Kind::Array(Box::new(one_type(&meta)?)),
            "ordered" => {
                self.ordered = Some(meta.path.segments[0].ident.span());
                return Ok(());
            }
            "name" => return self.wire_name(&meta),
            "instances" => {
                self.instances = types(&meta)?;
                return Ok(());
            }
            other => match dimensions(other) {
                Some(n) => Kind::Array(Box::new(integer_index(n))),
                None => return Err(meta.error(KINDS)),
            },
        };
        match self.kind.replace(kind) {
            Some(_) => Err(meta.error("a chare is of one kind")),
            None => Ok(()),
        }
    }

    fn wire_name(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name: LitStr = meta.value()?.parse()?;
        if name.value().is_empty() {
            return Err(Error::new_spanned(name, "a name on the wire cannot be empty"));
        }
        self.name = Some(name);
        Ok(())
    }
}

fn one_type(meta: &ParseNestedMeta<'_>) -> Result<Type> {
    if !meta.input.peek(syn::token::Paren) {
        return Err(meta.error(
            "`array` needs the type of its index: `array(Site)`; with integers, `array1d` to `array6d`",
        ));
    }
    let content;
    syn::parenthesized!(content in meta.input);
    content.parse()
}

fn types(meta: &ParseNestedMeta<'_>) -> Result<Vec<Type>> {
    let content;
    syn::parenthesized!(content in meta.input);
    Ok(Punctuated::<Type, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// The 3 of `array3d`.
fn dimensions(name: &str) -> Option<usize> {
    let n: usize = name.strip_prefix("array")?.strip_suffix('d')?.parse().ok()?;
    (1..=6).contains(&n).then_some(n)
}

fn integer_index(dimensions: usize) -> Type {
    let all = (0..dimensions).map(|_| quote!(i32));
    if dimensions == 1 { parse_quote!(i32) } else { parse_quote!((#(#all),*)) }
}

/// What `#[entry(…)]` says.
pub fn entry_options(attribute: &Attribute, errors: &mut Errors) -> EntryOptions {
    let mut options = EntryOptions::default();
    if matches!(attribute.meta, Meta::Path(_)) {
        return options;
    }
    let read = attribute.parse_nested_meta(|meta| {
        match meta.path.get_ident().map(ToString::to_string).as_deref() {
            Some("expedited") => options.expedited = true,
            Some("ack") => options.ack = true,
            Some("priority") => options.priority = Some(priority(&meta)?),
            _ => return Err(meta.error(ENTRY_OPTIONS)),
        }
        Ok(())
    });
    if let Err(error) = read {
        errors.push(error);
    }
    options
}

fn priority(meta: &ParseNestedMeta<'_>) -> Result<i32> {
    let input = meta.value()?;
    let negative = input.parse::<Option<Token![-]>>()?.is_some();
    let number: LitInt = input.parse().map_err(|e| {
        Error::new(e.span(), "a priority is an integer: `priority = -3`; smaller numbers run first")
    })?;
    let size: i64 = number.base10_parse().unwrap_or(i64::MAX);
    i32::try_from(if negative { -size } else { size })
        .map_err(|_| Error::new(number.span(), "a priority is an integer of 32 bits, `i32`"))
}
