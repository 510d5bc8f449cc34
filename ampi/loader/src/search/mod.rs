//! Where libraries are: the order of ld.so(8).

mod cache;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cache::Cache;

/// Folders of the system, last.
const DEFAULTS: &[&str] =
    &["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Where libraries are looked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// `LD_LIBRARY_PATH`: after a program's `RPATH`, before its `RUNPATH`.
    pub library_path: Vec<PathBuf>,
    /// `LD_PRELOAD`: libraries whose definitions come before those of all others, by name or by path.
    pub preload: Vec<String>,
    /// The list of libraries that ldconfig(8) has made.
    pub cache: Option<PathBuf>,
    /// Folders that are looked into last.
    pub defaults: Vec<PathBuf>,
    /// Bytes that each rank has for libraries that it loads later (`dlopen`): addresses only, and only if the program
    /// or one of its libraries calls `dlopen`.
    pub room_for_later: usize,
}

/// Libraries that are loaded later are plugins and their helpers.
const ROOM_FOR_LATER: usize = 32 << 20;

impl Search {
    /// As the dynamic linker would with the environment of this process.
    pub fn from_environment() -> Search {
        Search::from_variables(|name| std::env::var_os(name))
    }

    /// As the dynamic linker would in an environment whose variables have these values.
    pub fn from_variables(value: impl Fn(&str) -> Option<OsString>) -> Search {
        let text = |name| value(name).unwrap_or_default().to_string_lossy().into_owned();
        Search {
            library_path: split(&text("LD_LIBRARY_PATH")),
            preload: libraries(&text("LD_PRELOAD")),
            ..Search::default()
        }
    }
}

/// Without `LD_LIBRARY_PATH` and `LD_PRELOAD`.
impl Default for Search {
    fn default() -> Self {
        Search {
            library_path: Vec::new(),
            preload: Vec::new(),
            cache: Some("/etc/ld.so.cache".into()),
            defaults: DEFAULTS.iter().map(PathBuf::from).collect(),
            room_for_later: ROOM_FOR_LATER,
        }
    }
}

/// A list of folders: `:` or `;` between them; an empty one is the working folder.
fn split(list: &str) -> Vec<PathBuf> {
    let folder = |text: &str| if text.is_empty() { ".".into() } else { text.into() };
    if list.is_empty() { Vec::new() } else { list.split([':', ';']).map(folder).collect() }
}

/// A list of libraries: `:` or spaces between them.
fn libraries(list: &str) -> Vec<String> {
    list.split([':', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// What an object says about where its libraries are.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPaths {
    /// Used only if there is no `RUNPATH`, and for the libraries of its libraries, too.
    pub rpath: Vec<PathBuf>,
    /// For its own libraries alone.
    pub runpath: Vec<PathBuf>,
}

impl OwnPaths {
    pub fn new(object: &Path, rpath: Option<&str>, runpath: Option<&str>) -> OwnPaths {
        let folders = |list: Option<&str>| {
            list.map_or(Vec::new(), |list| split(list).iter().map(|folder| expand(folder, object)).collect())
        };
        let rpath = if runpath.is_some() { None } else { rpath };
        OwnPaths { rpath: folders(rpath), runpath: folders(runpath) }
    }
}

/// `$ORIGIN` is the object's folder (ld.so(8), "Dynamic string tokens").
pub(crate) fn expand(path: &Path, object: &Path) -> PathBuf {
    let absolute = std::path::absolute(object).unwrap_or_else(|_| object.to_owned());
    // A link is followed, as the dynamic linker does.
    let absolute = absolute.canonicalize().unwrap_or(absolute);
    let origin = absolute.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let mut text = path.to_string_lossy().into_owned();
    for (token, value) in [("ORIGIN", &origin[..]), ("LIB", "lib/x86_64-linux-gnu"), ("PLATFORM", "x86_64")] {
        text = text.replace(&format!("${{{token}}}"), value).replace(&format!("${token}"), value);
    }
    text.into()
}

/// Paths to try, in order, and the folders to name if none is right.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub paths: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
}

/// A search with the system's list read.
#[derive(Debug)]
pub(crate) struct Finder<'a> {
    search: &'a Search,
    cache: Cache,
}

impl<'a> Finder<'a> {
    pub fn new(search: &'a Search) -> Finder<'a> {
        Finder { search, cache: search.cache.as_deref().map_or_else(Cache::default, Cache::read) }
    }

    /// `objects`: who asks for the library, then who asked for that, up to the program.
    pub fn candidates(&self, name: &str, objects: &[&OwnPaths]) -> Candidates {
        let runpath = objects.first().map_or(&[][..], |asking| &asking.runpath);
        // `RUNPATH` of who asks turns the `RPATH` of those above off.
        let rpath = if runpath.is_empty() { objects } else { &[] };
        let first = rpath.iter().flat_map(|object| &object.rpath).chain(&self.search.library_path);
        let first: Vec<&PathBuf> = first.chain(runpath).collect();
        let mut paths: Vec<PathBuf> = first.iter().map(|folder| folder.join(name)).collect();
        paths.extend(self.cache.find(name));
        paths.extend(self.search.defaults.iter().map(|folder| folder.join(name)));
        let mut seen = HashSet::new();
        let folders = first.into_iter().chain(&self.search.defaults);
        let folders = folders.filter(|folder| seen.insert((*folder).clone())).cloned().collect();
        Candidates { paths, folders }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(of: &[&str]) -> Vec<PathBuf> {
        of.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn tokens_are_replaced() {
        let object = Path::new("/no/such/bin/program");
        assert_eq!(expand(Path::new("$ORIGIN/../lib"), object), Path::new("/no/such/bin/../lib"));
        assert_eq!(
            expand(Path::new("${ORIGIN}/$LIB"), object),
            Path::new("/no/such/bin/lib/x86_64-linux-gnu")
        );
    }

    #[test]
    fn variables_say_where_libraries_are_and_which_come_first() {
        let search = Search::from_variables(|name| match name {
            "LD_LIBRARY_PATH" => Some("/a;/b:".into()),
            "LD_PRELOAD" => Some(" libone.so:/two.so  libthree.so ".into()),
            _ => None,
        });
        assert_eq!(search.library_path, paths(&["/a", "/b", "."]));
        assert_eq!(search.preload, ["libone.so", "/two.so", "libthree.so"]);
        let search = Search::from_variables(|_| None);
        assert!(search.library_path.is_empty() && search.preload.is_empty());
    }

    #[test]
    fn folders_are_tried_in_the_order_of_the_dynamic_linker() {
        let search = Search {
            library_path: paths(&["/env"]),
            cache: None,
            defaults: paths(&["/last"]),
            ..Search::default()
        };
        let finder = Finder::new(&search);
        let object = Path::new("/bin/program");
        let old = OwnPaths::new(object, Some("/r1:/r2"), None);
        let new = OwnPaths::new(object, Some("/unused"), Some("/run"));
        let program = OwnPaths::new(object, Some("/top"), None);
        let tried = |objects: &[&OwnPaths]| finder.candidates("l.so", objects).paths;
        assert_eq!(
            tried(&[&old, &program]),
            paths(&["/r1/l.so", "/r2/l.so", "/top/l.so", "/env/l.so", "/last/l.so"])
        );
        assert_eq!(tried(&[&new, &program]), paths(&["/env/l.so", "/run/l.so", "/last/l.so"]));
    }
}
