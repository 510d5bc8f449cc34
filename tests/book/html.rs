//! The book as readers see it in a browser.

use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;

use super::pages::files_below;

/// The HTML of a book, in a folder that goes with this value.
pub struct Built {
    folder: PathBuf,
}

impl Built {
    /// Builds the book in this folder.
    pub fn new(source: &Path) -> Built {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{}", std::process::id()));
        let mut book = MDBook::load(source).expect("the book is read");
        book.config.build.build_dir.clone_from(&folder);
        book.build().expect("the book is built");
        Built { folder }
    }

    pub fn pages(&self) -> Vec<PathBuf> {
        files_below(&self.folder, &["html"])
    }

    /// Includes that `mdbook` has left as they were written: it only warns of a missing file.
    pub fn unresolved(&self) -> Vec<String> {
        let has_include = |page: &PathBuf| read(page).contains("{{#");
        self.pages().into_iter().filter(has_include).map(|page| page.display().to_string()).collect()
    }

    /// Files that pages lead to, and that are neither of the book nor in the network.
    pub fn broken_links(&self) -> Vec<String> {
        self.pages().iter().flat_map(|page| self.broken_links_of(page)).collect()
    }

    fn broken_links_of(&self, page: &Path) -> Vec<String> {
        // It is shown wherever a page is missing, and leads out from the root.
        if page.ends_with("404.html") {
            return vec![];
        }
        let is_broken = |target: &String| !page.parent().expect("it is in a folder").join(target).exists();
        let broken = targets(&read(page)).into_iter().filter(is_broken);
        broken
            .map(|target| format!("{}: {target}", page.strip_prefix(&self.folder).unwrap_or(page).display()))
            .collect()
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where links and pictures of a page lead to, but for headings and addresses in the network.
fn targets(html: &str) -> Vec<String> {
    let of =
        |attribute: &'static str| html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    let files = of("href=\"").chain(of("src=\"")).map(|target| target.split('#').next().unwrap_or_default());
    let is_here =
        |target: &&str| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
    files.filter(is_here).map(String::from).collect()
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
