//! One method of a chare: its role, and its signature.

use super::options::entry_options;
use super::travel::owned;
use crate::errors::Errors;
use crate::flow::stmt_awaits;
use crate::ir::{Arg, EntryOptions, Method, Role};
use quote::{format_ident, quote};
use syn::{
    Attribute, Block, FnArg, Ident, Pat, PatType, Receiver, ReturnType, Signature, Type, Visibility,
    parse_quote,
};

const MOST_ARGUMENTS: usize = 8;

/// What the attributes make of a method, if anything.
pub fn role(attrs: &[Attribute], sig: &Signature, has_body: bool, errors: &mut Errors) -> Option<Role> {
    let is_async = sig.asyncness.is_some();
    let mut role = None;
    for attribute in attrs {
        let this = match our_attribute(attribute) {
            Some("init") => Role::Init,
            Some("restored") => Role::Restored,
            Some("lost") => Role::Lost,
            Some("departs") => Role::Departs,
            Some("waits") => Role::Waits,
            Some(_) if is_async && has_body => Role::Flow { exported: true },
            Some(_) => Role::Entry,
            None => continue,
        };
        if *role.get_or_insert(this) != this {
            errors.at(
                attribute,
                "one of `#[init]`, `#[entry]`, `#[restored]`, `#[lost]`, `#[departs]` and `#[waits]`",
            );
        }
    }
    if is_async
        && matches!(role, Some(Role::Init | Role::Restored | Role::Lost | Role::Departs | Role::Waits))
    {
        errors.at(
            &sig.asyncness,
            "only an entry can be `async`: send it a message from here, `cx.me().run(…)`",
        );
    }
    if is_async && !has_body {
        errors.at(
            &sig.asyncness,
            "an entry without a body is not `async`: the async entry that receives it waits",
        );
    }
    role.or((is_async && has_body).then_some(Role::Flow { exported: false }))
}

fn our_attribute(attribute: &Attribute) -> Option<&'static str> {
    ["init", "entry", "restored", "lost", "departs", "waits"]
        .into_iter()
        .find(|name| attribute.path().is_ident(name))
}

/// Reads a method that has a role.
pub fn parse(
    role: Role,
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    block: Option<Block>,
    errors: &mut Errors,
) -> Method {
    let before = errors.count();
    let (ours, attrs): (Vec<_>, Vec<_>) = attrs.into_iter().partition(|a| our_attribute(a).is_some());
    check_attributes(&attrs, errors);
    check_signature(role, &sig, errors);
    let mut reader = Reader { role, cx: None, args: vec![] };
    for (at, input) in sig.inputs.iter().filter_map(typed).enumerate() {
        reader.input(at, input, errors);
    }
    if reader.args.len() > MOST_ARGUMENTS {
        errors.at(&sig.ident, "more than 8 arguments: put some of them into a struct with `#[derive(Pup)]`");
    }
    let ret = result(&sig.output, errors);
    let options = options(role, &ours, ret.is_some(), errors);
    check_result(role, &sig, ret.is_some(), errors);
    check_plain(role, &sig, errors);
    check_waits(role, &sig, block.as_ref(), errors);
    let mut method = Method {
        role,
        vis,
        name: sig.ident.clone(),
        docs: attrs.iter().filter(|a| is_documentation(a)).cloned().collect(),
        attrs,
        cx: reader.cx,
        args: reader.args,
        ret,
        options,
        sig,
        block,
    };
    method.sig.asyncness = None;
    if errors.count() > before {
        make_whole(&mut method);
    }
    method
}

fn is_documentation(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") || attribute.path().is_ident("deprecated")
}

fn check_attributes(attrs: &[Attribute], errors: &mut Errors) {
    if let Some(cfg) = attrs.iter().find(|a| a.path().is_ident("cfg")) {
        errors.at(
            cfg,
            "an entry exists in every build, or its number would change: put the `cfg` inside its body",
        );
    }
}

fn called(role: Role) -> &'static str {
    match role {
        Role::Init => "an `#[init]`",
        Role::Restored => "a `#[restored]` method",
        Role::Lost => "a `#[lost]` method",
        Role::Departs => "a `#[departs]` method",
        Role::Waits => "a `#[waits]` method",
        Role::Flow { exported: false } => "an async method",
        _ => "an entry",
    }
}

fn check_signature(role: Role, sig: &Signature, errors: &mut Errors) {
    let what = called(role);
    if !sig.generics.params.is_empty() {
        errors.at(
            &sig.generics,
            format!(
                "{what} is not generic, because messages name it: make the chare generic, or write one method per type"
            ),
        );
    }
    if let Some(unsafety) = &sig.unsafety {
        errors.at(unsafety, format!("{what} cannot be unsafe: anyone may call it"));
    }
    match (role, sig.inputs.first()) {
        (Role::Init, Some(FnArg::Receiver(receiver))) => {
            errors.at(receiver, "an `#[init]` makes the object: it has no `self` yet");
        }
        (Role::Init | Role::Receive, _) => {}
        (_, Some(FnArg::Receiver(receiver))) => check_receiver(role, receiver, errors),
        _ => errors.at(&sig.ident, format!("{what} takes `&mut self`")),
    }
}

fn check_receiver(role: Role, receiver: &Receiver, errors: &mut Errors) {
    let what = called(role);
    let by_reference = receiver.reference.is_some() && receiver.colon_token.is_none();
    if !by_reference {
        errors.at(
            receiver,
            format!("{what} takes `&mut self` or `&self`: the object stays when the message is done"),
        );
    } else if matches!(role, Role::Flow { .. }) && receiver.mutability.is_none() {
        errors.at(receiver, format!("{what} that is `async` takes `&mut self`"));
    }
}

