//! The recovery line against all vectors of positions.

use proptest::prelude::*;

use super::super::line::{Place, Places, alone, line};
use super::super::{Position, Shape};
use super::lane;

const NODES: u32 = 3;
const SHAPE: Shape = Shape { nodes: NODES, pes_per_node: 1 };

/// A life of three nodes: frames, images, and what is forgotten without any rule.
#[derive(Clone, Debug)]
enum Happening {
    Frame(u32, u32),
    Image(u32),
    Drops(u32, u32, u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    let pair = || (0..NODES, 1..NODES).prop_map(|(from, by)| (from, (from + by) % NODES));
    prop_oneof![
        4 => pair().prop_map(|(from, to)| Happening::Frame(from, to)),
        2 => (0..NODES).prop_map(Happening::Image),
        1 => (pair(), 1_u64..4).prop_map(|((from, to), frames)| Happening::Drops(from, to, frames)),
    ]
}

fn places(life: &[Happening]) -> Vec<Places> {
    let empty = Position { logs: vec![0], ..Position::default() };
    let mut nodes = vec![Places { images: vec![empty.clone()], present: Some(empty) }; NODES as usize];
    for happening in life {
        match happening {
            Happening::Frame(from, to) => {
                let lane = lane(*from, *to);
                let sender = nodes[*from as usize].present.as_mut().expect("present");
                let sent = sender.sent.entry(lane).or_default();
                *sent += 1;
                let range = sender.retained.entry(lane).or_insert_with(|| std::iter::once(0..0).collect());
                range[0].end = *sent;
                *nodes[*to as usize].present.as_mut().expect("present").taken.entry(lane).or_default() += 1;
            }
            Happening::Image(node) => {
                let node = &mut nodes[*node as usize];
                node.images.extend(node.present.clone());
            }
            Happening::Drops(from, to, frames) => {
                let sender = nodes[*from as usize].present.as_mut().expect("present");
                if let Some(range) = sender.retained.get_mut(&lane(*from, *to)) {
                    range[0].start = (range[0].start + frames).min(range[0].end);
                }
            }
        }
    }
    nodes
}

/// All vectors, and whether everybody has what everybody asks for.
fn consistent(nodes: &[Places], lost: &[bool]) -> Vec<Vec<Place>> {
    let of = |node: usize| {
        let images = (0..nodes[node].images.len()).map(Place::Image);
        images.chain((!lost[node]).then_some(Place::Present)).collect::<Vec<_>>()
    };
    let mut all = vec![Vec::new()];
    for node in 0..nodes.len() {
        all = all
            .into_iter()
            .flat_map(|vector| of(node).into_iter().map(move |place| [vector.clone(), vec![place]].concat()))
            .collect();
    }
    all.retain(|vector| {
        (0..NODES).all(|from| {
            SHAPE.others(from).all(|to| {
                let at = |node: u32| nodes[node as usize].at(vector[node as usize]).expect("it is there");
                (at(to).taken(lane(from, to))..at(from).sent(lane(from, to))).all(|frame| {
                    at(from).retained.get(&lane(from, to)).is_some_and(|kept| kept[0].contains(&frame))
                })
            })
        })
    });
    all
}

fn check(life: &[Happening], lost: &[bool]) {
    let nodes = places(life);
    let all = consistent(&nodes, lost);
    match line(SHAPE, &nodes, |node| lost[node as usize], alone) {
        Ok(found) => {
            assert!(all.contains(&found), "{found:?} is not consistent");
            assert!(
                all.iter().all(|one| one.iter().zip(&found).all(|(one, found)| one <= found)),
                "{found:?} is not the newest"
            );
        }
        Err(missing) => assert!(all.is_empty(), "{missing:?}, where there is {all:?}"),
    }
}

proptest! {
    #[test]
    fn it_is_the_newest_of_all_consistent_vectors(
        life in proptest::collection::vec(happening(), 0..25),
        lost in proptest::collection::vec(any::<bool>(), 3),
    ) {
        check(&life, &lost);
    }

    /// What the line of all nodes gives up is never asked for by fewer.
    #[test]
    fn fewer_lost_nodes_go_nowhere_further_back(
        life in proptest::collection::vec(happening(), 0..25),
        lost in any::<[bool; 3]>(),
    ) {
        let nodes = places(&life);
        let all = line(SHAPE, &nodes, |_| true, alone).expect("the beginning is always consistent");
        let some = line(SHAPE, &nodes, |node| lost[node as usize], alone).expect("what all can, fewer can");
        prop_assert!(all.iter().zip(&some).all(|(all, some)| all <= some));
    }
}

/// Node 1 took a frame of node 0 and then its image; node 0 drops frames too early: it has to go back.
fn one_goes_back_with_another() {
    use Happening::{Drops, Frame, Image};
    check(&[Image(0), Frame(0, 1), Frame(2, 0), Drops(0, 1, 1), Drops(2, 0, 1)], &[false, true, false]);
}

#[test]
fn whoever_has_dropped_what_is_asked_for_goes_back_too() {
    one_goes_back_with_another();
}

#[test]
fn a_group_goes_back_together() {
    groups();
}

fn groups() {
    let nodes = places(&[Happening::Image(0), Happening::Image(1), Happening::Image(2)]);
    let of = |node| if node < 2 { vec![0, 1] } else { vec![2] };
    let found = line(SHAPE, &nodes, |node| node == 0, of).expect("nothing was sent");
    assert_eq!(found, [Place::Image(1), Place::Image(1), Place::Present]);
}

#[test]
fn what_has_no_image_is_missing() {
    let mut nodes = places(&[]);
    nodes[1].images.clear();
    let missing = line(SHAPE, &nodes, |node| node == 1, alone).expect_err("it has no image");
    assert_eq!((missing.node, missing.needed_by), (1, None));
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_about_the_line_are_noticed() {
    assert!(super::notices("line-one-short", one_goes_back_with_another));
    assert!(super::notices("group-not-together", groups));
}
