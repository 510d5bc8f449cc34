//! What a node holds while its disk is full.

use talisman_ft::double::Order;

use super::super::writer::{Work, Writer};
use super::*;
use crate::versions::{Fate, Store};

#[test]
fn parts_that_come_one_after_the_other_are_there_at_once() {
    let disk = disk(2);
    let store = Store::default();
    let backlog = store.keep_on(Box::new(disk.clone()), job(7), SHAPE).unwrap();
    for pe in [0, 1] {
        store.put(3, &View::whole(SHAPE), pe, image(3, pe));
        store.keep_for_good(3, pe);
    }
    let fates = || [0, 1].map(|pe| store.fate(3, pe));
    for _ in 0..2 {
        let work = backlog.take_next().expect("both are to be written");
        assert!(matches!(work, Work::Write(3, _)));
        backlog.carry_out(work);
    }
    assert!(disk.clone().list().unwrap().iter().all(|name| name.ends_with(".tmp")));
    assert_eq!(fates(), [Fate::Open, Fate::Open]);
    let work = backlog.take_next().expect("what is written is settled when nothing else is to be done");
    assert!(matches!(work, Work::Settle));
    backlog.carry_out(work);
    assert_eq!(disk.clone().list().unwrap(), ["v3-pe0.part", "v3-pe1.part", "v3.manifest"]);
    assert_eq!(fates(), [Fate::Safe, Fate::Safe]);
    assert!(backlog.take_next().is_none());
}

#[test]
fn whatever_comes_after_parts_finds_them_settled() {
    let disk = disk(2);
    let store = Store::default();
    let backlog = store.keep_on(Box::new(disk.clone()), job(7), SHAPE).unwrap();
    let work_off = || std::iter::from_fn(|| backlog.take_next()).for_each(|work| backlog.carry_out(work));
    let put = |version: Version| {
        store.put(version, &View::whole(SHAPE), 0, image(version, 0));
        store.keep_for_good(version, 0);
    };
    put(1);
    backlog.carry_out(backlog.take_next().expect("a part is to be written"));
    store.give_up(1);
    put(2);
    work_off();
    assert_eq!(disk.clone().list().unwrap(), ["v2-pe0.part", "v2.manifest"]);
    assert_eq!(store.fate(2, 0), Fate::Safe);
}

#[test]
fn a_part_that_a_disk_does_not_take_is_held_until_its_version_is_given_up() {
    let disk = disk_with(3, DiskRates { full_ppm: 1_000_000, ..DiskRates::default() });
    let store = Store::default();
    let backlog = store.keep_on(Box::new(disk), job(7), SHAPE).unwrap();
    let held = || store.held().iter().map(|held| (held.version, held.held.clone())).collect::<Vec<_>>();
    for pe in [0, 1] {
        store.put(3, &View::whole(SHAPE), pe, image(3, pe));
        store.keep_for_good(3, pe);
    }
    assert_eq!(held(), [(3, vec![0])], "as this node says when it halts");
    std::iter::from_fn(|| backlog.take_next()).for_each(|work| backlog.carry_out(work));
    assert!([0, 1].iter().all(|pe| matches!(store.fate(3, *pe), Fate::NotSafe(_))));
    assert_eq!(held(), [(3, vec![0])], "it may have been told to restore it by now");
    assert!(store.in_pieces(3, 1).is_ok());
    store.give_up(3);
    assert_eq!(held(), []);
}

#[test]
fn what_was_committed_stays_on_the_disk_beside_what_is_gone_back_to() {
    let disk = disk(2);
    let store = Store::default();
    store.keep_by(Writer::at_once(Box::new(disk.clone()), job(7), SHAPE).unwrap());
    let view = View::whole(SHAPE);
    for version in 4..8 {
        store.put(version, &view, 0, image(version, 0));
        store.keep_for_good(version, 0);
    }
    let files = || disk.clone().list().unwrap();
    store.go_back(&Order { committed: Some(5), ..Order::new(view.of_nodes().clone(), Some(6), 8) });
    assert_eq!(files(), ["v5-pe0.part", "v5.manifest", "v6-pe0.part", "v6.manifest"]);
    store.commit(6);
    assert_eq!(files(), ["v6-pe0.part", "v6.manifest"]);
}

#[test]
fn a_version_that_a_disk_has_no_room_for_is_given_up_and_the_one_before_stays() {
    let disk = disk_with(3, DiskRates { room_bytes: 6000, ..DiskRates::default() });
    let store = Store::default();
    store.keep_by(Writer::at_once(Box::new(disk), job(7), SHAPE).unwrap());
    let keep = |version: Version| {
        let fates = [0, 1].map(|pe| {
            store.put(version, &View::whole(SHAPE), pe, image(version, pe));
            store.keep_for_good(version, pe);
            store.fate(version, pe)
        });
        fates.into_iter().find(|fate| *fate != Fate::Safe)
    };
    let held = || store.held().iter().map(|held| (held.version, held.held.clone())).collect::<Vec<_>>();
    let mut version = 1;
    while keep(version).is_none() {
        store.commit(version - u64::from(version > 1));
        version += 1;
        assert!(version < 20, "the disk is never full");
    }
    let Some(Fate::NotSafe(why)) = (0..2).map(|pe| store.fate(version, pe)).find(|fate| *fate != Fate::Safe)
    else {
        panic!("nothing was said of it");
    };
    assert!(why.contains("no space is left"), "{why}");
    store.give_up(version);
    assert!(held().contains(&(version - 1, vec![0])), "{:?}", held());
}
