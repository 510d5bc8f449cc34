//! What a node holds while its disk is full.

use super::super::keeper::Keeper;
use super::*;
use crate::checkpoint::store::{Fate, Store};

#[test]
fn a_version_that_a_disk_has_no_room_for_is_given_up_and_the_one_before_stays() {
    let disk = disk_with(3, DiskRates { room_bytes: 6000, ..DiskRates::default() });
    let store = Store::default();
    store.keep_by(Keeper::at_once(Box::new(disk), job(7), SHAPE).unwrap());
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