fn typed(input: &FnArg) -> Option<&PatType> {
    match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    }
}

/// Reads the arguments of one method.
struct Reader {
    role: Role,
    cx: Option<Ident>,
    args: Vec<Arg>,
}

impl Reader {
    fn input(&mut self, at: usize, input: &PatType, errors: &mut Errors) {
        if is_context(&input.ty) { self.context(at, input, errors) } else { self.argument(at, input, errors) }
    }

    fn context(&mut self, at: usize, input: &PatType, errors: &mut Errors) {
        if at != 0 {
            return errors.at(input, "`cx` comes first");
        }
        if self.role == Role::Receive {
            return errors.at(input, "a receive entry has no `cx`: the async entry that receives it has one");
        }
        self.cx = Some(match &*input.pat {
            Pat::Ident(pat) => pat.ident.clone(),
            _ => format_ident!("__cx"),
        });
        let by_mut_reference = matches!(&*input.ty, Type::Reference(r) if r.mutability.is_some());
        if !by_mut_reference || !matches!(&*input.pat, Pat::Ident(_) | Pat::Wild(_)) {
            errors.at(&input.ty, "the context is passed as `cx: &mut Cx<Self>`");
        }
    }

    fn argument(&mut self, at: usize, input: &PatType, errors: &mut Errors) {
        let ty = owned(&input.ty, "an argument", errors);
        match &*input.pat {
            Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => {
                self.args.push(Arg { name: pat.ident.clone(), ty, mutable: pat.mutability.is_some() });
            }
            Pat::Wild(_) => self.args.push(Arg { name: format_ident!("_arg{}", at), ty, mutable: false }),
            other => {
                errors.at(other, "give this argument a name: proxies show it");
                self.args.push(Arg { name: format_ident!("_arg{}", at), ty, mutable: false });
            }
        }
    }
}

/// Whether this is `Cx<…>`, or a reference to one.
fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_context(&reference.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|s| s.ident == "Cx"),
        _ => false,
    }
}

fn result(output: &ReturnType, errors: &mut Errors) -> Option<Type> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(t) if t.elems.is_empty()) => None,
        ReturnType::Type(_, ty) => Some(owned(ty, "a result", errors)),
    }
}

fn options(role: Role, ours: &[Attribute], returns: bool, errors: &mut Errors) -> EntryOptions {
    let Some(attribute) = ours.iter().find(|a| a.path().is_ident("entry")) else {
        return EntryOptions::default();
    };
    let options = entry_options(attribute, errors);
    if options.ack && role == Role::Receive {
        errors.at(attribute, "`ack` answers when the entry is done, which one without a body never is");
    } else if options.ack && returns {
        errors.at(attribute, "this entry returns a value, so its calls are answered already: drop `ack`");
    }
    options
}

fn check_result(role: Role, sig: &Signature, returns: bool, errors: &mut Errors) {
    match role {
        Role::Init if !returns => errors.at(sig, "an `#[init]` returns `Self`"),
        Role::Receive if returns => errors.at(&sig.output, "an entry without a body has nothing to return"),
        _ => {}
    }
}

/// Methods that the runtime calls on its own account, without a context.
fn check_plain(role: Role, sig: &Signature, errors: &mut Errors) {
    let is_mutable = matches!(sig.inputs.first(), Some(FnArg::Receiver(r)) if r.mutability.is_some());
    let returns = !matches!(sig.output, ReturnType::Default);
    let is_as_it_should = sig.inputs.len() == 1;
    match role {
        Role::Departs if !is_as_it_should || returns => {
            errors.at(
                sig,
                "a `#[departs]` method takes nothing else and returns nothing: `fn departs(&mut self)`",
            );
        }
        Role::Waits if !is_as_it_should || !returns || is_mutable => {
            errors.at(
                sig,
                "a `#[waits]` method says what the object waits for: `fn waits(&self) -> Vec<Waiting>`",
            );
        }
        _ => {}
    }
}

fn check_waits(role: Role, sig: &Signature, block: Option<&Block>, errors: &mut Errors) {
    let waits = block.is_some_and(|block| block.stmts.iter().any(stmt_awaits));
    if waits && !matches!(role, Role::Flow { .. }) {
        let what = match role {
            Role::Entry => "this entry waits, so it is written".to_string(),
            _ => format!("{} cannot wait; an entry can:", called(role)),
        };
        errors.at(&sig.fn_token, format!("{what} `#[entry] async fn …`"));
    }
}

/// Gives a method with a mistake a signature that compiles, and a body that fits any: its uses then give no errors.
fn make_whole(method: &mut Method) {
    method.args.truncate(MOST_ARGUMENTS);
    method.attrs.push(parse_quote!(#[allow(unused_variables, reason = "the body is replaced")]));
    if method.block.is_some() {
        method.block = Some(parse_quote!({ ::core::unreachable!() }));
    }
    let receiver = (!matches!(method.role, Role::Init | Role::Receive)).then(|| quote!(&mut self,));
    let cx = method.cx.iter().map(|cx| quote!(#cx: &mut ::talisman::Cx<Self>,));
    let ret = match (method.role, &method.ret) {
        (Role::Init, _) => quote!(-> Self),
        (_, Some(ty)) => quote!(-> #ty),
        (_, None) => quote!(),
    };
    let (name, generics) = (&method.name, &method.sig.generics);
    let (names, types) = (method.arg_names(), method.arg_types());
    method.sig = parse_quote!(fn #name #generics(#receiver #(#cx)* #(#names: #types),*) #ret);
}
