//! Links between documents, and the headings that they lead to.

use std::path::{Path, PathBuf};

use super::pages::{Page, lines_outside_code, root};

/// A link to a file of the repository.
#[derive(Debug)]
pub struct Link {
    pub file: PathBuf,
    pub heading: Option<String>,
}

/// The links of a page that do not lead out of the repository.
pub fn of(page: &Page) -> Vec<Link> {
    lines_outside_code(&page.text).flat_map(targets).map(|target| resolve(&page.path, &target)).collect()
}

/// Those that lead nowhere, in words.
pub fn broken(page: &Page) -> Vec<String> {
    let is_broken = |link: &Link| match &link.heading {
        Some(heading) => !headings(&link.file).contains(heading),
        None => !link.file.exists(),
    };
    let in_words =
        |link: Link| format!("{}: {} {:?}", page.path.display(), link.file.display(), link.heading);
    of(page).into_iter().filter(is_broken).map(in_words).collect()
}

/// Pages and pictures that a source names by a path from the root of the repository, and that are not there.
pub fn missing_pages(source: &Path) -> Vec<String> {
    let text =
        std::fs::read_to_string(source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let is_outside = |c: char| !(c.is_alphanumeric() || "/._-".contains(c));
    let named = text.split(is_outside).map(|word| word.trim_start_matches("../").trim_end_matches('.'));
    let pages =
        named.filter(|word| word.starts_with("docs/") && (word.ends_with(".md") || word.ends_with(".svg")));
    let missing = pages.filter(|page| !root().join(page).exists());
    missing.map(|page| format!("{}: {page}", source.display())).collect()
}

/// What stands in the parentheses of "[…](…)", not in code.
fn targets(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_string()).filter(|target| !target.contains("://")).collect()
}

fn resolve(page: &Path, target: &str) -> Link {
    let (file, heading) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at.into())));
    let folder = page.parent().expect("a page is in a folder");
    let file = if file.is_empty() { page.into() } else { normal(&folder.join(file)) };
    Link { file, heading }
}

/// Without `..`, so that paths can be compared.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part.as_os_str().to_str() {
            Some("..") => _ = normal.pop(),
            _ => normal.push(part),
        }
    }
    normal
}

/// The headings of a file as links name them. None if there is no such file.
fn headings(file: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(file) else { return vec![] };
    let headings = lines_outside_code(&text).filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#').trim())).collect()
}

/// Lower case, spaces as dashes, without punctuation.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
