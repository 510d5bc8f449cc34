//! The type of a machine's states: an enum with a variant for each label, whose fields are the variables needed there.
//!
//! Only a state that waits is ever packed. Its `Pup` is written here and not derived: it is the one place that demands
//! `Pup` of a local variable, at the type the user wrote, and it leaves out the labels that never wait.

use super::super::ir::{Arm, Body, LabelId, On, Out, Wait};
use super::wait::same_key;
use super::{Emit, Solved, variant};
use crate::ir::mailbox;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

/// A field of a state.
struct Field {
    name: Ident,
    ty: TokenStream,
    /// Where the user wrote the type, or declared the variable.
    at: Span,
}

impl Emit<'_> {
    /// The enum and its impls.
    pub(super) fn state_type(&mut self, solved: &Solved) -> TokenStream {
        let chare = self.flow.scope.chare;
        let (params, self_ty) = (&chare.generics.params, &chare.self_ty);
        let (impl_generics, generics, bounds) = chare.generics.split_for_impl();
        let (name, mail) = (&solved.machine.name, chare.mail_type());
        let labels: Vec<LabelId> = solved.labels().collect();
        let fields: Vec<Vec<Field>> = labels.iter().map(|label| self.fields(solved, *label)).collect();
        let variants = labels.iter().zip(&fields).map(|(label, fields)| {
            let variant = variant(*label);
            let fields = fields.iter().map(|Field { name, ty, .. }| quote!(#name: #ty));
            quote!(#variant { #(#fields),* })
        });
        let pup = self.pup(solved, &labels, &fields);
        let (ready, waits) = (ready(solved), waits(solved));
        quote! {
            #[doc(hidden)]
            #[allow(
                non_camel_case_types, private_interfaces, private_bounds, dead_code,
                reason = "the name is made from the user's, whose types may be private"
            )]
            #[allow(
                clippy::large_enum_variant, clippy::enum_variant_names,
                reason = "the variants are the places at which the body waits"
            )]
            pub enum #name<#params> #bounds {
                #(#variants,)*
                Done,
                __Of(::core::marker::PhantomData<fn() -> #self_ty>),
            }
            #pup
            #[allow(
                unused_variables, private_interfaces,
                reason = "a state may keep nothing, or values of the user's private types"
            )]
            impl #impl_generics #name #generics #bounds {
                /// Whether it may be able to go on; never wrongly false.
                fn __ready(&self, __mail: &#mail #generics) -> bool { #ready }
                fn __waits(
                    &self,
                    __entry: &'static str,
                    __all: &mut ::std::vec::Vec<::talisman::flow::Waiting>,
                ) { #waits }
            }
        }
    }

    fn fields(&mut self, solved: &Solved, label: LabelId) -> Vec<Field> {
        let mut fields = vec![];
        for local in solved.fields(label) {
            let at = local.ty.as_ref().map_or_else(|| local.name.span(), Spanned::span);
            fields.push(Field { name: local.name.clone(), ty: self.kept_type(local), at });
        }
        if let Body::Wait(wait) = &solved.machine.labels[label].body {
            for (name, ty) in &wait.hidden {
                fields.push(Field { name: name.clone(), ty: ty.clone(), at: Span::call_site() });
            }
        }
        fields
    }

    fn pup(&self, solved: &Solved, labels: &[LabelId], fields: &[Vec<Field>]) -> TokenStream {
        let (impl_generics, generics, bounds) = self.flow.scope.chare.generics.split_for_impl();
        let (name, text) = (&solved.machine.name, self.entry_text());
        let stamp = matches!(solved.machine.out, Out::Main).then(|| self.stamp());
        let (mut packs, mut lends, mut unpacks) =
            (TokenStream::new(), TokenStream::new(), TokenStream::new());
        for (label, fields) in labels.iter().zip(fields) {
            if matches!(solved.machine.labels[*label].body, Body::Wait(_)) {
                packs.extend(pack(solved, *label, fields));
                lends.extend(lend(solved, *label, fields));
                unpacks.extend(unpack(solved, *label, fields, &text));
            }
        }
        // A part of an overlap may have ended while the others wait; a whole entry is gone when it ends.
        if let Out::Branch { .. } = solved.machine.out {
            packs.extend(quote!(#name::Done => ::talisman::pup::Pup::pack(&0u16, __p),));
            lends.extend(quote!(#name::Done => ::talisman::pup::Pup::pack(&0u16, __p.packer()),));
            unpacks.extend(quote!(0u16 => ::core::result::Result::Ok(#name::Done),));
        }
        let (pack_stamp, lend_stamp, check_stamp) = match stamp {
            Some(stamp) => {
                (quote!(#stamp.pack(__p);), quote!(#stamp.pack(__p.packer());), quote!(#stamp.check(__u)?;))
            }
            None => (quote!(), quote!(), quote!()),
        };
        quote! {
            impl #impl_generics ::talisman::pup::Pup for #name #generics #bounds {
                fn pack(&self, __p: &mut ::talisman::pup::Packer) {
                    #pack_stamp
                    match self { #packs _ => ::core::unreachable!("only an entry that waits is packed") }
                }
                fn lend<'__a>(&'__a self, __p: &mut ::talisman::pup::Lender<'__a>) {
                    #lend_stamp
                    match self { #lends _ => ::core::unreachable!("only an entry that waits is packed") }
                }
                #[allow(clippy::match_single_binding, reason = "a body may wait in one place only")]
                fn unpack(
                    __u: &mut ::talisman::pup::Unpacker<'_>,
                ) -> ::core::result::Result<Self, ::talisman::pup::PupError> {
                    #check_stamp
                    match <u16 as ::talisman::pup::Pup>::unpack(__u)? {
                        #unpacks
                        __tag => ::core::result::Result::Err(::talisman::flow::unknown_state(__u, __tag, #text)),
                    }
                }
            }
        }
    }

    fn entry_text(&self) -> String {
        format!("{}::{}", self.flow.scope.chare.ident, self.flow.method.name)
    }

    /// Tells a packed state of this very body from one of a changed body.
    fn stamp(&self) -> TokenStream {
        let method = self.flow.method;
        let (args, types) = (method.arg_names(), method.arg_types());
        let (block, ret) = (&method.block, &method.ret);
        let hash = fnv(&quote!(#(#args: #types),* => #ret #block).to_string());
        let text = self.entry_text();
        quote!(::talisman::flow::Stamp::new(#hash, #text))
    }
}

/// FNV-1a, 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3))
}

/// The number of a state in packed form; 0 is the end.
fn tag(label: LabelId) -> u16 {
    u16::try_from(label + 1).expect("a body of a sensible size")
}

fn pack(solved: &Solved, label: LabelId, fields: &[Field]) -> TokenStream {
    let (state, tag) = (solved.state(label), tag(label));
    let names = fields.iter().map(|f| &f.name);
    let packs = fields
        .iter()
        .map(|Field { name, ty, at }| quote_spanned!(*at=> <#ty as ::talisman::pup::Pup>::pack(#name, __p);));
    quote!(#state { #(#names),* } => { ::talisman::pup::Pup::pack(&#tag, __p); #(#packs)* })
}

fn lend(solved: &Solved, label: LabelId, fields: &[Field]) -> TokenStream {
    let (state, tag) = (solved.state(label), tag(label));
    let names = fields.iter().map(|f| &f.name);
    let lends = fields
        .iter()
        .map(|Field { name, ty, at }| quote_spanned!(*at=> <#ty as ::talisman::pup::Pup>::lend(#name, __p);));
    quote!(#state { #(#names),* } => { ::talisman::pup::Pup::pack(&#tag, __p.packer()); #(#lends)* })
}

fn unpack(solved: &Solved, label: LabelId, fields: &[Field], entry: &str) -> TokenStream {
    let (state, tag) = (solved.state(label), tag(label));
    let reads = fields.iter().map(|Field { name, ty, at }| {
        let field = format!("{entry}.{name}");
        let read = quote_spanned!(*at=> <#ty as ::talisman::pup::Pup>::unpack(__u));
        quote!(#name: #read.map_err(|__e| __e.field(#field))?)
    });
    quote!(#tag => ::core::result::Result::Ok(#state { #(#reads),* }),)
}

/// The waits of a machine with their labels.
fn waits_of<'s>(solved: &'s Solved<'_>) -> impl Iterator<Item = (LabelId, &'s Wait)> {
    solved.labels().filter_map(|label| match &solved.machine.labels[label].body {
        Body::Wait(wait) => Some((label, &**wait)),
        Body::Code(_) => None,
    })
}

/// An expression: whether what this state waits for is there.
fn ready(solved: &Solved) -> TokenStream {
    let arms = waits_of(solved).map(|(label, wait)| {
        let state = solved.state(label);
        match &wait.on {
            On::Message { entry, keyed: true, .. } => {
                let (mailbox, test) = (mailbox(entry), same_key(wait.at));
                quote!(#state { __key, .. } => __mail.#mailbox.has(#test),)
            }
            On::Message { entry, .. } => {
                let mailbox = mailbox(entry);
                quote!(#state { .. } => !__mail.#mailbox.is_empty(),)
            }
            On::Reply { .. } => quote!(#state { __wait, .. } => __mail.replies.has(*__wait),),
            On::Call { .. } => quote!(#state { __sub, .. } => __sub.__ready(__mail),),
            On::Any(arms) => {
                let mailboxes = arms.iter().map(|arm| mailbox(&arm.entry));
                quote!(#state { .. } => false #(|| !__mail.#mailboxes.is_empty())*,)
            }
            On::Overlap { branches, .. } => {
                let vars: Vec<&Ident> = branches.iter().map(|branch| &branch.var).collect();
                quote!(#state { #(#vars,)* .. } => false #(|| #vars.__ready(__mail))*,)
            }
        }
    });
    let ended = match solved.machine.out {
        Out::Main => quote!(),
        Out::Branch { .. } => {
            let name = &solved.machine.name;
            quote!(#name::Done => false,)
        }
    };
    quote!(match self { #(#arms)* #ended _ => true })
}

/// A statement: tells what this state waits for.
fn waits(solved: &Solved) -> TokenStream {
    let arms = waits_of(solved).map(|(label, wait)| {
        let state = solved.state(label);
        let what = match &wait.on {
            On::Message { entry, .. } => format!("`{entry}`"),
            On::Reply { what, .. } => what.clone(),
            On::Any(arms) => any_text(arms),
            On::Call { .. } => return quote!(#state { __sub, .. } => __sub.__waits(__entry, __all),),
            On::Overlap { branches, .. } => {
                let vars: Vec<&Ident> = branches.iter().map(|branch| &branch.var).collect();
                return quote!(#state { #(#vars,)* .. } => { #(#vars.__waits(__entry, __all);)* });
            }
        };
        let (file, line) =
            (quote_spanned!(wait.at=> ::core::file!()), quote_spanned!(wait.at=> ::core::line!()));
        quote!(#state { .. } => __all.push(::talisman::flow::Waiting::new(__entry, #what, #file, #line)),)
    });
    quote!(match self { #(#arms)* _ => {} })
}

fn any_text(arms: &[Arm]) -> String {
    let entries: Vec<String> = arms.iter().map(|arm| format!("`{}`", arm.entry.to_token_stream())).collect();
    entries.join(" or ")
}
