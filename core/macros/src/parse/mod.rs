//! Reads a chare's impl block, and checks what the types alone cannot say.

mod method;
mod names;
mod options;
mod parameters;
mod self_type;
mod travel;

pub use options::chare_options;
pub use self_type::SelfType;

use crate::errors::Errors;
use crate::ir::{Chare, Kind, Method, Options, Role};
use proc_macro2::{Span, TokenStream};
use std::collections::BTreeSet;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Error, Ident, ImplItem, ImplItemFn, ItemImpl, Result, ReturnType, TraitItemFn, Type,
    Visibility, parse_quote,
};

/// The impl block below `#[chare]`.
pub fn impl_block(item: TokenStream) -> Result<ItemImpl> {
    syn::parse2(item.clone()).map_err(|error| match syn::parse2::<syn::Item>(item) {
        Ok(other) if !matches!(other, syn::Item::Impl(_)) => Error::new(
            Span::call_site(),
            "`#[chare]` goes on the impl block that holds the entries; the struct has `#[derive(Pup)]`",
        ),
        _ => error,
    })
}

/// A chare from its impl block. What is wrong goes to `errors`, and is replaced by something that compiles.
pub fn chare(options: Options, mut block: ItemImpl, errors: &mut Errors) -> Result<Chare> {
    let ident = type_name(&block.self_ty)?;
    if let Some((_, path, _)) = &block.trait_ {
        errors.at(path, "`#[chare]` goes on an inherent impl block, not on a trait's");
    }
    if let Some(lifetime) = block.generics.lifetimes().next() {
        // Nothing that could be written for this chare would compile.
        return Err(Error::new_spanned(lifetime, "a chare owns its state: it has no lifetime parameters"));
    }
    parameters::check(&mut block.generics, errors);
    let (mut methods, mut kept) = sort_items(block.items, errors);
    if !methods.iter().any(|m| m.role == Role::Init) {
        methods.push(missing_init(&ident, &mut kept, errors));
    }
    drop_doubles(&mut methods, errors);
    for method in &mut methods {
        write_self_out(method, &block.self_ty);
    }
    let chare = Chare {
        ident,
        self_ty: *block.self_ty,
        generics: block.generics,
        attrs: block.attrs,
        options,
        kept,
        methods,
    };
    check_inits(&chare, errors);
    check_names(&chare, errors);
    Ok(chare)
}

fn type_name(ty: &Type) -> Result<Ident> {
    match ty {
        Type::Path(path) => Ok(path.path.segments.last().expect("a path has a segment").ident.clone()),
        other => Err(Error::new_spanned(other, "a chare is a struct or an enum")),
    }
}

/// The methods with a role, and the rest.
fn sort_items(items: Vec<ImplItem>, errors: &mut Errors) -> (Vec<Method>, Vec<ImplItem>) {
    let (mut methods, mut kept) = (vec![], vec![]);
    for item in items {
        match item {
            ImplItem::Fn(f) => match method::role(&f.attrs, &f.sig, true, errors) {
                Some(role) => {
                    methods.push(method::parse(role, f.attrs, f.vis, f.sig, Some(f.block), errors));
                }
                None => kept.push(ImplItem::Fn(f)),
            },
            // `fn name(…);` is no Rust impl item, so `syn` hands over its tokens.
            ImplItem::Verbatim(tokens) => match without_body.parse2(tokens.clone()) {
                Ok((vis, f)) if f.default.is_none() => methods.extend(receive(vis, f, errors)),
                _ => kept.push(ImplItem::Verbatim(tokens)),
            },
            other => kept.push(other),
        }
    }
    (methods, kept)
}

/// Complains that there is no `#[init]`, and gives one in its place, so that this stays the only error: the function that
/// was meant, if one looks like it.
fn missing_init(chare: &Ident, kept: &mut Vec<ImplItem>, errors: &mut Errors) -> Method {
    let text = |what: &str| format!("`{chare}` has no `#[init]`: {what}");
    if let Some(at) = kept.iter().position(makes_self)
        && let ImplItem::Fn(f) = kept.remove(at)
    {
        errors.at(&f.sig.ident, text(&format!("put it before `fn {}`, which makes the object", f.sig.ident)));
        return method::parse(Role::Init, f.attrs, f.vis, f.sig, Some(f.block), errors);
    }
    let example =
        "one associated function that makes the object, `#[init] fn new(cx: &mut Cx<Self>, …) -> Self`";
    errors.at(chare, text(example));
    let ImplItemFn { attrs, vis, sig, block, .. } = parse_quote!(
        pub fn new() -> Self {
            ::core::unreachable!()
        }
    );
    method::parse(Role::Init, attrs, vis, sig, Some(block), errors)
}

