//! A disk of a simulated host: what is on it, and what is left of that when its power goes.
//!
//! Pure: every choice is drawn from a generator that it is given. It promises no more than POSIX does: a file that was not
//! synced may be there whole, in part or not at all, sector by sector; a name may stand for whatever it has stood for
//! since the names were last synced, whatever other names do. Some promise less, and lie, or put things in wrong places ([`DiskRates`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Disk, DiskError, Doing, is_plain};
use crate::simulation::DiskRates;
use talisman_base::rng::Rng;

/// A disk writes so many bytes at once, or none of them.
pub(super) const SECTOR: usize = 512;
const MILLION: u64 = 1_000_000;
/// What so many files had that were taken away last is still there, where nothing else has come down yet.
const STALE_MOST: usize = 8;

/// A disk, which outlives the processes that use it.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedDisk {
    rates: DiskRates,
    rng: Rng,
    files: BTreeMap<u64, File>,
    /// The number of the next file.
    next: u64,
    /// The files as processes see them.
    names: BTreeMap<String, u64>,
    /// What each name that has changed has stood for since the names were last synced, the oldest first.
    unsure: BTreeMap<String, Vec<Option<u64>>>,
    /// What files had that were taken away, the last ones; on a disk where that matters.
    stale: VecDeque<Vec<u8>>,
    process: Process,
    /// Until when it does nothing, as whoever waits for it sees to.
    hangs_until: u64,
    /// How often what it says was not so, by kind.
    wronged: BTreeMap<&'static str, u64>,
}

/// The process that uses the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    Lives,
    /// It does so many operations, and dies in the next one.
    Dies {
        after: u64,
    },
    Dead,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Written,
    Synced,
    /// It could not be kept. Who asked then was told so, and nobody who asks again will be.
    Forgotten,
}

impl SimulatedDisk {
    /// One without files, of which so many operations go wrong.
    pub(crate) fn new(rates: DiskRates, rng: Rng) -> Self {
        SimulatedDisk {
            rates,
            rng,
            files: BTreeMap::new(),
            next: 0,
            names: BTreeMap::new(),
            unsure: BTreeMap::new(),
            stale: VecDeque::new(),
            process: Process::Lives,
            hangs_until: 0,
            wronged: BTreeMap::new(),
        }
    }

    /// From now on nothing goes wrong by itself. There is as much room as before.
    pub(crate) fn heal(&mut self) {
        self.rates = DiskRates { room_bytes: self.rates.room_bytes, ..DiskRates::default() };
    }

    /// From now on so many operations go wrong.
    pub(crate) fn go_wrong(&mut self, rates: DiskRates) {
        self.rates = rates;
    }

    /// It does nothing until then.
    pub(crate) fn hang(&mut self, until: u64) {
        self.hangs_until = self.hangs_until.max(until);
    }

    /// Until when it does nothing.
    pub(crate) fn hangs_until(&self) -> u64 {
        self.hangs_until
    }

