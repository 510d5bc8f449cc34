//! Files that are put in place at once, through deaths, losses of power, and disks that fail.

use std::collections::BTreeMap;

use super::*;

const NAMES: [&str; 3] = ["image", "image-2", "log"];

/// What may be in a file; `None`: there is none.
type MayBe = Vec<Option<Vec<u8>>>;

/// Lives of processes that use one disk one after the other.
struct Lives {
    disk: SimulatedDisk,
    rates: DiskRates,
    rng: Rng,
    may_be: BTreeMap<&'static str, MayBe>,
}

impl Lives {
    fn new(seed: u64, rates: DiskRates) -> Self {
        let may_be = NAMES.into_iter().map(|name| (name, vec![None])).collect();
        Lives { disk: SimulatedDisk::new(rates, Rng::new(!seed)), rates, rng: Rng::new(seed), may_be }
    }

    /// One process from its start to its death.
    fn live(&mut self) {
        self.disk.restart();
        let cleared = remove_leftovers(&mut self.disk);
        assert!(cleared.is_ok(), "{cleared:?}");
        let dies = self.rng.below(2) == 0;
        if dies {
            self.disk.die_after(self.rng.below(30));
        }
        for _ in 0..self.rng.below(10) {
            let name = pick(&mut self.rng, &NAMES);
            self.replace(name);
        }
        self.disk.restart();
        let loses_power = self.rng.below(2) == 0;
        if loses_power {
            self.disk.lose_power();
        }
        for name in NAMES {
            let found = self.look(name);
            // What has outlived a loss of power is there from then on.
            self.may_be
                .get_mut(name)
                .expect("a name of ours")
                .retain(|may_be| !loses_power || found.as_ref().is_none_or(|found| may_be == found));
        }
    }

    fn replace(&mut self, name: &'static str) {
        let new = bytes(&mut self.rng);
        let parts: Vec<&[u8]> = new.chunks(100).collect();
        let done = replace(&mut self.disk, name, &parts);
        let may_be = self.may_be.get_mut(name).expect("a name of ours");
        if done.is_ok() {
            may_be.clear();
        }
        may_be.push(Some(new));
    }

    /// What is found is something that may be there, or an error for which there is a reason.
    fn look(&mut self, name: &'static str) -> Option<Option<Vec<u8>>> {
        let found = match read_checked(&mut self.disk, name) {
            Ok(found) => Some(found),
            Err(ReadError::Disk(DiskError::NotThere { .. })) => None,
            Err(error) => {
                let is_read = !matches!(error, ReadError::Disk(_));
                let ppm = if is_read { self.rates.altered_ppm } else { self.rates.unreadable_ppm };
                assert!(ppm > 0, "{error}");
                return None;
            }
        };
        assert!(self.may_be[name].contains(&found), "{name} is nothing that was put there");
        Some(found)
    }
}

fn rates(rng: &mut Rng) -> DiskRates {
    let mut some = |ppm: u32| if rng.below(2) == 0 { ppm } else { 0 };
    DiskRates {
        full_ppm: some(100_000),
        sync_fails_ppm: some(100_000),
        unreadable_ppm: some(50_000),
        altered_ppm: some(50_000),
        room_bytes: some(4000).into(),
        ..DiskRates::default()
    }
}

#[test]
fn a_file_is_what_was_put_there_or_an_error() {
    for seed in 0..2000 {
        let rates = if seed % 2 == 0 { DiskRates::default() } else { rates(&mut Rng::new(seed ^ 0xd15c)) };
        let mut lives = Lives::new(seed, rates);
        (0..5).for_each(|_| lives.live());
    }
}

/// What is found after a process that replaces `old` by `new` has died in this operation.
fn after_death(seed: u64, operation: u64, loses_power: bool) -> Vec<u8> {
    let mut disk = calm(seed);
    replace(&mut disk, "a", &[&[1; 2000]]).unwrap();
    disk.die_after(operation);
    assert_eq!(replace(&mut disk, "a", &[&[2; 3000]]).is_ok(), operation >= OPERATIONS);
    disk.restart();
    if loses_power {
        disk.lose_power();
    }
    remove_leftovers(&mut disk).unwrap();
    assert_eq!(disk.list().unwrap(), ["a"]);
    read_checked(&mut disk, "a").unwrap()
}

