//! The macros of `talisman-pup`: parse the input into a small model (`ir`), then expand the model.

mod bounds;
mod errors;
mod expand;
mod ir;
mod object;
mod parse;

use proc_macro::TokenStream;

/// Writes `Pup` and `Named` for a struct or an enum, generic or not.
///
/// On the type, `#[pup(…)]` takes
///
/// | | |
/// |---|---|
/// | `name = "grid"` | the name on the wire, instead of module path and type: data survive a move to another module |
/// | `version = 2` | a version of 2 bytes goes first; older ones stay readable through `since` |
/// | `plain` | the value is its bytes (`repr(C)`, no padding, plain fields: all proven at compile time), so that slices of it are copied in one piece |
/// | `bound = "T: Pup + Ord"` | instead of `T: Pup` for each parameter that a packed field mentions |
/// | `restore = Grid::index` | a `fn(&mut Self)` to run after unpacking, for what was skipped |
///
/// and on a field
///
/// | | |
/// |---|---|
/// | `skip`, `skip = value` | left out; comes back as `Default` or as the value |
/// | `serde` | through the type's serde impl, for types that only have that |
/// | `with = module` | through `module::pack(&T, &mut Packer)` and `module::unpack(&mut Unpacker) -> Result<T, PupError>` |
/// | `since = 2`, `default = value` | not there in versions before; the value then is the default |
#[proc_macro_derive(Pup, attributes(pup))]
pub fn derive_pup(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    let mut errors = errors::Errors::default();
    let model = parse::parse(&input, &mut errors);
    expand::expand(&model, errors).into()
}

/// On a trait: `Box<dyn Trait>` becomes `Pup`. On an `impl Trait for Type`: the type is registered, so that it can come
/// back as a `Box<dyn Trait>` on another machine.
#[proc_macro_attribute]
pub fn pup_object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    object::expand(arguments.into(), item.into()).into()
}
