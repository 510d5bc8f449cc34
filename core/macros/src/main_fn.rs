//! `#[talisman::main]`, on the impl block of the main chare or on an `async fn main`.

use crate::errors::Errors;
use crate::expand::{self, Expanded};
use crate::ir::{Kind, Options};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::parse_quote;
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, Ident, Item, ItemFn, ItemImpl, Pat, Path, PathArguments, Result, ReturnType, Stmt, Token,
    Type,
};

/// The main chare, and the `fn main` that starts the program with it.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut errors = Errors::default();
    let subscribe = subscriber(arguments, &mut errors);
    match syn::parse2::<Item>(item)? {
        Item::Impl(block) => {
            let ty = (*block.self_ty).clone();
            let main = expand::expand(Options::of(Kind::Main), block, errors)?;
            Ok(program(&ty, main, subscribe.as_ref(), quote!()))
        }
        Item::Fn(function) => of_function(&function, subscribe.as_ref(), errors),
        other => Err(Error::new_spanned(
            other,
            "`#[talisman::main]` goes on the impl block of the main chare, or on `async fn main`",
        )),
    }
}

/// The function of `#[talisman::main(subscriber = function)]`.
fn subscriber(arguments: TokenStream, errors: &mut Errors) -> Option<Path> {
    if arguments.is_empty() {
        return None;
    }
    let read = |input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let path: Path = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok((name == "subscriber").then_some(path))
    };
    let path = read.parse2(arguments.clone()).ok().flatten();
    if path.is_none() {
        errors.at(
            &arguments,
            "`#[talisman::main]` takes: subscriber = function, which installs the program's own `tracing` subscriber",
        );
    }
    path
}

/// The chare's code and `fn main`.
fn program(ty: &Type, main: Expanded, subscribe: Option<&Path>, attrs: TokenStream) -> TokenStream {
    let Expanded { code, mut init_types } = main;
    if init_types.len() > 1 {
        // Reported already: only the options are known how to make.
        init_types.clear();
    }
    let start = match subscribe {
        None => quote!(::talisman::start::main::<#ty, (#(#init_types,)*)>(::talisman::program!())),
        Some(subscribe) => quote! {
            ::talisman::start::main_with::<#ty, (#(#init_types,)*)>(::talisman::program!(), #subscribe)
        },
    };
    quote! {
        #code
        #attrs
        #[allow(dead_code, reason = "tests include programs as modules")]
        fn main() -> ::std::process::ExitCode {
            #start
        }
        ::talisman::known_program! { #ty, (#(#init_types,)*) }
    }
}

/// An `async fn main` is an async method of a main chare without state; an entry waits for it and ends the program.
fn of_function(function: &ItemFn, subscribe: Option<&Path>, errors: Errors) -> Result<TokenStream> {
    let (cx, options) = signature(function)?;
    let (names, types): (Vec<Ident>, Vec<Type>) = options.into_iter().unzip();
    let (block, output) = (&function.block, &function.sig.output);
    let (result, finish) = finish(&cx, output);
    let context = quote!(#cx: &mut ::talisman::Cx<Self> #(, #names: #types)*);
    let (run, attrs) = (quote_spanned!(function.sig.ident.span()=> __run), &function.attrs);
    let chare: ItemImpl = parse_quote! {
        impl __Main {
            #[init]
            fn __new(#context) -> Self {
                #cx.me().__main(#(#names),*);
                __Main
            }
            #[entry]
            async fn __main(&mut self, #context) {
                let __result: #result = self.#run(#cx #(, #names)*).await;
                #finish
            }
            #(#attrs)*
            async fn #run(&mut self, #context) #output #block
        }
    };
    let main = expand::expand(Options::of(Kind::Main), chare, errors)?;
    let import = context_import(function);
    let program = program(&parse_quote!(__Main), main, subscribe, quote!(#(#attrs)*));
    Ok(quote! {
        #[derive(::talisman::Pup)]
        struct __Main;
        #import
        #program
    })
}

/// The name of the context, and the other arguments.
fn signature(function: &ItemFn) -> Result<(Ident, Vec<(Ident, Type)>)> {
    let sig = &function.sig;
    if sig.asyncness.is_none() || sig.ident != "main" {
        return error(
            sig,
            "`#[talisman::main]` goes on `async fn main(cx: &mut Cx, options: Options)`, or on the impl block of a main chare",
        );
    }
    let mut inputs = vec![];
    for input in &sig.inputs {
        inputs.push(match input {
            FnArg::Receiver(_) => return error(input, "`main` has no `self`"),
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(pat) => (pat.ident.clone(), (*typed.ty).clone()),
                other => return error(other, "give this argument a name"),
            },
        });
    }
    if inputs.is_empty() || inputs.len() > 2 {
        return error(sig, "`main` takes `cx: &mut Cx`, and then the program's options if it has any");
    }
    let (cx, _) = inputs.remove(0);
    Ok((cx, inputs))
}

/// A use of the name by which the user imported `Cx`: without its parameter it can stand nowhere in the chare.
fn context_import(function: &ItemFn) -> Option<TokenStream> {
    let Some(FnArg::Typed(typed)) = function.sig.inputs.first() else { return None };
    let ty = match &*typed.ty {
        Type::Reference(reference) => &*reference.elem,
        other => other,
    };
    let Type::Path(path) = ty else { return None };
    let mut path = path.path.clone();
    path.segments.last_mut()?.arguments = PathArguments::None;
    Some(
        quote!(const _: () = { #[allow(unused_imports, reason = "it is named for the compiler to see that it is there")] use #path as _; };),
    )
}

fn error<T>(at: &impl ToTokens, text: &str) -> Result<T> {
    Err(Error::new_spanned(at, text))
}

/// The type that `main` returns, and the statement that ends the program with it.
fn finish(cx: &Ident, output: &ReturnType) -> (TokenStream, Stmt) {
    match output {
        ReturnType::Type(_, ty) if !matches!(&**ty, Type::Tuple(t) if t.elems.is_empty()) => {
            let fail = quote_spanned!(ty.span()=> #cx.fail(__error));
            let finish = parse_quote! {
                match __result {
                    ::core::result::Result::Ok(()) => #cx.exit(),
                    ::core::result::Result::Err(__error) => #fail,
                }
            };
            (quote!(#ty), finish)
        }
        _ => (quote!(()), parse_quote!({ let () = __result; #cx.exit() })),
    }
}
