//! What the compiler is called with: what is given, and where the header and the library are.

use std::ffi::{OsStr, OsString};

use crate::kit::Kit;

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub enum Wish {
    /// Call the compiler.
    Run(Vec<OsString>),
    /// Print what would be called.
    Show(Vec<OsString>),
    /// Print the options for compiling alone, or for linking: what build systems ask for.
    ShowCompiling,
    ShowLinking,
}

/// As MPICH's and Open MPI's compilers understand it.
pub fn read(mut given: Vec<OsString>) -> Wish {
    let is = |word: &OsStr, names: &[&str]| names.iter().any(|name| word == *name);
    let asked = |given: &[OsString], names: &[&str]| given.iter().position(|word| is(word, names));
    if asked(&given, &["-showme:compile", "--showme:compile", "-compile-info", "-compile_info"]).is_some() {
        return Wish::ShowCompiling;
    }
    if asked(&given, &["-showme:link", "--showme:link", "-link-info", "-link_info"]).is_some() {
        return Wish::ShowLinking;
    }
    match asked(&given, &["-show", "-showme", "--showme"]) {
        None => Wish::Run(given),
        Some(at) => {
            given.remove(at);
            Wish::Show(given)
        }
    }
}

/// Options with which the compiler does not link.
const WITHOUT_LINKING: [&str; 6] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];

/// All words for the compiler.
pub fn all(kit: &Kit, given: Vec<OsString>) -> Vec<OsString> {
    let has_files = given.iter().any(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let links = has_files && !given.iter().any(|word| WITHOUT_LINKING.iter().any(|option| word == *option));
    let linking = if links { linking(kit) } else { Vec::new() };
    [compiling(kit), given, linking].concat()
}

/// Options for compiling.
pub fn compiling(kit: &Kit) -> Vec<OsString> {
    let mut words = vec![prefixed("-I", kit.include().as_os_str())];
    // A function of MPI takes buffers of any type.
    words.extend(kit.takes_any_type().then(|| "-fallow-argument-mismatch".into()));
    words
}

/// Options for linking. A library of this name that the loader is told of (`LD_LIBRARY_PATH`) comes first.
pub fn linking(kit: &Kit) -> Vec<OsString> {
    let library = kit.library();
    let library = library.as_os_str();
    let name = prefixed("-l", OsStr::new(kit.name()));
    vec![prefixed("-L", library), name, "-Wl,--enable-new-dtags".into(), prefixed("-Wl,-rpath,", library)]
}

fn prefixed(prefix: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(prefix);
    word.push(value);
    word
}

/// In one line.
pub fn joined(words: impl IntoIterator<Item = OsString>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn what_is_asked_for_is_shown() {
        assert_eq!(read(words("-O2 x.c -o x")), Wish::Run(words("-O2 x.c -o x")));
        assert_eq!(read(words("-O2 -show x.c")), Wish::Show(words("-O2 x.c")));
        assert_eq!(read(words("--showme:compile")), Wish::ShowCompiling);
        assert_eq!(read(words("-showme:link x.c")), Wish::ShowLinking);
    }

    #[test]
    fn the_library_is_given_where_something_is_linked() {
        let kit = Kit::for_tests();
        for (given, links) in [
            ("x.c -o x", true),
            ("-O2 x.o y.o", true),
            ("-c x.c", false),
            ("-E x.c", false),
            ("-fsyntax-only x.c", false),
            ("-v", false),
            ("--version", false),
        ] {
            let called = joined(all(&kit, words(given)));
            assert!(called.starts_with("-I/kit/include"), "{called}");
            assert_eq!(called.contains("-lmpi_abi"), links, "{called}");
        }
    }
}