    /// How often it lied, or put something in a wrong place, since that was asked last.
    pub(crate) fn take_wronged(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.wronged)
    }

    /// The process that uses it dies in the midst of the operation after so many others. That one may have been done, in
    /// part or not at all; it and all further ones fail until [`SimulatedDisk::restart`].
    pub(crate) fn die_after(&mut self, operations: u64) {
        self.process = Process::Dies { after: operations };
    }

    /// Another process uses it. What the former one has written is there, synced or not.
    pub(crate) fn restart(&mut self) {
        self.process = Process::Lives;
    }

    /// Its host loses its power: what was not synced may be lost. No process uses it then.
    pub(crate) fn lose_power(&mut self) {
        for (name, stood_for) in std::mem::take(&mut self.unsure) {
            let kept = stood_for[self.rng.below(stood_for.len() as u64) as usize];
            self.stand_for(&name, kept);
        }
        self.forget_nameless();
        for file in self.files.values_mut() {
            file.lose_power(&mut self.rng);
        }
    }

    /// Does an operation, if the process lives to do it.
    fn operate<T>(
        &mut self,
        doing: Doing,
        name: &str,
        act: impl FnOnce(&mut Self) -> Result<T, DiskError>,
    ) -> Result<T, DiskError> {
        match self.process {
            Process::Lives => return act(self),
            Process::Dies { after: 0 } => {
                self.process = Process::Dead;
                if self.rng.below(2) == 0 {
                    // Nobody is there any more to be told.
                    let _ = act(self);
                }
            }
            Process::Dies { after } => {
                self.process = Process::Dies { after: after - 1 };
                return act(self);
            }
            Process::Dead => {}
        }
        Err(system(doing, name, "its process has died"))
    }

    fn write_new(&mut self, name: &str, mut bytes: Vec<u8>) -> Result<(), DiskError> {
        if self.names.contains_key(name) {
            self.call(name, None);
        }
        let whole = bytes.len();
        bytes.truncate(self.most_written(whole));
        let is_full = bytes.len() < whole;
        if self.wrongs("disk-misdirected", self.rates.misdirected_ppm) {
            bytes = self.misdirect(bytes);
        }
        self.next += 1;
        self.files.insert(self.next, File { bytes, state: State::Written });
        self.call(name, Some(self.next));
        if is_full { Err(DiskError::Full { doing: Doing::Write, file: name.to_owned() }) } else { Ok(()) }
    }

    /// How many of so many bytes come on the disk.
    fn most_written(&mut self, bytes: usize) -> usize {
        let most = bytes.min(self.room());
        let is_cut = self.process == Process::Dead || self.strikes(self.rates.full_ppm);
        if is_cut { self.rng.below(most as u64) as usize } else { most }
    }

    fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        let id = self.id(Doing::Sync, name)?;
        let fails = self.strikes(self.rates.sync_fails_ppm);
        if !fails && self.wrongs("disk-lied", self.rates.lying_ppm) {
            return Ok(());
        }
        let state = &mut self.file(id).state;
        if *state == State::Written {
            *state = if fails { State::Forgotten } else { State::Synced };
        }
        if fails { Err(system(Doing::Sync, name, "input/output error")) } else { Ok(()) }
    }

    fn keep_names(&mut self) -> Result<(), DiskError> {
        if self.strikes(self.rates.sync_fails_ppm) {
            return Err(system(Doing::Sync, "the folder", "input/output error"));
        }
        if self.wrongs("disk-lied", self.rates.lying_ppm) {
            return Ok(());
        }
        self.unsure.clear();
        self.forget_nameless();
        Ok(())
    }

    /// What is written comes down where another file is, if there is any; what is in its own place instead.
    fn misdirect(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut others: Vec<u64> = self.files.keys().copied().collect();
        let was_taken_away = others.is_empty() || self.rng.below(2) == 0;
        let mut instead = match (was_taken_away, self.stale.len() as u64) {
            (true, 0) => Vec::new(),
            (true, stale) => self.stale[self.rng.below(stale) as usize].clone(),
            (false, _) => {
                let other = others.swap_remove(self.rng.below(others.len() as u64) as usize);
                let other = &mut self.file(other).bytes;
                let was = other.clone();
                let count = bytes.len().min(other.len());
                other[..count].copy_from_slice(&bytes[..count]);
                was
            }
        };
        // How long a file is says something else, which may have gone astray with the rest.
        if self.rng.below(2) == 0 {
            instead.resize(bytes.len(), 0);
        }
        instead
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        let id = self.id(Doing::Read, name)?;
        if self.strikes(self.rates.unreadable_ppm) {
            return Err(system(Doing::Read, name, "input/output error"));
        }
        let bits = self.file(id).bytes.len() as u64 * 8;
        if bits > 0 && self.strikes(self.rates.altered_ppm) {
            let bit = self.rng.below(bits) as usize;
            self.file(id).bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Ok(self.file(id).bytes.clone())
    }

    fn id(&self, doing: Doing, name: &str) -> Result<u64, DiskError> {
        let id = self.names.get(name).copied();
        id.ok_or_else(|| DiskError::NotThere { doing, file: name.to_owned() })
    }

    fn file(&mut self, id: u64) -> &mut File {
        self.files.get_mut(&id).expect("a file that has a name is there")
    }

    /// From now on a name stands for this file, or for none; that may be forgotten again.
    fn call(&mut self, name: &str, id: Option<u64>) {
        let before = self.names.get(name).copied();
        self.unsure.entry(name.to_owned()).or_insert_with(|| vec![before]).push(id);
        self.stand_for(name, id);
    }

    fn stand_for(&mut self, name: &str, id: Option<u64>) {
        match id {
            Some(id) => drop(self.names.insert(name.to_owned(), id)),
            None => drop(self.names.remove(name)),
        }
    }

    /// Files that no name can stand for any more are gone.
    fn forget_nameless(&mut self) {
        let unsure = self.unsure.values().flatten().flatten();
        let named: BTreeSet<u64> = self.names.values().chain(unsure).copied().collect();
        let (keeps_stale, stale) = (self.rates.misdirected_ppm > 0, &mut self.stale);
        self.files.retain(|id, file| {
            let is_named = named.contains(id);
            if !is_named && keeps_stale {
                stale.push_back(std::mem::take(&mut file.bytes));
            }
            is_named
        });
        let too_many = self.stale.len().saturating_sub(STALE_MOST);
        self.stale.drain(..too_many);
    }

    /// Bytes that there is room for.
    fn room(&self) -> usize {
        let named: BTreeSet<u64> = self.names.values().copied().collect();
        let used: usize = named.iter().map(|id| self.files[id].bytes.len()).sum();
        match self.rates.room_bytes {
            0 => usize::MAX,
            room => (room as usize).saturating_sub(used),
        }
    }

    fn strikes(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.rng.below(MILLION) < u64::from(ppm)
    }

    /// The same of what nobody is told of.
    fn wrongs(&mut self, kind: &'static str, ppm: u32) -> bool {
        let strikes = self.strikes(ppm);
        if strikes {
            *self.wronged.entry(kind).or_default() += 1;
        }
        strikes
    }
}

