//! From the model to the impls of `Named` and `Pup`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

use crate::bounds;
use crate::errors::Errors;
use crate::ir::{Body, Field, How, Model, Variant};

pub fn expand(model: &Model, errors: Errors) -> TokenStream {
    let named = named_impl(model);
    if !errors.is_empty() {
        // The impls are there all the same, so that no other code complains that they are missing.
        let (pup, errors) = (hollow_pup_impl(model), errors.to_tokens());
        return quote!(#errors #named #pup);
    }
    let pup = if model.options.plain.is_some() { plain_pup_impl(model) } else { pup_impl(model) };
    quote!(#named #pup)
}

/// Names of the generated code's own variables, which expressions of the user cannot see.
struct Locals {
    p: Ident,
    u: Ident,
    version: Ident,
    value: Ident,
}

fn locals() -> Locals {
    let own = |name| Ident::new(name, Span::mixed_site());
    Locals { p: own("p"), u: own("u"), version: own("version"), value: own("value") }
}

// ---- Named -------------------------------------------------------------------------------------------------------

fn named_impl(model: &Model) -> TokenStream {
    let (ident, generics) = (&model.ident, bounds::named(model));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let wire_name = wire_name(model);
    let keys = model.generics.params.iter().filter_map(parameter_key);
    let name = full_name(model, &wire_name);
    quote! {
        #[automatically_derived]
        impl #impl_generics ::talisman::pup::Named for #ident #type_generics #where_clause {
            const KEY: u64 = {
                let key = ::talisman::pup::key(#wire_name);
                #(let key = ::talisman::pup::join(key, #keys);)*
                key
            };
            fn name() -> ::std::string::String { #name }
        }
    }
}

fn wire_name(model: &Model) -> TokenStream {
    let ident = model.ident.to_string();
    match &model.options.name {
        Some(name) => quote!(#name),
        None => quote!(::core::concat!(::core::module_path!(), "::", #ident)),
    }
}

fn parameter_key(parameter: &GenericParam) -> Option<TokenStream> {
    match parameter {
        GenericParam::Type(t) => Some(&t.ident).map(|t| quote!(<#t as ::talisman::pup::Named>::KEY)),
        GenericParam::Const(c) => Some(&c.ident).map(|c| quote!(#c as u64)),
        GenericParam::Lifetime(_) => None,
    }
}

fn full_name(model: &Model, wire_name: &TokenStream) -> TokenStream {
    let parameters: Vec<_> = model.generics.params.iter().filter_map(parameter_name).collect();
    if parameters.is_empty() {
        return quote!(::std::string::String::from(#wire_name));
    }
    quote! {{
        let parameters: &[::std::string::String] = &[#(#parameters),*];
        ::std::format!("{}<{}>", #wire_name, parameters.join(", "))
    }}
}

fn parameter_name(parameter: &GenericParam) -> Option<TokenStream> {
    match parameter {
        GenericParam::Type(t) => Some(&t.ident).map(|t| quote!(<#t as ::talisman::pup::Named>::name())),
        GenericParam::Const(c) => Some(&c.ident).map(|c| quote!(::std::format!("{:?}", #c))),
        GenericParam::Lifetime(_) => None,
    }
}

// ---- Pup ---------------------------------------------------------------------------------------------------------

fn pup_impl(model: &Model) -> TokenStream {
    let Locals { p, u, value, .. } = locals();
    let (pack, lend, unpack) = (pack_body(model, To::Packer), lend_method(model), unpack_body(model));
    let min_size = min_size(model);
    let p_itself = quote!(#p);
    let (pack_version, unpack_version) = version_code(model, &p_itself);
    let restore =
        model.options.restore.as_ref().map(|restore| quote_spanned!(at(restore)=> #restore(&mut #value);));
    let mutable = restore.as_ref().map(|_| quote!(mut));
    around(
        model,
        quote! {
            const MIN_SIZE: usize = #min_size;
            #[allow(unused_variables)]
            fn pack(&self, #p: &mut ::talisman::pup::Packer) {
                #pack_version
                #pack
            }
            #lend
            #[allow(unused_variables, unreachable_code)]
            fn unpack(
                #u: &mut ::talisman::pup::Unpacker<'_>,
            ) -> ::core::result::Result<Self, ::talisman::pup::PupError> {
                #unpack_version
                let #mutable #value: Self = #unpack;
                #restore
                ::core::result::Result::Ok(#value)
            }
        },
    )
}

/// `lend`, where a part may be large: a struct of numbers is as well copied.
fn lend_method(model: &Model) -> Option<TokenStream> {
    let may_be_large = |field: &&Field| matches!(field.how, How::Packed) && !is_number(&field.ty);
    model.body.fields().into_iter().find(may_be_large)?;
    let p = locals().p;
    let lend = pack_body(model, To::Lender);
    let version = version_code(model, &quote!(#p.packer())).0;
    Some(quote! {
        #[allow(unused_variables)]
        fn lend<'__a>(&'__a self, #p: &mut ::talisman::pup::Lender<'__a>) {
            #version
            #lend
        }
    })
}

fn is_number(ty: &Type) -> bool {
    const NUMBERS: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| NUMBERS.iter().any(|n| name == n)))
}

/// The impl header around its content.
fn around(model: &Model, content: TokenStream) -> TokenStream {
    let (ident, generics) = (&model.ident, bounds::pup(model));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::talisman::pup::Pup for #ident #type_generics #where_clause { #content }
    }
}

fn hollow_pup_impl(model: &Model) -> TokenStream {
    around(
        model,
        quote! {
            fn pack(&self, _: &mut ::talisman::pup::Packer) {}
            fn unpack(
                _: &mut ::talisman::pup::Unpacker<'_>,
            ) -> ::core::result::Result<Self, ::talisman::pup::PupError> {
                ::core::unimplemented!()
            }
        },
    )
}

fn min_size(model: &Model) -> TokenStream {
    let version = model.options.version.map(|_| quote!(2 +));
    match &model.body {
        Body::Enum(variants) => {
            let tag = tag_type(variants);
            quote!(#version ::core::mem::size_of::<#tag>())
        }
        Body::Struct(fields) => {
            let sizes = fields.iter().filter_map(field_min_size);
            quote!(#version 0 #(+ #sizes)*)
        }
    }
}

fn field_min_size(field: &Field) -> Option<TokenStream> {
    let ty = &field.ty;
    let packed = matches!(field.how, How::Packed) && field.since.is_none();
    packed.then(|| quote_spanned!(at(ty)=> <#ty as ::talisman::pup::Pup>::MIN_SIZE))
}

fn version_code(model: &Model, packer: &TokenStream) -> (TokenStream, TokenStream) {
    let Locals { u, version, .. } = locals();
    let Some(newest) = model.options.version else { return Default::default() };
    let pack = quote!(<u16 as ::talisman::pup::Pup>::pack(&#newest, #packer););
    let unpack = quote! {
        let #version = <u16 as ::talisman::pup::Pup>::unpack(#u)?;
        if #version == 0 || #version > #newest {
            return ::core::result::Result::Err(
                #u.fault(::talisman::pup::Fault::Version { found: #version, newest: #newest }),
            );
        }
    };
    (pack, unpack)
}

// ---- Structs and enums ---------------------------------------------------------------------------------------------

/// Where values are written to.
#[derive(Clone, Copy)]
enum To {
    Packer,
    Lender,
}

fn pack_body(model: &Model, into: To) -> TokenStream {
    match &model.body {
        Body::Struct(fields) => {
            fields.iter().map(|f| (f, &f.member)).map(|(f, m)| pack(f, &quote!(&self.#m), into)).collect()
        }
        Body::Enum(variants) if variants.is_empty() => quote!(match *self {}),
        Body::Enum(variants) => {
            let tag = tag_type(variants);
            let arms = variants.iter().enumerate().map(|(i, v)| pack_arm(i, v, &tag, into));
            quote!(match self { #(#arms)* })
        }
    }
}

fn pack_arm(index: usize, variant: &Variant, tag: &Ident, into: To) -> TokenStream {
    let p = packer(into);
    let (ident, index) = (&variant.ident, syn::Index::from(index));
    let (patterns, packs): (Vec<_>, Vec<_>) =
        variant.fields.iter().enumerate().map(|(i, field)| pack_bound(i, field, into)).unzip();
    quote! {
        Self::#ident { #(#patterns),* } => {
            <#tag as ::talisman::pup::Pup>::pack(&#index, #p);
            #(#packs)*
        }
    }
}

/// The pattern that binds a field of a variant, and the code that packs it.
fn pack_bound(index: usize, field: &Field, into: To) -> (TokenStream, TokenStream) {
    let member = &field.member;
    if field.is_skipped() {
        return (quote!(#member: _), quote!());
    }
    let bound = format_ident!("field{index}", span = Span::mixed_site());
    (quote!(#member: #bound), pack(field, &quote!(#bound), into))
}

fn unpack_body(model: &Model) -> TokenStream {
    match &model.body {
        Body::Struct(fields) => construct(&quote!(Self), fields),
        Body::Enum(variants) => unpack_enum(model, variants),
    }
}

fn unpack_enum(model: &Model, variants: &[Variant]) -> TokenStream {
    let u = locals().u;
    let (of, tag) = (model.ident.to_string(), tag_type(variants));
    let arms = variants.iter().enumerate().map(|(index, variant)| {
        let (ident, index) = (&variant.ident, syn::Index::from(index));
        let value = construct(&quote!(Self::#ident), &variant.fields);
        quote!(#index => #value,)
    });
    let other = quote!(tag => {
        let tag = ::core::convert::From::from(tag);
        return ::core::result::Result::Err(#u.fault(::talisman::pup::Fault::Tag { tag, of: #of }))
    });
    quote!(match <#tag as ::talisman::pup::Pup>::unpack(#u)? { #(#arms)* #[allow(unreachable_patterns)] #other })
}

fn construct(path: &TokenStream, fields: &[Field]) -> TokenStream {
    let members = fields.iter().map(|f| &f.member);
    let values = fields.iter().map(unpack);
    quote!(#path { #(#members: #values),* })
}

/// The number of a variant takes one byte, or two in an enum of more than 256.
fn tag_type(variants: &[Variant]) -> Ident {
    Ident::new(if variants.len() <= 256 { "u8" } else { "u16" }, Span::mixed_site())
}

// ---- Fields ----------------------------------------------------------------------------------------------------------

/// The packer, for what is copied.
fn packer(into: To) -> TokenStream {
    let p = locals().p;
    match into {
        To::Packer => quote!(#p),
        To::Lender => quote!(#p.packer()),
    }
}

fn pack(field: &Field, place: &TokenStream, into: To) -> TokenStream {
    let (own, p) = (locals().p, packer(into));
    let ty = &field.ty;
    match &field.how {
        How::Skip(_) => quote!(),
        How::Packed if matches!(into, To::Lender) => {
            quote_spanned!(at(ty)=> <#ty as ::talisman::pup::Pup>::lend(#place, #own);)
        }
        How::Packed => quote_spanned!(at(ty)=> <#ty as ::talisman::pup::Pup>::pack(#place, #p);),
        How::Serde => quote_spanned!(at(ty)=> ::talisman::pup::via_serde::pack::<#ty>(#place, #p);),
        How::With(module) => quote_spanned!(at(module)=> #module::pack(#place, #p);),
    }
}

/// An expression for the field's value, which returns from `unpack` on errors.
fn unpack(field: &Field) -> TokenStream {
    let Locals { u, version, .. } = locals();
    let ty = &field.ty;
    let read = match &field.how {
        How::Skip(Some(value)) => return quote!(#value),
        How::Skip(None) => return default_of(ty),
        How::Packed => quote_spanned!(at(ty)=> <#ty as ::talisman::pup::Pup>::unpack(#u)),
        How::Serde => quote_spanned!(at(ty)=> ::talisman::pup::via_serde::unpack::<#ty>(#u)),
        How::With(module) => quote_spanned!(at(module)=> #module::unpack(#u)),
    };
    let label = &field.label;
    let read = quote! {
        match #read {
            ::core::result::Result::Ok(field) => field,
            ::core::result::Result::Err(error) => return ::core::result::Result::Err(error.field(#label)),
        }
    };
    let Some(since) = &field.since else { return read };
    let default = since.default.as_ref().map_or_else(|| default_of(ty), |value| quote!(#value));
    let since = since.version;
    quote!(if #version >= #since { #read } else { #default })
}

fn default_of(ty: &Type) -> TokenStream {
    quote_spanned!(at(ty)=> <#ty as ::core::default::Default>::default())
}

/// Errors show the user's tokens; names resolve as in the rest of the generated code.
fn at(tokens: &impl Spanned) -> Span {
    tokens.span().resolved_at(Span::call_site())
}

// ---- Plain types -----------------------------------------------------------------------------------------------------

fn plain_pup_impl(model: &Model) -> TokenStream {
    let Locals { p, u, .. } = locals();
    let pup = around(
        model,
        quote! {
            const MIN_SIZE: usize = ::core::mem::size_of::<Self>();
            const PLAIN: ::core::option::Option<::talisman::pup::PlainProof<Self>> =
                ::core::option::Option::Some(::talisman::pup::PlainProof::new());
            #[inline]
            fn pack(&self, #p: &mut ::talisman::pup::Packer) {
                #p.plain(::core::slice::from_ref(self));
            }
            #[inline]
            fn unpack(
                #u: &mut ::talisman::pup::Unpacker<'_>,
            ) -> ::core::result::Result<Self, ::talisman::pup::PupError> {
                #u.plain_value()
            }
        },
    );
    let proof = plain_proof(model);
    quote!(#pup #proof)
}

fn plain_proof(model: &Model) -> TokenStream {
    let name = &model.ident;
    let types: Vec<_> = model.body.fields().iter().map(|f| &f.ty).collect();
    let fields = types.iter().map(|ty| quote_spanned!(at(ty)=> is_plain::<#ty>();));
    let message = format!(
        "`{name}` has padding between its fields, so it is not its bytes: reorder the fields, or drop `#[pup(plain)]`"
    );
    let no_padding = quote_spanned! {at(name)=>
        ::core::assert!(
            ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            #message
        );
    };
    quote! {
        const _: () = {
            const fn is_plain<T: ::talisman::pup::Plain>() {}
            #(#fields)*
            #no_padding
        };
        // SAFETY: the layout is fixed by `repr(C)`, every field is plain, and there is no padding: the two last are
        // checked just above.
        #[automatically_derived]
        unsafe impl ::talisman::pup::Plain for #name {}
    }
}
