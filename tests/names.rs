//! The names that `talisman` promises: those of `src/lib.rs` that are not hidden. All that is in them is listed in
//! `.ci/names.txt`, which CI compares with the documentation.

#![allow(missing_docs)]

use std::collections::BTreeSet;

use syn::{Attribute, Item, UseTree, Visibility};

/// Types, traits, macros and modules.
const PROMISED: &[&str] = &[
    "Array",
    "ArrayIndex",
    "Callback",
    "Chare",
    "Cx",
    "Entry",
    "Group",
    "Map",
    "Priority",
    "Proxy",
    "Pup",
    "RunArgs",
    "Section",
    "Shared",
    "Value",
    "async_entries",
    "balancer",
    "call",
    "chare",
    "create",
    "function",
    "index",
    "lb",
    "main",
    "map",
    "options",
    "prelude",
    "pup",
    "pup_object",
    "reduce",
    "register",
    "register_function",
    "register_map",
    "rng",
    "testing",
];

#[test]
fn nothing_else_is_public() {
    let library = syn::parse_file(include_str!("../src/lib.rs")).expect("it is compiled");
    let names: BTreeSet<String> = library.items.iter().flat_map(public_names).collect();
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), PROMISED);
}

#[test]
fn a_glob_counts_unless_it_is_hidden() {
    let names = |source: &str| {
        let file = syn::parse_file(source).expect("it is Rust");
        file.items.iter().flat_map(public_names).collect::<Vec<_>>()
    };
    assert_eq!(names("pub use inner::*; #[doc(hidden)] pub use other::*; use third::A;"), ["*"]);
    assert_eq!(names("pub use inner::{a, b::{C as D, self}}; mod e {} pub mod f {}"), ["a", "D", "b", "f"]);
}

/// Names that an item exports, where nothing hides it.
fn public_names(item: &Item) -> Vec<String> {
    match item {
        Item::Use(import) if is_public(&import.vis, &import.attrs) => imported(&import.tree, ""),
        Item::Mod(module) if is_public(&module.vis, &module.attrs) => vec![module.ident.to_string()],
        Item::Use(_) | Item::Mod(_) => vec![],
        _ => panic!("src/lib.rs exports, and defines nothing"),
    }
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let is_for_tests = |attribute: &Attribute| attribute.path().is_ident("cfg");
    let is_hidden = |attribute: &Attribute| {
        attribute.path().is_ident("doc")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "hidden")
    };
    matches!(visibility, Visibility::Public(_))
        && !attributes.iter().any(|attribute| is_hidden(attribute) || is_for_tests(attribute))
}

/// The names that an import makes; `within` is the module that `self` stands for.
fn imported(tree: &UseTree, within: &str) -> Vec<String> {
    match tree {
        UseTree::Path(path) => imported(&path.tree, &path.ident.to_string()),
        UseTree::Name(name) if name.ident == "self" => vec![within.to_string()],
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(renamed) => vec![renamed.rename.to_string()],
        UseTree::Glob(_) => vec!["*".to_string()],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| imported(tree, within)).collect(),
    }
}
