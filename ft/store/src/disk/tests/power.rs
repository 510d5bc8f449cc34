//! Random operations and losses of power, beside a list of what may be there after each.

use std::collections::BTreeMap;

use super::super::simulated::SECTOR;
use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const SYNC_FAILS_PPM: u32 = 100_000;

/// What is sure of a disk, told by who used it.
#[derive(Default)]
struct Ghost {
    files: Vec<Kept>,
    /// What each name may stand for after a loss of power; the last one is what it stands for now.
    names: BTreeMap<&'static str, Vec<Option<usize>>>,
    seen: Seen,
}

struct Kept {
    bytes: Vec<u8>,
    is_synced: bool,
    may_sync: bool,
}

/// How often files were found so after a loss of power.
#[derive(Debug, Default)]
struct Seen {
    /// Synced, under their last name.
    whole: u32,
    /// Not synced, and whole by luck.
    lucky: u32,
    torn: u32,
    /// Under a name that they had before, or not at all.
    former: u32,
}

impl Ghost {
    fn stands_for(&mut self, name: &'static str) -> &mut Vec<Option<usize>> {
        self.names.entry(name).or_insert_with(|| vec![None])
    }

    fn now(&mut self, name: &'static str) -> Option<usize> {
        *self.stands_for(name).last().expect("there is a last one")
    }

    fn call(&mut self, name: &'static str, file: Option<usize>) {
        self.stands_for(name).push(file);
    }

    fn add(&mut self, bytes: Vec<u8>, is_synced: bool) -> usize {
        self.files.push(Kept { bytes, is_synced, may_sync: true });
        self.files.len() - 1
    }

    /// One operation on both.
    fn step(&mut self, disk: &mut SimulatedDisk, rng: &mut Rng) {
        let (name, other) = (pick(rng, &NAMES), pick(rng, &NAMES));
        let file = self.now(name);
        match rng.below(6) {
            0 => {
                let new = bytes(rng);
                let cut = rng.below(new.len() as u64 + 1) as usize;
                disk.write(name, &[&new[..cut], &new[cut..]]).unwrap();
                let new = self.add(new, false);
                self.call(name, None);
                self.call(name, Some(new));
            }
            1 | 2 => match (disk.sync(name), file) {
                (Ok(()), Some(file)) => self.files[file].is_synced |= self.files[file].may_sync,
                (Err(_), Some(file)) => self.files[file].may_sync = false,
                (result, None) => assert!(matches!(result, Err(DiskError::NotThere { .. }))),
            },
            3 => {
                assert_eq!(disk.rename(name, other).is_ok(), file.is_some());
                if name != other && file.is_some() {
                    self.call(other, file);
                    self.call(name, None);
                }
            }
            4 => {
                assert_eq!(disk.remove(name).is_ok(), file.is_some());
                self.call(name, None);
            }
            _ => {
                if disk.sync_names().is_ok() {
                    self.names
                        .values_mut()
                        .for_each(|stands_for| drop(stands_for.drain(..stands_for.len() - 1)));
                }
            }
        }
        let expected = self.now(name).map(|file| self.files[file].bytes.clone());
        assert_eq!(disk.read(name).ok(), expected, "while there is power nothing is lost");
    }

    fn lose_power(&mut self, disk: &mut SimulatedDisk) {
        disk.lose_power();
        for name in NAMES {
            let found = disk.read(name).ok();
            let may_be = self.stands_for(name).clone();
            let fits = may_be.iter().rev().find(|file| self.fits(**file, found.as_deref()));
            let Some(fits) = fits else { panic!("{name} is nothing that it may be: {found:?}") };
            self.count(*fits, may_be.last() == Some(fits), found.as_deref());
            let file = found.map(|found| self.add(found, true));
            self.names.insert(name, vec![file]);
        }
    }

    fn fits(&self, file: Option<usize>, found: Option<&[u8]>) -> bool {
        match (file.map(|file| &self.files[file]), found) {
            (None, None) => true,
            (Some(file), Some(found)) if file.is_synced => file.bytes == found,
            (Some(file), Some(found)) => is_torn(found, &file.bytes),
            _ => false,
        }
    }

    fn count(&mut self, file: Option<usize>, is_last: bool, found: Option<&[u8]>) {
        let file = file.map(|file| &self.files[file]);
        let count = match (file, found) {
            _ if !is_last => &mut self.seen.former,
            (Some(file), _) if file.is_synced => &mut self.seen.whole,
            (Some(file), Some(found)) if file.bytes == found => &mut self.seen.lucky,
            (Some(_), _) => &mut self.seen.torn,
            (None, _) => return,
        };
        *count += 1;
    }
}

/// Whether these are some of the sectors of a file.
fn is_torn(found: &[u8], written: &[u8]) -> bool {
    let is_kept = |(found, written): (&[u8], &[u8])| found == written || found.iter().all(|byte| *byte == 0);
    let mut sectors = found.chunks(SECTOR).zip(written.chunks(SECTOR));
    (found.len() == written.len() || found.len() < written.len() && found.len().is_multiple_of(SECTOR))
        && sectors.all(is_kept)
}

