//! Which file imports which, read from `use` items and paths that begin with `crate`, `super` or the name of a crate of the project.
//!
//! Names that come by a re-export count for the file that defines the module they are named by, so a facade hides nothing that has
//! a path of its own. Paths relative to a module (`cell::Cell`) stay inside a folder and are not looked at, nor is code of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A crate of the project: the name that imports say, and the folder of its sources.
pub type Crate = (&'static str, &'static str);

/// One file of the project imports something of another one. Both are paths from the root of the project.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: String,
    pub to: String,
}

pub fn imports_of(root: &Path, crates: &[Crate]) -> BTreeSet<Import> {
    let modules = modules_of(root, crates);
    let mut found = BTreeSet::new();
    for (module, from) in &modules {
        let source = std::fs::read_to_string(root.join(from)).expect("a source that was listed can be read");
        for path in paths_in(from, &source) {
            let Some(path) = absolute(&path, module, crates) else { continue };
            let Some(to) = defined_in(&path, &modules) else { continue };
            if to != from {
                found.insert(Import { from: from.clone(), to: to.clone() });
            }
        }
    }
    found
}

/// All files of the crates' sources but tests, as paths from the root.
pub fn sources_of(root: &Path, crates: &[Crate]) -> Vec<String> {
    modules_of(root, crates).into_values().collect()
}

/// Module path (`talisman_kernel::net::link`) to file.
fn modules_of(root: &Path, crates: &[Crate]) -> BTreeMap<Vec<String>, String> {
    let mut modules = BTreeMap::new();
    for (name, folder) in crates {
        collect(root, folder, &[(*name).to_owned()], &mut modules);
    }
    modules
}

fn collect(root: &Path, folder: &str, module: &[String], modules: &mut BTreeMap<Vec<String>, String>) {
    let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
    for entry in entries {
        let entry = entry.expect("a folder of sources can be listed");
        let name = entry.file_name().into_string().expect("names of sources are text");
        let path = format!("{folder}/{name}");
        let child = |name: &str| [module, &[name.to_owned()]].concat();
        if entry.path().is_dir() {
            if name != "tests" {
                collect(root, &path, &child(&name), modules);
            }
        } else if let Some(stem) = name.strip_suffix(".rs").filter(|stem| *stem != "tests") {
            let own = matches!(stem, "lib" | "mod" | "main");
            modules.insert(if own { module.to_vec() } else { child(stem) }, path);
        }
    }
}

/// `crate` and `super` resolved. `None` for paths out of the project.
fn absolute(path: &[String], module: &[String], crates: &[Crate]) -> Option<Vec<String>> {
    let first = path.first()?;
    if first == "crate" {
        return Some([&module[..1], &path[1..]].concat());
    }
    if first == "super" {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let kept = module.len().checked_sub(ups).filter(|kept| *kept > 0)?;
        return Some([&module[..kept], &path[ups..]].concat());
    }
    crates.iter().any(|(name, _)| name == first).then(|| path.to_vec())
}

/// The file of the innermost module that the path goes through.
fn defined_in<'a>(path: &[String], modules: &'a BTreeMap<Vec<String>, String>) -> Option<&'a String> {
    (1..=path.len()).rev().find_map(|length| modules.get(&path[..length]))
}

/// All paths that a source names, but those in code for tests only.
pub fn paths_in(file: &str, source: &str) -> Vec<Vec<String>> {
    let parsed = syn::parse_file(source).unwrap_or_else(|e| panic!("{file}: {e}"));
    let mut paths = Paths::default();
    paths.visit_file(&parsed);
    paths.found
}

#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.visit_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

impl Paths {
    fn add(&mut self, path: Vec<String>) {
        // A single name is of the module itself or of its prelude.
        if path.len() > 1 {
            self.found.push(path);
        }
    }

    fn visit_tree(&mut self, tree: &syn::UseTree, prefix: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.visit_tree(&path.tree, prefix);
                prefix.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.visit_tree(item, prefix)),
            syn::UseTree::Name(name) if name.ident == "self" => self.add(prefix.clone()),
            syn::UseTree::Name(name) => self.add([&prefix[..], &[name.ident.to_string()]].concat()),
            syn::UseTree::Rename(rename) => self.add([&prefix[..], &[rename.ident.to_string()]].concat()),
            syn::UseTree::Glob(_) => self.add(prefix.clone()),
        }
    }

    /// Paths in the arguments of a macro: names with `::` between them.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.add(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 => colons += 1,
                TokenTree::Group(group) => {
                    self.add(std::mem::take(&mut path));
                    colons = 0;
                    self.visit_tokens(group.stream());
                }
                _ => {
                    self.add(std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.add(path);
    }
}

fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
