//! Names that an entry or an init cannot have, because a proxy or a builder uses them: a method of the handle itself
//! hides the one of that name that it offers for the chare.

use crate::errors::Errors;
use crate::ir::{Method, Role};

/// Methods of `Proxy`, `Array`, `Section` and `Group`.
const ON_PROXIES: &[&str] = &[
    "at",
    "callback",
    "destroy",
    "done_inserting",
    "expedited",
    "here",
    "index",
    "insert",
    "on",
    "section",
    "with_priority",
];
/// Methods of the builders that offer the inits.
const ON_BUILDERS: &[&str] = &["each", "map", "on", "with_priority"];
/// Functions every chare has: `Block::array(…)`.
const ON_CHARES: &[&str] = &["array", "chare", "group", "main_chare", "sparse"];
/// What proxies and builders have from traits that are, or may well be, in scope.
const FROM_TRAITS: &[&str] = &[
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "deref",
    "eq",
    "fmt",
    "into",
    "ne",
    "pack",
    "to_owned",
    "try_into",
    "type_id",
];

/// Complains about a name that is taken.
pub fn check_reserved(method: &Method, errors: &mut Errors) {
    let name = method.name.to_string();
    let taken = |names: &[&str]| names.contains(&name.as_str());
    let is_init = method.role == Role::Init;
    if method.exported() && (taken(ON_PROXIES) || taken(FROM_TRAITS)) {
        errors.at(&method.name, format!("every proxy has a method `{name}` already: choose another name"));
    }
    if is_init && (taken(ON_BUILDERS) || taken(FROM_TRAITS)) {
        errors.at(
            &method.name,
            format!("what creates a chare has a method `{name}` already: choose another name"),
        );
    }
    if (method.exported() || is_init) && taken(ON_CHARES) {
        errors.at(&method.name, format!("every chare has a function `{name}` already: choose another name"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{Item, TraitItem};

    fn runtime_source(file: &str) -> String {
        let path = format!("{}/../src/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The public functions in a source file, those that its macros write among them.
    fn public_functions(file: &str) -> Vec<String> {
        let source = runtime_source(file);
        let declared = source.lines().filter_map(|line| line.trim().strip_prefix("pub fn "));
        let names = declared.map(|rest| rest.split(['(', '<']).next().unwrap_or(rest).to_string());
        sorted(names.collect())
    }

    fn sorted(mut names: Vec<String>) -> Vec<String> {
        names.sort();
        names.dedup();
        names
    }

    /// The documented functions of the trait `Chare` that have no `self`.
    fn functions_of_chares() -> Vec<String> {
        let file = syn::parse_file(&runtime_source("chare.rs")).expect("it compiles");
        let chare = file.items.into_iter().find_map(|item| match item {
            Item::Trait(item) if item.ident == "Chare" => Some(item.items),
            _ => None,
        });
        let offered = chare.expect("the trait").into_iter().filter_map(|item| match item {
            TraitItem::Fn(f) if f.default.is_some() && f.sig.receiver().is_none() => Some(f),
            _ => None,
        });
        let hidden =
            |f: &syn::TraitItemFn| f.attrs.iter().any(|a| quote::quote!(#a).to_string().contains("hidden"));
        sorted(offered.filter(|f| !hidden(f)).map(|f| f.sig.ident.to_string()).collect())
    }

    #[test]
    fn the_names_are_those_of_the_runtime() {
        assert_eq!(public_functions("proxy.rs"), ON_PROXIES);
        assert_eq!(public_functions("create.rs"), ON_BUILDERS);
        assert_eq!(functions_of_chares(), ON_CHARES);
    }
}