/// Whether this is a function without `self` that returns `Self`.
fn makes_self(item: &ImplItem) -> bool {
    let ImplItem::Fn(f) = item else { return false };
    let returns_self = match &f.sig.output {
        ReturnType::Type(_, ty) => matches!(&**ty, Type::Path(path) if path.path.is_ident("Self")),
        ReturnType::Default => false,
    };
    returns_self
        && f.sig.receiver().is_none()
        && f.sig.asyncness.is_none()
        && f.sig.generics.params.is_empty()
}

fn without_body(input: ParseStream) -> Result<(Visibility, TraitItemFn)> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    let mut f: TraitItemFn = input.parse()?;
    f.attrs = attrs;
    Ok((vis, f))
}

fn receive(vis: Visibility, f: TraitItemFn, errors: &mut Errors) -> Option<Method> {
    match method::role(&f.attrs, &f.sig, false, errors) {
        Some(Role::Entry) => Some(method::parse(Role::Receive, f.attrs, vis, f.sig, None, errors)),
        _ => {
            errors.at(
                &f.sig,
                "only an `#[entry]` can be without a body: it is then received by `cx.when(…)` in an async entry",
            );
            None
        }
    }
}

/// Signatures are repeated in places where `Self` is another type.
fn write_self_out(method: &mut Method, self_ty: &Type) {
    for arg in &mut method.args {
        SelfType(self_ty).visit_type_mut(&mut arg.ty);
    }
    if method.role != Role::Init
        && let Some(ret) = &mut method.ret
    {
        SelfType(self_ty).visit_type_mut(ret);
    }
}

fn check_inits(chare: &Chare, errors: &mut Errors) {
    let inits: Vec<&Method> = chare.inits().collect();
    let Some(first) = inits.first() else { return };
    if !matches!(chare.options.kind, Kind::Main) {
        return;
    }
    if inits.len() > 1 {
        errors.at(&inits[1].name, "the main chare has one `#[init]`");
    }
    if first.args.len() > 1 {
        errors.at(
            &first.sig,
            "the main chare's `#[init]` takes at most one argument: the program's options, a struct with \
             `#[derive(clap::Parser, Pup)]`",
        );
    }
}

fn drop_doubles(methods: &mut Vec<Method>, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    methods.retain(|method| {
        let first = seen.insert(method.name.to_string());
        if !first {
            errors.at(&method.name, "there is already an entry of this name");
        }
        first
    });
}

fn check_names(chare: &Chare, errors: &mut Errors) {
    for method in &chare.methods {
        names::check_reserved(method, errors);
    }
    for (role, attribute) in
        [(Role::Restored, "restored"), (Role::Departs, "departs"), (Role::Waits, "waits")]
    {
        if let Some(second) = chare.methods.iter().filter(|m| m.role == role).nth(1) {
            errors.at(&second.name, format!("a chare has one `#[{attribute}]` method"));
        }
    }
    check_lost(chare, errors);
}

fn check_lost(chare: &Chare, errors: &mut Errors) {
    for (count, method) in chare.methods.iter().filter(|m| m.role == Role::Lost).enumerate() {
        if count > 0 {
            errors.at(&method.name, "a chare has one `#[lost]` method");
        } else if !matches!(chare.options.kind, Kind::Group | Kind::NodeGroup) {
            errors.at(
                &method.name,
                "only members of groups and nodegroups are lost: any other chare goes on elsewhere, and hears of that by `#[restored]`",
            );
        } else if method.args.len() != 1 {
            errors.at(&method.sig, "a `#[lost]` method takes the member that is lost: `fn lost(&mut self, cx: &mut Cx<Self>, other: Self)`");
        }
    }
}
