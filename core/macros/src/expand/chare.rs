//! The impl of `Chare`, the trait that says of which kind it is, and its line in the registry.

use super::flows::Flows;
use super::generic_arguments;
use super::proxy::{entries_type, inits_type};
use crate::ir::{Chare, Kind, Method, Role};
use crate::register;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// The impls.
pub fn expand(chare: &Chare, flows: &Flows) -> TokenStream {
    let (impl_generics, _, bounds) = chare.generics.split_for_impl();
    let self_ty = &chare.self_ty;
    let (kind, index, marker) = kind(chare);
    // The one place that demands `Send` of the state.
    let moves = quote_spanned!(self_ty.span()=> ::talisman::chare::Moves::<#self_ty>::between_threads());
    let (identity, proxies, tables) = (identity(chare), proxies(chare), tables(chare));
    let (state, restored, lost) = (state(chare), restored(chare), lost(chare));
    let (departs, waits) = (departs(chare), waits(chare));
    let flow_items = &flows.chare_items;
    let (ordered, registered) = (chare.options.ordered, registered(chare));
    quote! {
        impl #impl_generics ::talisman::chare::Chare for #self_ty #bounds {
            const MOVES: ::talisman::chare::Moves<Self> = #moves;
            const KIND: ::talisman::chare::Kind = ::talisman::chare::Kind::#kind;
            const ORDERED: bool = #ordered;
            type Index = #index;
            #identity
            #proxies
            #tables
            #state
            #flow_items
            #restored
            #lost
            #departs
            #waits
        }
        impl #impl_generics ::talisman::chare::#marker for #self_ty #bounds {}
        #registered
    }
}

