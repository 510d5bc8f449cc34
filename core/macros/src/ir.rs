//! What `parse` has understood of a chare's impl block, and `expand` writes code for.

use quote::format_ident;
use syn::{
    Attribute, Block, FnArg, Generics, Ident, ImplItem, LitStr, Pat, Signature, Type, Visibility, parse_quote,
};

/// What `#[chare(…)]` said.
pub struct Options {
    pub kind: Kind,
    /// Messages from one element to another arrive in the order they were sent.
    pub ordered: bool,
    /// The instances of a generic chare to register.
    pub instances: Vec<Type>,
    /// The name on the wire, where it is not module path and type.
    pub name: Option<LitStr>,
}

impl Options {
    /// The options of a chare of this kind that says nothing else.
    pub fn of(kind: Kind) -> Self {
        Options { kind, ordered: false, instances: vec![], name: None }
    }
}

/// What kind of collection a chare's objects form.
pub enum Kind {
    Single,
    /// With the type of the index.
    Array(Box<Type>),
    Group,
    NodeGroup,
    Main,
}

/// A chare: its impl block, sorted.
pub struct Chare {
    pub ident: Ident,
    /// The type as the impl block names it, with its generic arguments.
    pub self_ty: Type,
    pub generics: Generics,
    pub attrs: Vec<Attribute>,
    pub options: Options,
    /// Items that are none of our business: helpers, constants.
    pub kept: Vec<ImplItem>,
    pub methods: Vec<Method>,
}

impl Chare {
    /// The methods that messages name, in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|m| m.exported())
    }

    /// The methods that make an object, in the order of their numbers.
    pub fn inits(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|m| m.role == Role::Init)
    }

    /// The entries without a body, which async entries receive.
    pub fn receives(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|m| m.role == Role::Receive)
    }

    /// Every async method, exported or not.
    pub fn flows(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|m| matches!(m.role, Role::Flow { .. }))
    }

    /// Whether the object has anything beside its own state: running async entries or messages for them.
    pub fn has_flows(&self) -> bool {
        self.flows().next().is_some() || self.receives().next().is_some()
    }

    /// The type that holds the state of one async method.
    pub fn state_type(&self, flow: &Ident) -> Ident {
        format_ident!("__{}_{}", self.ident, flow)
    }

    /// The type that holds the messages and answers that async methods look at.
    pub fn mail_type(&self) -> Ident {
        format_ident!("__{}Mail", self.ident)
    }
}

/// What a method is to the runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Init,
    /// An entry that runs when its message arrives.
    Entry,
    /// An entry without a body.
    Receive,
    /// An `async fn`: an entry if `exported`, otherwise part of others.
    Flow {
        exported: bool,
    },
    Restored,
    /// Hears of a lost member of its group.
    Lost,
    /// Hears that the object is about to be packed for another node.
    Departs,
    /// Says what the object waits for.
    Waits,
}

/// A method of the chare that has a [`Role`].
pub struct Method {
    pub role: Role,
    pub vis: Visibility,
    pub name: Ident,
    /// Documentation and deprecation: what is repeated on proxies.
    pub docs: Vec<Attribute>,
    /// Every attribute but ours.
    pub attrs: Vec<Attribute>,
    /// The name of the context argument, if the method takes it.
    pub cx: Option<Ident>,
    pub args: Vec<Arg>,
    /// What it returns, if that is not `()`.
    pub ret: Option<Type>,
    pub options: EntryOptions,
    pub sig: Signature,
    pub block: Option<Block>,
}

impl Method {
    /// Whether messages name it.
    pub fn exported(&self) -> bool {
        matches!(self.role, Role::Entry | Role::Receive | Role::Flow { exported: true })
    }

    /// Whether a call of it gives something to wait for.
    pub fn answers(&self) -> bool {
        self.ret.is_some() || self.options.ack
    }

    /// The type of the context as the method writes it, so that the user's import of it is used.
    pub fn context_type(&self) -> Type {
        let written = self.sig.inputs.iter().find_map(|input| match input {
            FnArg::Typed(typed) => match (&*typed.pat, &self.cx) {
                (Pat::Ident(pat), Some(cx)) if pat.ident == *cx => Some((*typed.ty).clone()),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        written.unwrap_or_else(|| parse_quote!(&mut ::talisman::Cx<Self>))
    }

    /// The attributes that say what the compiler is to complain about.
    pub fn lints(&self) -> impl Iterator<Item = &Attribute> {
        let is_lint =
            |a: &&Attribute| ["allow", "expect", "warn", "deny"].iter().any(|lint| a.path().is_ident(lint));
        self.attrs.iter().filter(is_lint)
    }

    pub fn arg_names(&self) -> Vec<&Ident> {
        self.args.iter().map(|a| &a.name).collect()
    }

    pub fn arg_types(&self) -> Vec<&Type> {
        self.args.iter().map(|a| &a.ty).collect()
    }

    /// The field that keeps the messages of an entry without a body.
    pub fn mailbox(&self) -> Ident {
        mailbox(&self.name)
    }

    /// The field that keeps the running ones of an async entry.
    pub fn running(&self) -> Ident {
        format_ident!("f_{}", self.name)
    }
}

/// The field that keeps the messages of this entry.
pub fn mailbox(entry: &Ident) -> Ident {
    format_ident!("r_{}", entry)
}

/// The method that takes an async method as far as it can go.
pub fn step_method(flow: &Ident) -> Ident {
    format_ident!("__step_{}", flow)
}

/// The function that makes an async method's first state of its arguments.
pub fn start_function(flow: &Ident) -> Ident {
    format_ident!("__start_{}", flow)
}

/// What `#[entry(…)]` said.
#[derive(Default)]
pub struct EntryOptions {
    pub priority: Option<i32>,
    pub expedited: bool,
    /// A call of this entry, which returns nothing, gives a `Call<()>`.
    pub ack: bool,
}

/// An argument of a method, without `self` and `cx`.
#[derive(Clone)]
pub struct Arg {
    pub name: Ident,
    pub ty: Type,
    pub mutable: bool,
}
