//! The tree of PEs along which members gather and tell: arithmetic, no state. PE 0 is on top.

/// Children of a PE. Eight keep a tree over 100,000 PEs six levels deep, and what a parent has to merge short.
const FANOUT: u64 = 8;

/// The PE above; none above PE 0.
pub fn parent(pe: u32) -> Option<u32> {
    pe.checked_sub(1).map(|before| before / FANOUT as u32)
}

/// The PEs right below.
pub fn children(pe: u32, pes: u32) -> impl Iterator<Item = u32> {
    let first = u64::from(pe) * FANOUT + 1;
    (first..first + FANOUT).take_while(move |child| *child < u64::from(pes)).map(|child| child as u32)
}

/// The PE right below `above` on the way down to `pe`; none if `pe` is not below it.
pub fn toward(above: u32, pe: u32) -> Option<u32> {
    let mut at = pe;
    while let Some(next) = parent(at) {
        if next == above {
            return Some(at);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pe_but_the_first_is_the_child_of_its_parent() {
        for pes in [1, 2, 9, 10, 1000] {
            let mut seen = 1;
            for pe in 0..pes {
                for child in children(pe, pes) {
                    assert_eq!(parent(child), Some(pe));
                    seen += 1;
                }
            }
            assert_eq!(seen, pes);
        }
    }

    #[test]
    fn the_way_down_begins_at_the_child_that_has_the_pe_below() {
        assert_eq!(toward(0, 0), None);
        assert_eq!(toward(0, 8), Some(8));
        assert_eq!(toward(0, 9), Some(1));
        assert_eq!(toward(1, 9), Some(9));
        assert_eq!(toward(2, 9), None);
        assert_eq!(children(u32::MAX, u32::MAX).count(), 0);
    }
}
