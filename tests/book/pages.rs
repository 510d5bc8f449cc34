//! The pages of the book, and the documents beside it.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders whose pages are for users, who build nothing of the runtime.
const FOR_USERS: [&str; 3] = ["tutorial", "howto", "porting"];

/// A Markdown file.
pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

/// A fenced block.
pub struct Block {
    pub language: String,
    pub text: String,
}

/// The repository.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package is two folders below it")
}

/// All pages of the book, by path.
pub fn book() -> Vec<Page> {
    files_below(&root().join("docs/src"), &["md"]).iter().map(|path| Page::read(path)).collect()
}

/// All documents of the repository.
pub fn documents() -> Vec<Page> {
    files_below(root(), &["md"]).iter().map(|path| Page::read(path)).collect()
}

/// Files whose names end so, by path. Without folders of builds and of tools, and without links, whose files are found
/// where they are.
pub fn files_below(folder: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    gather(folder, ends, &mut found);
    found.sort();
    found
}

fn gather(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in
        fs::read_dir(folder).expect("a folder of the repository").map(|entry| entry.expect("readable"))
    {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().expect("a file of the repository");
        if kind.is_dir() && name != "target" && !name.starts_with('.') {
            gather(&path, ends, found);
        } else if kind.is_file() && name.rsplit_once('.').is_some_and(|(_, end)| ends.contains(&end)) {
            found.push(path);
        }
    }
}

/// Lines that are neither in a fenced block nor its fences.
pub fn lines_outside_code(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// An option and its summary, of a row such as "| `--nodes N` | Nodes of the job | 1 |".
pub fn option_row(line: &str) -> Option<String> {
    let mut cells = line.strip_prefix("| `--")?.split(" | ");
    let option = cells.next()?.trim_end_matches('`').split(' ').next()?;
    Some(format!("--{option}: {}", cells.next()?))
}

impl Page {
    pub fn read(path: &Path) -> Page {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Page { path: path.into(), text }
    }

    /// Whether it is for those who write programs.
    pub fn is_for_users(&self) -> bool {
        FOR_USERS.iter().any(|folder| self.path.starts_with(root().join("docs/src").join(folder)))
    }

    /// Its fenced blocks.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut inside: Option<Block> = None;
        for line in self.text.lines() {
            match (line.trim_start().strip_prefix("```"), &mut inside) {
                (Some(language), None) => {
                    inside = Some(Block { language: language.into(), text: String::new() })
                }
                (Some(_), Some(_)) => blocks.extend(inside.take()),
                (None, Some(block)) => block.text += &format!("{line}\n"),
                (None, None) => {}
            }
        }
        blocks
    }

    /// Files and regions of files that it includes; the whole file if no region is named.
    pub fn includes(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let folder = self.path.parent().expect("a page is in a folder");
        self.text.lines().filter_map(|line| line.strip_prefix("{{#include ")).map(|include| {
            let (file, region) = include.trim_end_matches("}}").split_once(':').unwrap_or((include, ""));
            (folder.join(file), region.into())
        })
    }

    /// Those of them that are not there.
    pub fn missing_regions(&self) -> Vec<String> {
        let is_missing = |(file, region): &(PathBuf, String)| {
            !fs::read_to_string(file).is_ok_and(|text| has_region(&text, region))
        };
        let missing = self.includes().filter(is_missing);
        missing.map(|(file, region)| format!("{}: {file:?}, {region}", self.path.display())).collect()
    }
}

/// Whether a file has both ends of a region, in this order.
fn has_region(text: &str, region: &str) -> bool {
    let at = |mark: &str| text.lines().position(|line| line.trim() == format!("// {mark}: {region}"));
    region.is_empty() || at("ANCHOR").zip(at("ANCHOR_END")).is_some_and(|(begin, end)| begin + 1 < end)
}
