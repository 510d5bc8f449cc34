use super::topology::*;

#[test]
fn places_of_a_grid() {
    let grid = Cartesian::new(&[(3, false), (4, true)]).unwrap();
    assert_eq!(grid.size(), 12);
    for member in 0..12 {
        let at = grid.coordinates(member);
        assert_eq!(at, [member / 4, member % 4]);
        assert_eq!(grid.member(&[i64::from(at[0]), i64::from(at[1])]), Some(member));
    }
    assert_eq!(grid.member(&[1, -1]), Some(7));
    assert_eq!((grid.member(&[3, 0]), grid.member(&[-1, 0])), (None, None));
    assert_eq!(grid.shift(0, 0, 1), (None, Some(4)));
    assert_eq!(grid.shift(0, 1, 1), (Some(3), Some(1)));
    assert_eq!(grid.shift(5, 1, -2), (Some(7), Some(7)));
    assert_eq!(Cartesian::new(&[(1 << 16, false), (1 << 16, false)]), None);
}

#[test]
fn parts_of_a_grid() {
    let grid = Cartesian::new(&[(2, false), (3, true), (4, false)]).unwrap();
    let (part, color, number) = grid.part(17, &[true, false, true]);
    // Member 17 is at (1, 1, 1).
    assert_eq!((part.dimensions(), color, number), (&[(2, false), (4, false)][..], 1, 5));
    assert_eq!(grid.part(17, &[false, false, false]), (Cartesian::new(&[]).unwrap(), 17, 0));
}

/// What is sent along an edge arrives where the grid says, also if both neighbours are the same member: the k-th
/// block that is sent to a member is its k-th from the sender.
#[test]
fn blocks_arrive_from_where_the_grid_says() {
    for length in 1..5 {
        let grid = Cartesian::new(&[(length, true), (2, false)]).unwrap();
        let (topology, size) = (Topology::Cartesian(grid.clone()), grid.size());
        for to in 0..size {
            let mine = topology.neighbors(to);
            for (block, source) in mine.sources.iter().enumerate() {
                let Some(from) = *source else { continue };
                let earlier = mine.sources[..block].iter().filter(|other| **other == Some(from)).count();
                let theirs = topology.neighbors(from);
                let sent = theirs
                    .sending
                    .iter()
                    .filter(|block| theirs.destinations[**block] == Some(to))
                    .nth(earlier);
                // What comes from the one before was sent to the one after.
                assert_eq!(sent, Some(&(block ^ 1)), "block {block} of {to} from {from}, length {length}");
            }
        }
    }
}

#[test]
fn lengths_are_as_equal_as_can_be() {
    for (members, given, expected) in [
        (6, vec![0, 0], vec![3, 2]),
        (7, vec![0, 0], vec![7, 1]),
        (6, vec![0, 3, 0], vec![2, 3, 1]),
        (64, vec![0, 0, 0], vec![4, 4, 4]),
        (16, vec![0, 0, 0], vec![4, 2, 2]),
        (1, vec![0], vec![1]),
        (24, vec![0, 0], vec![6, 4]),
        (12, vec![3, 4], vec![3, 4]),
        // As MPICH chooses: the largest and the smallest are as close as can be.
        (5_040, vec![0, 0, 0], vec![21, 16, 15]),
        (10_800, vec![0, 0, 0], vec![27, 20, 20]),
        (19_008, vec![0, 0, 0], vec![33, 24, 24]),
        (98_784, vec![0; 5], vec![14, 14, 9, 8, 7]),
        (1_024, vec![0; 6], vec![4, 4, 4, 4, 2, 2]),
        (30_030, vec![0; 8], vec![13, 11, 7, 5, 3, 2, 1, 1]),
        (4_294_967_291, vec![0, 0], vec![4_294_967_291, 1]),
        (4_294_967_295, vec![0; 4], vec![65_537, 257, 17, 15]),
    ] {
        let mut dims = given.clone();
        dims_create(members, &mut dims).unwrap();
        assert_eq!(dims, expected, "{members} in {given:?}");
    }
    let error = dims_create(7, &mut [0, 3, 0]).unwrap_err();
    assert_eq!(error.to_string(), "7 members do not fill a grid of which 3 are given");
    assert!(dims_create(12, &mut [2, 3]).is_err());
}

#[test]
fn graphs() {
    // MPI-3.1, example 7.3.
    let graph = Graph::new(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]).unwrap();
    let all: Vec<_> = (0..4).map(|member| graph.neighbors(member)).collect();
    assert_eq!((graph.size(), all), (4, vec![&[1, 3][..], &[0], &[3], &[0, 2]]));
    assert_eq!(Graph::new(&[1], &[1]), None, "no such member");
    assert_eq!(Graph::new(&[2, 1], &[0, 1]), None, "falling");
    assert_eq!(Graph::new(&[1, 2], &[0, 1, 0]), None, "an edge too many");
    let own = Adjacent::of(1, &[(0, 1, 7), (1, 2, 8), (2, 1, 9), (1, 1, 3)]);
    assert_eq!((own.sources, own.source_weights), (vec![0, 2, 1], Some(vec![7, 9, 3])));
    assert_eq!((own.destinations, own.destination_weights), (vec![2, 1], Some(vec![8, 3])));
}
