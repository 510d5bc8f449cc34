//! What pages show of the programs that they include.

use std::collections::BTreeSet;
use std::fs;

use crate::pages::Page;

/// All lines of the regions that these pages include, without the spaces around them.
pub fn lines(pages: &[Page]) -> BTreeSet<String> {
    let regions = pages.iter().flat_map(Page::includes);
    regions.flat_map(|(file, region)| lines_of(&fs::read_to_string(file).unwrap(), &region)).collect()
}

/// Lines of code, without the spaces around them; comments are none.
pub fn code(program: &str) -> impl Iterator<Item = &str> {
    program.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

fn lines_of(program: &str, region: &str) -> Vec<String> {
    let (begin, end) = (format!("// ANCHOR: {region}"), format!("// ANCHOR_END: {region}"));
    let lines = program.lines().map(str::trim);
    let from_there = lines.skip_while(|line| *line != begin).skip(1);
    from_there.take_while(|line| *line != end).map(String::from).collect()
}
