//! Names that an entry or an init cannot have, because a proxy, a builder or the macros use them.

use crate::errors::Errors;
use crate::ir::{Method, Role};

/// Methods of `Proxy`, `Array`, `Section` and `Group`, which hide an entry of that name.
const ON_PROXIES: &[&str] = &[
    "at",
    "section",
    "insert",
    "done_inserting",
    "callback",
    "on",
    "here",
    "clone",
    "clone_from",
    "to_owned",
    "deref",
    "borrow",
    "borrow_mut",
    "into",
    "try_into",
    "type_id",
    "pack",
    "unpack",
    "eq",
    "ne",
    "fmt",
    "wrap",
];
/// Methods of the builders that offer the inits.
const ON_BUILDERS: &[&str] =
    &["map", "each", "on", "deref", "borrow", "borrow_mut", "into", "try_into", "wrap"];
/// Functions every chare has: `Block::array(…)`.
const ON_CHARES: &[&str] = &["array", "sparse", "group", "chare", "main_chare"];

/// Complains about a name that is taken.
pub fn check_reserved(method: &Method, errors: &mut Errors) {
    let name = method.name.to_string();
    let name = name.as_str();
    if method.exported() && ON_PROXIES.contains(&name) {
        errors.at(&method.name, format!("every proxy has a method `{name}` already: choose another name"));
    }
    if method.role == Role::Init && ON_BUILDERS.contains(&name) {
        errors.at(
            &method.name,
            format!("what creates a chare has a method `{name}` already: choose another name"),
        );
    }
    if (method.exported() || method.role == Role::Init) && ON_CHARES.contains(&name) {
        errors.at(&method.name, format!("every chare has a function `{name}` already: choose another name"));
    }
}
