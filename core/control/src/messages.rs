//! Who is lost, and what, in words for people. Pure.

use talisman_ft::Version;
use talisman_ft::double::{Contents, LostPart, in_words};

/// `node 2`, `nodes 1 and 3`, `the launcher and of node 2`: the launcher has no number.
pub fn lost_in_words(lost: &[Option<u32>]) -> String {
    let nodes: Vec<u32> = lost.iter().flatten().copied().collect();
    match () {
        () if nodes.len() == lost.len() => nodes_in_words(&nodes),
        () if nodes.is_empty() => "the launcher".into(),
        () => format!("the launcher and of {}", nodes_in_words(&nodes)),
    }
}

/// How many objects of which collections, and who had held them.
pub fn what_is_lost(version: Version, lost: &[LostPart]) -> String {
    let sizes: Option<Vec<&Contents>> = lost.iter().map(|part| part.contents.as_ref()).collect();
    let contents = sizes.map(sum);
    let parts: Vec<String> = lost.iter().map(part_in_words).collect();
    let parts = in_a_row(&parts);
    match contents {
        Some(contents) => {
            format!("of checkpoint {version}, all copies are lost of {contents}; that is what {parts} had")
        }
        None => format!("of checkpoint {version}, all copies are lost of what {parts} had"),
    }
}

/// All of them together.
pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Contents>) -> Contents {
    let mut all = Contents::default();
    parts.into_iter().for_each(|contents| all.add(contents));
    all
}

/// `node 1 (12 objects, held by nodes 1 and 2)`.
fn part_in_words(part: &LostPart) -> String {
    let held_by = nodes_in_words(&part.held_by);
    match &part.contents {
        Some(contents) => {
            format!("node {} ({}, held by {held_by})", part.of, in_words(contents.objects()))
        }
        None => format!("node {} (held by {held_by})", part.of),
    }
}

/// `node 2`, `nodes 1 and 3`, `nodes 0, 1 and 3`.
pub fn nodes_in_words(nodes: &[u32]) -> String {
    let texts: Vec<String> = nodes.iter().map(u32::to_string).collect();
    match texts.len() {
        0 => "no node".into(),
        1 => format!("node {}", texts[0]),
        _ => format!("nodes {}", in_a_row(&texts)),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn in_a_row(texts: &[String]) -> String {
    match texts.split_last() {
        Some((last, before @ [_, ..])) => format!("{} and {last}", before.join(", ")),
        _ => texts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_told_in_words() {
        assert_eq!(nodes_in_words(&[4]), "node 4");
        assert_eq!(nodes_in_words(&[1, 2]), "nodes 1 and 2");
        assert_eq!(nodes_in_words(&[1, 2, 7]), "nodes 1, 2 and 7");
    }
}
