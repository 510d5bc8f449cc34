use std::rc::Rc;

use super::traffic::{Pair, Sum, Traffic};
use super::{Given, key_of, object_of};
use talisman_base::clock::Clock;
use talisman_base::ids::{CollectionId, ObjId};
use talisman_lb::snapshot::Key;

#[test]
fn a_key_names_its_object() {
    let collection = CollectionId { creator: 7, serial: 9 };
    let id = ObjId { collection, index: 1 << 100 };
    assert_eq!(key_of(id), Key { collection: 7 << 32 | 9, index: 1 << 100 });
    assert_eq!(object_of(key_of(id)), id);
}

#[test]
fn a_full_table_of_pairs_counts_what_it_drops() {
    let mut traffic = Traffic::new(&Clock::simulated(Rc::default()), false);
    traffic.pairs_max = 2;
    let to = ObjId { collection: CollectionId { creator: 0, serial: 0 }, index: 0 };
    for slot in [0, 1, 2, 1, 3] {
        traffic.add(Pair { slot, generation: 0, to }, 100, 2);
    }
    assert_eq!((traffic.pairs.borrow().len(), traffic.dropped.get()), (2, 4));
    let pair = Pair { slot: 1, generation: 0, to };
    assert_eq!(traffic.pairs.borrow()[&pair], Sum { messages: 4.0, bytes: 400.0 });
}

#[test]
fn what_comes_from_elsewhere_may_be_nonsense() {
    assert!(Given { load: Some(0.0), stays: true, position: Some([0.0; 3]) }.is_sound());
    for nonsense in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(!Given { load: Some(nonsense), ..Given::default() }.is_sound());
    }
    assert!(!Given { position: Some([0.0, f32::NAN, 0.0]), ..Given::default() }.is_sound());
}
