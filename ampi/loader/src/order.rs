//! The order in which objects are initialised: each after all that it needs.
//!
//! Programs depend on more than that: this is the order of the GNU C library's dynamic linker since 2.35
//! (`_dl_sort_maps_dfs`), which walks the objects from the last to the first, and the program last.

/// Indices of objects, dependencies first. `needs` says for each object which ones it needs; 0 is the program.
pub fn dependencies_first(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(needs.len());
    let mut seen = vec![false; needs.len()];
    if let Some(program) = seen.first_mut() {
        *program = true;
    }
    for start in (1..needs.len()).rev() {
        visit(start, needs, &mut seen, &mut order);
    }
    order.extend((!needs.is_empty()).then_some(0));
    order
}

/// Depth first, without recursion: chains of libraries may be long.
fn visit(start: usize, needs: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((object, next)) = path.last_mut() {
        match needs[*object].get(*next) {
            Some(needed) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*needed], true) {
                    path.push((*needed, 0));
                }
            }
            None => {
                order.push(*object);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        // The program needs 1 and 2; 1 needs 3; 2 needs 3 and 1.
        let needs = [vec![1, 2], vec![3], vec![3, 1], vec![]];
        assert_eq!(dependencies_first(&needs), [3, 1, 2, 0]);
    }

    #[test]
    fn a_circle_ends() {
        let needs = [vec![1], vec![2], vec![1, 0]];
        assert_eq!(dependencies_first(&needs), [1, 2, 0]);
        assert_eq!(dependencies_first(&[]), [0; 0]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let needs: Vec<Vec<usize>> =
            (0..200_000).map(|i| if i < 199_999 { vec![i + 1] } else { vec![] }).collect();
        let order = dependencies_first(&needs);
        assert_eq!((order[0], order.len()), (199_999, 200_000));
    }
}
