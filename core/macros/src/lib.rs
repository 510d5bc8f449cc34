//! The macros of Talisman: `#[chare]`, `#[talisman::main]`, `register!` and `#[derive(ArrayIndex)]`.
//!
//! Every macro goes the same way: `parse` reads what the user wrote and checks it, `ir` holds it, `expand` writes the
//! code. Async entries have a compiler of their own in `flow`; `core/macros/README.md` tells how it works. Mistakes are
//! gathered in `errors::Errors` and shown next to the rest of the expansion, so that one mistake in one method does
//! not make every other use of the chare an error too.
//!
//! The crate is used through `talisman`, which is also what the generated code names: it contains only absolute
//! `::talisman::…` and `::core::…` / `::std::…` paths, and no `unsafe`.

use proc_macro::TokenStream;

mod errors;
mod expand;
mod flow;
mod index;
mod ir;
mod main_fn;
mod parse;
mod register;

/// Makes a type a chare: goes on the one impl block that holds its `#[init]` and `#[entry]` methods.
///
/// Two more methods hear of what the runtime did. `#[restored] fn restored(&mut self, cx: &mut Cx<Self>, why: Restored)` is called when the
/// object has been rebuilt from its packed state. `#[lost] fn lost(&mut self, cx: &mut Cx<Self>, other: Self)`, in groups and nodegroups,
/// is called on the member that stands in for a lost one, with what that was at the last checkpoint; without it, lost members are
/// dropped.
///
/// Two are for objects that hold more than plain values. `#[departs] fn departs(&mut self)` is called before the object is packed to move to
/// another node, and not for a checkpoint: what has to be out of the way of its return (memory at a fixed address, say) it takes away.
/// `#[waits] fn waits(&self) -> Vec<Waiting>` says what the object waits for beside its async entries, for the report of a job that
/// is stuck. Such an object may also have to stay where it is for a while: `Cx::hold`.
///
/// Options: the kind (`single`, `array1d` … `array6d`, `array(IndexType)`, `group`, `nodegroup`), `ordered` (arrays:
/// messages between two elements arrive in the order they were sent), `name = "…"` (the name on the wire, instead of
/// module path and type), `instances(A<f64>, …)` (the instances of a generic chare).
#[proc_macro_attribute]
pub fn chare(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(expand::chare_attribute(options.into(), item.into()))
}

/// Where a program starts: on `async fn main(cx: &mut Cx, options: Options)`, or on the impl block of a main chare.
///
/// What the runtime says beside the program's output are events of `tracing`, which a subscriber of its own makes lines of on standard error
/// (`--log`). With `#[talisman::main(subscriber = function)]` the program has another: `fn function()` is called once in each process of
/// the job, launcher and nodes, before anything is said there, and installs it.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(main_fn::expand(options.into(), item.into()))
}

/// Makes instances of generic chares known to the program: `talisman::register!(Stack<Task>, Stack<u32>);`.
#[proc_macro]
pub fn register(types: TokenStream) -> TokenStream {
    or_error(register::expand(types.into()))
}

/// Makes a struct of integers the index of a chare array: at most 128 bits together, compared in field order.
#[proc_macro_derive(ArrayIndex)]
pub fn derive_array_index(item: TokenStream) -> TokenStream {
    or_error(syn::parse(item).and_then(|item| index::expand(&item)))
}

fn or_error(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}
