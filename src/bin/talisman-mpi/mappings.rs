//! How many ranks a process can have: each is many mappings, and the system counts those of a process.

use std::fs;

/// Where the system says how many a process may have.
const MOST: &str = "/proc/sys/vm/max_map_count";

/// What a process has beside its ranks.
const OWN: usize = 200;

/// Whether so many ranks of so many mappings fit into each of the nodes.
///
/// # Errors
/// If they do not, with the numbers.
pub fn check(each: usize, ranks: u32, nodes: u32) -> Result<(), String> {
    let most = fs::read_to_string(MOST).ok().and_then(|text| text.trim().parse().ok());
    most.map_or(Ok(()), |most| fits(most, each, ranks as usize, nodes as usize))
}

fn fits(most: usize, each: usize, ranks: usize, nodes: usize) -> Result<(), String> {
    let here = ranks.div_ceil(nodes.max(1));
    let wanted = here.saturating_mul(each).saturating_add(OWN);
    if wanted <= most {
        return Ok(());
    }
    let room = (most.saturating_sub(OWN) / each.max(1)).max(1);
    Err(format!(
        "{here} ranks in a process need {wanted} mappings, {each} each, and it may have {most}: take --nodes {}, or raise \
         it (sysctl vm.max_map_count={wanted})",
        ranks.div_ceil(room)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_do_not_fit_are_counted() {
        assert_eq!(fits(65_530, 100, 653, 1), Ok(()));
        assert_eq!(fits(65_530, 100, 1306, 2), Ok(()));
        let why = fits(65_530, 100, 654, 1).unwrap_err();
        assert!(
            why.contains("654 ranks") && why.contains("65600 mappings") && why.contains("--nodes 2"),
            "{why}"
        );
        assert!(fits(65_530, 100, 1306, 1).unwrap_err().contains("--nodes 2"));
        assert!(fits(65_530, 100_000, 3, 1).unwrap_err().contains("--nodes 3"));
        assert_eq!(check(1, 1, 1), Ok(()));
    }
}