/// Those of [`replace`].
const OPERATIONS: u64 = 4;

#[test]
fn whichever_operation_is_the_last_one_the_file_is_the_former_or_the_new_one() {
    let (old, new) = (vec![1; 2000], vec![2; 3000]);
    for loses_power in [false, true] {
        let found = |operation| (0..200).map(move |seed| after_death(seed, operation, loses_power));
        assert!(found(0).chain(found(1)).all(|found| found == old));
        assert!(found(2).chain(found(3)).all(|found| found == old || found == new));
        assert!(found(2).any(|found| found == old) && found(2).any(|found| found == new));
        assert_eq!(found(3).any(|found| found == old), loses_power, "the name may be lost with the power");
        assert!(found(OPERATIONS).all(|found| found == new));
    }
}

/// Operations with which three files are replaced together: each is written, synced and named, and the names are synced.
const TOGETHER: u64 = 10;

/// What is found after a process that replaces files together has died in this operation; whether it had come to the end.
fn after_death_of_several(seed: u64, operation: u64, loses_power: bool) -> (bool, Vec<Vec<u8>>) {
    let mut disk = calm(seed);
    NAMES.iter().for_each(|name| replace(&mut disk, name, &[&[1; 2000]]).unwrap());
    disk.die_after(operation);
    let mut files = Replacing::default();
    let written = NAMES.map(|name| files.write(&mut disk, name, &[&[2; 3000]]).is_ok());
    let done = files.finish(&mut disk).is_ok() && written == [true; 3];
    assert!(files.is_empty());
    disk.restart();
    if loses_power {
        disk.lose_power();
    }
    remove_leftovers(&mut disk).unwrap();
    assert_eq!(disk.list().unwrap(), NAMES);
    (done, NAMES.iter().map(|name| read_checked(&mut disk, name).unwrap()).collect())
}

#[test]
fn none_of_several_files_has_its_name_before_all_are_synced() {
    let (old, new) = (vec![1; 2000], vec![2; 3000]);
    for (loses_power, seed) in
        [false, true].into_iter().flat_map(|power| (0..50).map(move |seed| (power, seed)))
    {
        for operation in 0..=TOGETHER {
            let (done, found) = after_death_of_several(seed, operation, loses_power);
            assert_eq!(done, operation == TOGETHER);
            assert!(found.iter().all(|found| *found == old || *found == new));
            assert!(!done || found.iter().all(|found| *found == new));
            assert!(operation >= 6 || found.iter().all(|found| *found == old));
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_does_not_keep_others_from_their_places() {
    let rates = DiskRates { room_bytes: 2000, ..DiskRates::default() };
    let mut disk = SimulatedDisk::new(rates, Rng::new(1));
    let mut files = Replacing::default();
    files.write(&mut disk, "a", &[&[1; 1000]]).unwrap();
    let full = DiskError::Full { doing: Doing::Write, file: "b.tmp".into() };
    assert_eq!(files.write(&mut disk, "b", &[&[2; 1000]]), Err(full));
    files.finish(&mut disk).unwrap();
    assert_eq!(disk.list().unwrap(), ["a"]);
    assert_eq!(files.finish(&mut disk), Ok(()), "nothing is left to be done");
}

#[test]
fn a_disk_that_is_full_keeps_the_former_file_and_no_leftover() {
    let rates = DiskRates { room_bytes: 3000, ..DiskRates::default() };
    let mut disk = SimulatedDisk::new(rates, Rng::new(1));
    replace(&mut disk, "a", &[&[1; 1500]]).unwrap();
    let full = DiskError::Full { doing: Doing::Write, file: "a.tmp".into() };
    assert_eq!(replace(&mut disk, "a", &[&[2; 1500]]), Err(full.clone()));
    let text =
        "cannot write a.tmp: no space is left on its disk; free some, or choose a folder on another one";
    assert_eq!(full.to_string(), text);
    assert_eq!(read_checked(&mut disk, "a").unwrap(), [1; 1500]);
    assert_eq!(disk.list().unwrap(), ["a"]);
}
