use proptest::prelude::*;

use super::*;

#[test]
fn regular_groups_need_no_list() {
    let packed = |group: &Group| talisman_pup::to_bytes(group).len();
    assert_eq!(packed(&Group::all(1_000_000)), packed(&Group::of(&[3, 5, 7, 9])));
    assert!(packed(&Group::of(&[3, 5, 7, 8])) > packed(&Group::all(2)));
    assert_eq!(Group::of(&[5, 3]).members(), [5, 3]);
    let mut far = talisman_pup::to_bytes(&Group::all(3));
    let len = far.len();
    far[len - 8..].fill(0xff);
    let error = talisman_pup::from_bytes::<Group>(&far).unwrap_err().to_string();
    assert!(error.contains("a group of 4294967295"), "{error}");
}

#[test]
fn members_are_included_and_excluded_by_number() {
    let group = Group::of(&[10, 20, 30, 40, 50]);
    assert_eq!(group.include(&[4, 0]).unwrap().members(), [50, 10]);
    assert_eq!(group.exclude(&[4, 0]).unwrap().members(), [20, 30, 40]);
    assert_eq!(group.include(&[5]), Err(GroupError::NoMember { number: 5, size: 5 }));
    assert_eq!(group.exclude(&[1, 1]), Err(GroupError::Twice { number: 1 }));
    // MPI-3.1, 6.3.2: ranges upward, downward, and with what does not divide them.
    assert_eq!(group.ranges(&[(0, 3, 2), (4, 3, -1)]).unwrap(), [0, 2, 4, 3]);
    assert_eq!(group.ranges(&[(0, 4, 3), (3, 1, 1), (1, 3, -1)]).unwrap(), [0, 3]);
    assert_eq!(group.ranges(&[(0, 1, 0)]), Err(GroupError::Step));
    assert_eq!(group.ranges(&[(0, 5, 1)]), Err(GroupError::NoMember { number: 5, size: 5 }));
}

fn group() -> impl Strategy<Value = Vec<Rank>> {
    prop::sample::subsequence((0..12u32).collect::<Vec<_>>(), 0..12).prop_shuffle()
}

proptest! {
    #[test]
    fn groups_are_ordered_sets(one in group(), other in group()) {
        let (a, b) = (Group::of(&one), Group::of(&other));
        prop_assert_eq!(a.members(), one.clone());
        let within = |list: &[Rank], of: &[Rank], wanted| -> Vec<Rank> {
            list.iter().copied().filter(|rank| of.contains(rank) == wanted).collect()
        };
        prop_assert_eq!(a.intersection(&b).members(), within(&one, &other, true));
        prop_assert_eq!(a.difference(&b).members(), within(&one, &other, false));
        prop_assert_eq!(a.union(&b).members(), [one.clone(), within(&other, &one, false)].concat());
        for rank in 0..13 {
            prop_assert_eq!(a.rank_of(rank), one.iter().position(|member| *member == rank).map(|at| at as u32));
        }
        for number in 0..13 {
            prop_assert_eq!(a.member(number), one.get(number as usize).copied());
            let there = one.get(number as usize).and_then(|rank| other.iter().position(|member| member == rank));
            prop_assert_eq!(a.translate(number, &b), there.map(|at| at as u32));
        }
        let (mut sorted, mut theirs) = (one.clone(), other.clone());
        sorted.sort_unstable();
        theirs.sort_unstable();
        let expected = match (one == other, sorted == theirs) {
            (true, _) => Comparison::Identical,
            (_, true) => Comparison::Similar,
            _ => Comparison::Unequal,
        };
        prop_assert_eq!(a.compare(&b), expected);
        let back: Group = talisman_pup::from_bytes(&talisman_pup::to_bytes(&a)).unwrap();
        prop_assert_eq!(back, a);
    }
}