/// (variant of `Kind`, type of the index, marker trait)
fn kind(chare: &Chare) -> (TokenStream, TokenStream, TokenStream) {
    match &chare.options.kind {
        Kind::Single => (quote!(Single), quote!(u32), quote!(SingleChare)),
        Kind::Array(index) => (quote!(Array), quote!(#index), quote!(ArrayChare)),
        Kind::Group => (quote!(Group), quote!(u32), quote!(GroupChare)),
        Kind::NodeGroup => (quote!(NodeGroup), quote!(u32), quote!(GroupChare)),
        Kind::Main => (quote!(Main), quote!(u32), quote!(MainChare)),
    }
}

/// The name on the wire: where it was written, and its hash.
fn identity(chare: &Chare) -> TokenStream {
    let text = chare.ident.to_string();
    let wire = match &chare.options.name {
        Some(name) => quote!(#name),
        None => quote!(::core::concat!(::core::module_path!(), "::", #text)),
    };
    let types: Vec<_> = chare.generics.type_params().map(|t| &t.ident).collect();
    let consts: Vec<_> = chare.generics.const_params().map(|c| &c.ident).collect();
    let name = if types.is_empty() && consts.is_empty() {
        quote!(::std::string::String::from(#wire))
    } else {
        quote! {
            let __all: ::std::vec::Vec<::std::string::String> = ::std::vec![
                #(<#types as ::talisman::pup::Named>::name(),)*
                #(::std::string::ToString::to_string(&#consts),)*
            ];
            ::std::format!("{}<{}>", #wire, __all.join(", "))
        }
    };
    quote! {
        const FILE: &'static str = ::core::file!();
        const KEY: u64 = {
            let __key = ::talisman::pup::key(#wire);
            #(let __key = ::talisman::pup::join(__key, <#types as ::talisman::pup::Named>::KEY);)*
            #(let __key = ::talisman::pup::join(__key, #consts as u64);)*
            __key
        };
        fn name() -> ::std::string::String { #name }
    }
}

fn proxies(chare: &Chare) -> TokenStream {
    let (entries, inits, generics) = (entries_type(chare), inits_type(chare), generic_arguments(chare));
    quote! {
        type Entries<__To: ::talisman::chare::SendTo<Self>> = #entries<#(#generics,)* __To>;
        type Inits<__To: ::talisman::chare::Create<Self>> = #inits<#(#generics,)* __To>;
    }
}

/// The entries and inits by number.
fn tables(chare: &Chare) -> TokenStream {
    let (entries, inits) = (0..chare.entries().count(), 0..chare.inits().count());
    quote! {
        const ENTRIES: &'static [::talisman::chare::EntryInfo] =
            &[#(::talisman::chare::entry_info::<Self, #entries>()),*];
        const INITS: &'static [::talisman::chare::InitInfo] =
            &[#(::talisman::chare::init_info::<Self, #inits>()),*];
    }
}

/// How the object crosses a wire: the one place that demands `Pup` of it.
fn state(chare: &Chare) -> TokenStream {
    let self_ty = &chare.self_ty;
    let lend = quote_spanned!(self_ty.span()=> <#self_ty as ::talisman::pup::Pup>::lend(self, __p));
    let unpack = quote_spanned!(self_ty.span()=> <#self_ty as ::talisman::pup::Pup>::unpack(__u));
    let (lend_flows, unpack_flows) = match chare.has_flows() {
        true => (
            quote!(::talisman::pup::Pup::lend(__flows, __p);),
            quote!(
                <Self::Flows as ::talisman::pup::Pup>::unpack(__u)
                    .map_err(|__e| __e.field("(async entries)"))?
            ),
        ),
        false => (quote!(), quote!(())),
    };
    quote! {
        #[allow(unused_variables, reason = "a chare without async entries has no flows to pack")]
        fn lend_state<'__a>(&'__a self, __flows: &'__a Self::Flows, __p: &mut ::talisman::pup::Lender<'__a>) {
            #lend;
            #lend_flows
        }
        fn unpack_state(
            __u: &mut ::talisman::pup::Unpacker<'_>,
        ) -> ::core::result::Result<(Self, Self::Flows), ::talisman::pup::PupError> {
            let __state = #unpack?;
            ::core::result::Result::Ok((__state, #unpack_flows))
        }
    }
}

fn restored(chare: &Chare) -> Option<TokenStream> {
    let method: &Method = chare.methods.iter().find(|m| m.role == Role::Restored)?;
    let name = &method.name;
    let context = method.cx.is_some().then(|| quote!(__cx,));
    let why = (!method.args.is_empty()).then(|| quote!(__why));
    Some(quote! {
        fn restored(&mut self, __cx: &mut ::talisman::Cx<Self>, __why: ::talisman::chare::Restored) {
            Self::#name(self, #context #why)
        }
    })
}

fn lost(chare: &Chare) -> Option<TokenStream> {
    let is_lost = |m: &&Method| m.role == Role::Lost && m.args.len() == 1;
    let method: &Method = chare.methods.iter().find(is_lost)?;
    let name = &method.name;
    let context = method.cx.is_some().then(|| quote!(__cx,));
    Some(quote! {
        const HEARS_OF_LOST: bool = true;
        fn lost(&mut self, __cx: &mut ::talisman::Cx<Self>, __other: Self) {
            Self::#name(self, #context __other)
        }
    })
}

fn departs(chare: &Chare) -> Option<TokenStream> {
    let method: &Method = chare.methods.iter().find(|m| m.role == Role::Departs)?;
    let name = &method.name;
    Some(quote! {
        const HEARS_OF_DEPARTURE: bool = true;
        fn departs(&mut self) {
            Self::#name(self)
        }
    })
}

fn waits(chare: &Chare) -> Option<TokenStream> {
    let method: &Method = chare.methods.iter().find(|m| m.role == Role::Waits)?;
    let name = &method.name;
    Some(quote! {
        fn waits(&self) -> ::std::vec::Vec<::talisman::flow::Waiting> {
            Self::#name(self)
        }
    })
}

/// A chare without generic parameters registers itself; of a generic one, the instances it names.
fn registered(chare: &Chare) -> TokenStream {
    match chare.generics.params.is_empty() {
        true => register::submit(&chare.self_ty),
        false => chare.options.instances.iter().map(register::submit).collect(),
    }
}