impl Disk for SimulatedDisk {
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        assert!(is_plain(name), "no name for a file: {name:?}");
        self.operate(Doing::Write, name, |disk| disk.write_new(name, parts.concat()))
    }

    fn sync(&mut self, name: &str) -> Result<(), DiskError> {
        self.operate(Doing::Sync, name, |disk| disk.sync_file(name))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        assert!(is_plain(to), "no name for a file: {to:?}");
        self.operate(Doing::Rename, from, |disk| {
            let id = disk.id(Doing::Rename, from)?;
            if from != to {
                disk.call(to, Some(id));
                disk.call(from, None);
            }
            Ok(())
        })
    }

    fn sync_names(&mut self) -> Result<(), DiskError> {
        self.operate(Doing::Sync, "the folder", Self::keep_names)
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        self.operate(Doing::Read, name, |disk| disk.read_file(name))
    }

    fn list(&mut self) -> Result<Vec<String>, DiskError> {
        self.operate(Doing::List, "the folder", |disk| Ok(disk.names.keys().cloned().collect()))
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        self.operate(Doing::Remove, name, |disk| {
            disk.id(Doing::Remove, name)?;
            disk.call(name, None);
            Ok(())
        })
    }
}

impl File {
    /// What was not synced is there whole, empty, or sector by sector; a sector that is not reads as zeros.
    fn lose_power(&mut self, rng: &mut Rng) {
        if std::mem::replace(&mut self.state, State::Synced) == State::Synced {
            return;
        }
        match rng.below(4) {
            0 => {}
            1 => self.bytes.clear(),
            _ => self.tear(rng),
        }
    }

    fn tear(&mut self, rng: &mut Rng) {
        let sectors = self.bytes.len().div_ceil(SECTOR) as u64;
        self.bytes.truncate(rng.below(sectors + 1) as usize * SECTOR);
        let lost = self.bytes.chunks_mut(SECTOR).filter(|_| rng.below(2) == 0);
        lost.for_each(|sector| sector.fill(0));
    }
}

fn system(doing: Doing, name: &str, why: &str) -> DiskError {
    DiskError::System { doing, file: name.to_owned(), why: why.to_owned() }
}
