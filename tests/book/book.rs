//! The book is true: its links lead somewhere, its programs are examples of this build, and their commands print what
//! the pages show.
//!
//! The programs are in `target/PROFILE/examples`, which `cargo test` makes before it runs this. `mdbook` need not be
//! installed, nor is a network needed.

#![allow(missing_docs)]

mod html;
mod included;
mod links;
mod pages;
mod stuck;
mod tested;
mod transcripts;

use std::collections::BTreeSet;

use pages::{Page, book, lines_outside_code, root};

/// Lines of the longest page for users: two screens.
const PAGE_LINES_MAX: usize = 110;

/// Columns of a line; tables and what is in code blocks cannot be broken.
const COLUMNS_MAX: usize = 120;

#[test]
fn the_summary_has_every_page_once() {
    let summary = Page::read(&root().join("docs/src/SUMMARY.md"));
    let mut listed: Vec<_> = links::of(&summary).into_iter().map(|link| link.file).collect();
    listed.sort();
    let mut pages: Vec<_> = book().into_iter().map(|page| page.path).collect();
    pages.retain(|path| *path != summary.path);
    assert_eq!(listed, pages);
}

#[test]
fn links_lead_somewhere() {
    let broken: Vec<_> = pages::documents().iter().flat_map(links::broken).collect();
    assert!(broken.is_empty(), "these links lead nowhere: {broken:#?}");
}

/// What readers get: each page in HTML, with the programs that it includes, and without a link to a missing file.
#[test]
fn the_book_is_built() {
    let built = html::Built::new(&root().join("docs"));
    let pages = book().iter().filter(|page| !page.path.ends_with("SUMMARY.md")).count();
    assert!(built.pages().len() >= pages, "{} of {pages} pages were made", built.pages().len());
    assert_eq!(built.unresolved(), Vec::<String>::new(), "these are not included");
    assert_eq!(built.broken_links(), Vec::<String>::new(), "these links lead nowhere");
}

/// Comments and tests name pages, which may be moved.
#[test]
fn paths_of_the_book_in_sources_exist() {
    let sources = pages::files_below(root(), &["rs", "md", "toml", "py"]);
    assert!(sources.len() > 500, "only {} files were found", sources.len());
    let missing: Vec<_> = sources.iter().flat_map(|source| links::missing_pages(source)).collect();
    assert!(missing.is_empty(), "these are named and not there: {missing:#?}");
}

#[test]
fn a_link_to_a_missing_file_or_heading_is_seen() {
    let page = Page {
        path: root().join("docs/src/introduction.md"),
        text: "[a](nowhere.md) [b](introduction.md#nothing) [c](introduction.md#talisman) `[d](code.md)`"
            .into(),
    };
    assert_eq!(links::broken(&page).len(), 2, "{:?}", links::broken(&page));
}

#[test]
fn included_regions_exist() {
    let missing: Vec<_> = book().iter().flat_map(Page::missing_regions).collect();
    assert!(missing.is_empty(), "these are included and not there: {missing:#?}");
}

/// What is compiled is included from a file that Cargo compiles, so that it cannot differ from it.
#[test]
fn programs_for_users_are_included() {
    for page in book().iter().filter(|page| page.is_for_users()) {
        for block in page.blocks().iter().filter(|block| block.language == "rust") {
            assert!(block.text.starts_with("{{#include "), "{}: {}", page.path.display(), block.text);
        }
    }
}

/// Who types in what the tutorial shows, page by page, has its last program.
#[test]
fn the_tutorial_shows_all_of_its_program() {
    let mut pages = book();
    pages.retain(|page| page.path.starts_with(root().join("docs/src/tutorial")));
    let shown = included::lines(&pages);
    let program = std::fs::read_to_string(root().join("examples/book/heat.rs")).unwrap();
    assert!(included::code(&program).count() > 90);
    let missing: Vec<_> = included::code(&program).filter(|line| !shown.contains(*line)).collect();
    assert!(missing.is_empty(), "these lines are on no page: {missing:#?}");
}

#[test]
fn commands_print_what_the_pages_show() {
    let transcripts: Vec<_> = book().iter().flat_map(transcripts::of).collect();
    assert!(transcripts.len() > 15, "only {} blocks were found", transcripts.len());
    let failed: Vec<_> = transcripts.iter().filter_map(|transcript| transcript.run().err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn what_is_not_printed_is_seen() {
    let of = |shown: &str| {
        let page = Page { path: "page.md".into(), text: format!("```console\n$ greet\n{shown}\n```\n") };
        transcripts::of(&page)[0].run()
    };
    assert_eq!(of("hello from block 0\n…"), Ok(()));
    assert!(of("hello from block 0").is_err(), "three lines more are printed");
    assert!(of("hello from block 7\n…").is_err(), "that line is not printed");
}

/// The page of options has each of them, with its summary.
#[test]
fn the_page_of_options_is_that_of_the_programs() {
    let page = Page::read(&root().join("docs/src/reference/options.md"));
    let rows: BTreeSet<String> = page.text.lines().filter_map(pages::option_row).collect();
    let options = talisman::RunArgs::command_of_options();
    let said = options.get_arguments().filter(|option| !option.is_hide_set()).filter_map(|option| {
        let summary = option.get_help()?.to_string();
        let summary = summary.split(" [default").next()?.to_string();
        Some(format!("--{}: {summary}", option.get_long()?))
    });
    assert_eq!(rows, said.collect());
}

#[test]
fn pages_for_users_have_two_screens() {
    for page in book().iter().filter(|page| page.is_for_users()) {
        let lines = page.text.lines().count();
        assert!(lines <= PAGE_LINES_MAX, "{} has {lines} lines", page.path.display());
    }
}

#[test]
fn the_readme_has_two_screens() {
    let readme = Page::read(&root().join("README.md"));
    let words = readme.text.split_whitespace().count();
    assert!(words <= 700, "the README has {words} words");
}

#[test]
fn lines_are_short() {
    let is_long = |line: &&str| line.chars().count() > COLUMNS_MAX && !line.starts_with('|');
    for page in pages::documents() {
        let long: Vec<_> = lines_outside_code(&page.text).filter(is_long).collect();
        assert!(long.is_empty(), "{}: {long:#?}", page.path.display());
    }
}
