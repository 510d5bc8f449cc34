//! Slips of the finger: how far a word is from another that may be meant.

/// So many letters have to be changed, added or taken away to make one word the other (Levenshtein 1966).
pub fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for (column, its) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != its);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_in_letters() {
        for (one, other, steps) in [("", "", 0), ("PES", "PE", 1), ("NODES", "NDOES", 2), ("FT", "SEED", 4)] {
            assert_eq!(distance(one, other), steps, "{one} {other}");
        }
    }
}