#[test]
fn what_was_synced_under_a_synced_name_is_whole_and_nothing_else_is_sure() {
    let mut seen = Seen::default();
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let rates = DiskRates {
            sync_fails_ppm: if seed % 2 == 0 { 0 } else { SYNC_FAILS_PPM },
            ..DiskRates::default()
        };
        let mut disk = SimulatedDisk::new(rates, Rng::new(!seed));
        let mut ghost = Ghost::default();
        for _ in 0..4 {
            (0..rng.below(20)).for_each(|_| ghost.step(&mut disk, &mut rng));
            ghost.lose_power(&mut disk);
        }
        let Seen { whole, lucky, torn, former } = ghost.seen;
        seen.whole += whole;
        seen.lucky += lucky;
        seen.torn += torn;
        seen.former += former;
    }
    let Seen { whole, lucky, torn, former } = seen;
    assert!([whole, lucky, torn, former].iter().all(|times| *times > 250), "{seen:?}");
}

#[test]
fn a_sync_that_failed_is_not_made_good_by_a_second_one() {
    let rates = DiskRates { sync_fails_ppm: 1_000_000, ..DiskRates::default() };
    let survives = |seed, writes_anew| {
        let mut disk = SimulatedDisk::new(rates, Rng::new(seed));
        disk.write("a", &[&[7; 3 * SECTOR]]).unwrap();
        assert!(disk.sync("a").is_err());
        disk.heal();
        if writes_anew {
            disk.write("a", &[&[7; 3 * SECTOR]]).unwrap();
        }
        disk.sync("a").unwrap();
        disk.sync_names().unwrap();
        disk.lose_power();
        disk.read("a").unwrap() == [7; 3 * SECTOR]
    };
    assert!((0..100).all(|seed| survives(seed, true)));
    assert!(!(0..100).all(|seed| survives(seed, false)));
}

#[test]
fn a_full_disk_says_so_and_has_room_again_once_something_is_removed() {
    let rates = DiskRates { room_bytes: 1000, ..DiskRates::default() };
    let mut disk = SimulatedDisk::new(rates, Rng::new(1));
    disk.write("a", &[&[1; 600]]).unwrap();
    let full = DiskError::Full { doing: Doing::Write, file: "b".into() };
    assert_eq!(disk.write("b", &[&[2; 600]]), Err(full));
    assert_eq!(disk.read("b").unwrap(), [2; 400], "what there was room for");
    disk.remove("a").unwrap();
    disk.write("b", &[&[2; 600]]).unwrap();
    assert_eq!(disk.list().unwrap(), ["b"]);
}

#[test]
fn equal_seeds_lose_the_same() {
    let left = |seed| {
        let mut disk = calm(seed);
        (0..8).for_each(|i| disk.write(NAMES[i % 4], &[&[i as u8; 2000]]).unwrap());
        disk.lose_power();
        NAMES.map(|name| disk.read(name).ok())
    };
    assert_eq!(left(3), left(3));
    assert!((0..20).any(|seed| left(seed) != left(3)));
}

#[test]
fn what_a_lying_disk_says_is_so_once_it_is_asked_again_and_does_not_lie() {
    let rates = DiskRates { lying_ppm: 1_000_000, ..DiskRates::default() };
    let survives = |seed, is_asked_again| {
        let mut disk = SimulatedDisk::new(rates, Rng::new(seed));
        disk.write("a", &[&[7; 3 * SECTOR]]).unwrap();
        disk.sync("a").unwrap();
        disk.sync_names().unwrap();
        assert_eq!(disk.take_wronged(), BTreeMap::from([("disk-lied", 2)]));
        if is_asked_again {
            disk.heal();
            disk.sync("a").unwrap();
            disk.sync_names().unwrap();
        }
        disk.lose_power();
        disk.read("a").is_ok_and(|bytes| bytes == [7; 3 * SECTOR])
    };
    assert!((0..100).all(|seed| survives(seed, true)));
    let kept = (0..100).filter(|seed| survives(*seed, false)).count();
    assert!((1..60).contains(&kept), "{kept} of 100 by luck");
}

#[test]
fn what_comes_down_in_the_place_of_another_file_leaves_what_that_had_in_its_own() {
    let (mut other, mut taken_away) = (0, 0);
    for seed in 0..200 {
        let mut disk = SimulatedDisk::new(DiskRates::default(), Rng::new(seed));
        let rates = DiskRates { misdirected_ppm: 1_000_000, ..DiskRates::default() };
        disk.write("a", &[&[1; 600]]).unwrap();
        disk.write("gone", &[&[2; 600]]).unwrap();
        disk.go_wrong(rates);
        disk.remove("gone").unwrap();
        disk.sync_names().unwrap();
        disk.write("b", &[&[3; 600]]).unwrap();
        match (disk.read("a").unwrap()[0], disk.read("b").unwrap()[0]) {
            (3, 1) => other += 1,
            (1, 2) => taken_away += 1,
            found => panic!("seed {seed}: {found:?}"),
        }
    }
    assert!(other > 50 && taken_away > 50, "{other} {taken_away}");
}
