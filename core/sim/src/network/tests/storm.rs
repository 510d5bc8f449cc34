//! Thousands of random acts, with and without faults.

use std::collections::BTreeMap;

use super::*;
use crate::plan::Rates;

/// What is known of an end from outside.
#[derive(Default)]
struct End {
    written: Vec<u8>,
    /// What has come to it.
    read: Vec<u8>,
    is_open: bool,
    wants_room: bool,
}

struct Storm {
    bench: Bench,
    rng: Rng,
    /// What is written comes from here.
    pool: Vec<u8>,
    ends: BTreeMap<(ConnId, Side), End>,
    /// Ends that their processes have closed: what they had written.
    closed: BTreeMap<(ConnId, Side), Vec<u8>>,
    harmed: bool,
    hash: u64,
}

impl Storm {
    fn new(seed: u64, rates: Rates) -> Self {
        let mut plan = Plan::calm(seed, 1, 1);
        plan.hosts = vec![2, 1, 3];
        plan.network.far.late_ppm = 10_000;
        plan.network.rates = rates;
        plan.limits.socket_bytes = 100_000;
        let mut rng = Rng::new(seed ^ 1);
        Storm {
            bench: Bench::new(&plan),
            pool: (0..100_000).map(|_| rng.next_u64() as u8).collect(),
            rng,
            ends: BTreeMap::new(),
            closed: BTreeMap::new(),
            harmed: rates != Rates::default(),
            hash: 0,
        }
    }

    fn run(mut self, acts: u32, cruel: bool) -> Self {
        for _ in 0..acts {
            match self.rng.below(100) {
                0..3 => self.dial(),
                3..60 => self.write(),
                60..62 => self.shut(),
                62..64 => self.harm(cruel),
                _ => drop(self.bench.step(u64::MAX)),
            }
            self.hear();
        }
        self.bench.act(|network, now, planned| network.heal(now, planned));
        while self.bench.step(u64::MAX) {
            self.hear();
        }
        self
    }

    fn dial(&mut self) {
        let (from, to) = (self.rng.below(6) as u32, self.rng.below(5) as u32);
        let conn = self.bench.dial(from, if to == from { 5 } else { to });
        self.ends.extend(Side::BOTH.map(|side| ((conn, side), End::default())));
    }

    fn any_end(&mut self) -> Option<(ConnId, Side)> {
        let open: Vec<_> = self.ends.iter().filter(|(_, end)| end.is_open).map(|(name, _)| *name).collect();
        (!open.is_empty()).then(|| open[self.rng.below(open.len() as u64) as usize])
    }

    fn write(&mut self) {
        let Some(name) = self.any_end() else { return };
        let len_max = [10, 1_000, 50_000][self.rng.below(3) as usize];
        let (start, len) = (self.rng.below(50_000) as usize, self.rng.below(len_max) as usize);
        let bytes = &self.pool[start..start + len];
        let taken = self.bench.write(name.0, name.1, bytes);
        let end = self.ends.get_mut(&name).expect("it was chosen from these");
        end.written.extend(&bytes[..taken]);
        end.wants_room |= taken < bytes.len();
    }

    fn shut(&mut self) {
        let Some((conn, side)) = self.any_end() else { return };
        self.bench.shut(conn, side);
        let end = self.ends.remove(&(conn, side)).expect("it was chosen from these");
        self.closed.insert((conn, side), end.written);
    }

    /// Cuts and mends, always; resets, crashes and silence, if it is to be cruel.
    fn harm(&mut self, cruel: bool) {
        let (one, other) = (self.rng.below(3) as u32, self.rng.below(3) as u32);
        let node = self.rng.below(6) as u32;
        match self.rng.below(if cruel { 9 } else { 4 }) {
            0 => self.bench.network.cut(&[one], &[other]),
            1..4 => self.bench.mend(&[one], &[other]),
            4 => self.bench.act(|network, now, planned| network.reset(now, one, node, planned)),
            5 => self.bench.act(|network, now, planned| network.crash(now, node, planned)),
            6 => self.bench.network.listening(node, true),
            7 => self.bench.act(|network, now, planned| network.lose_host(now, one, planned)),
            _ => self.bench.act(|network, now, planned| network.restore_host(now, one, planned)),
        }
        self.harmed |= cruel;
    }

    fn hear(&mut self) {
        for (at, happening) in std::mem::take(&mut self.bench.happened) {
            self.hash = (self.hash ^ at).wrapping_mul(0x100_0000_01b3).rotate_left(23);
            match happening {
                Happening::Dialled(conn) => self.open(conn, Side::Acceptor),
                Happening::Connected(conn) => self.open(conn, Side::Dialler),
                Happening::Refused(conn) => self.refuse(conn),
                Happening::Arrived { conn, side, bytes } => self.arrive(conn, side, &bytes),
                Happening::Room { conn, side } => {
                    let end = self.ends.get_mut(&(conn, side)).expect("an end that is over is not told");
                    assert!(std::mem::take(&mut end.wants_room), "nobody has asked for room");
                }
                Happening::Ended { conn, side } => self.over(conn, side),
                Happening::Reset { conn, side } => {
                    assert!(self.harmed);
                    self.over(conn, side);
                }
                Happening::Note(_) => assert!(self.harmed),
            }
        }
    }

    fn open(&mut self, conn: ConnId, side: Side) {
        let end = self.ends.get_mut(&(conn, side)).expect("it was dialled");
        assert!(!std::mem::replace(&mut end.is_open, true));
    }

    /// The acceptor may have written, if only the answer was held up.
    fn refuse(&mut self, conn: ConnId) {
        let end = self.ends.remove(&(conn, Side::Dialler)).expect("it was dialled");
        assert!(!end.is_open);
        self.closed.insert((conn, Side::Dialler), Vec::new());
    }

    fn arrive(&mut self, conn: ConnId, side: Side, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.hash ^= u64::from(crc32fast::hash(bytes));
        let end = self.ends.get_mut(&(conn, side)).expect("nothing comes to an end that is over");
        assert!(end.is_open);
        end.read.extend(bytes);
    }

    fn over(&mut self, conn: ConnId, side: Side) {
        let end = self.ends.get_mut(&(conn, side)).expect("an end is over only once");
        assert!(std::mem::replace(&mut end.is_open, false));
    }
}

#[test]
fn without_harm_every_byte_arrives_once_and_in_order() {
    for seed in 0..20 {
        let storm = Storm::new(seed, Rates::default()).run(10_000, false);
        let mut bytes = 0;
        for ((conn, side), end) in &storm.ends {
            let other = (*conn, side.other());
            let written = storm.ends.get(&other).map(|other| &other.written);
            let written = written.or_else(|| storm.closed.get(&other)).expect("there are two ends");
            assert!(end.read == *written, "seed {seed}, connection {conn}: other bytes came");
            bytes += end.read.len();
        }
        assert!(bytes > 1_000_000, "seed {seed}: only {bytes} bytes came");
    }
}

#[test]
fn all_room_that_was_asked_for_is_given() {
    for seed in 0..20 {
        let storm = Storm::new(seed, Rates::default()).run(3_000, false);
        assert!(storm.ends.values().all(|end| !end.is_open || !end.wants_room), "seed {seed}");
    }
}

#[test]
fn with_any_harm_the_rules_hold_and_nothing_is_left_over() {
    let ppm = 5_000;
    let rates =
        Rates { lost_ppm: ppm, doubled_ppm: ppm, altered_ppm: ppm, truncated_ppm: ppm, reset_ppm: ppm };
    for seed in 0..100 {
        let mut storm = Storm::new(seed, rates).run(3_000, true);
        (0..3).for_each(|host| {
            storm.bench.act(|network, now, planned| network.restore_host(now, host, planned))
        });
        (0..6).for_each(|node| storm.bench.act(|network, now, planned| network.crash(now, node, planned)));
        storm.bench.run();
        // Who has heard nothing from a host that lost its memory is left; it finds out when it writes.
        let open: Vec<_> = storm.ends.iter().filter(|(_, end)| end.is_open).map(|(name, _)| *name).collect();
        open.into_iter().for_each(|(conn, side)| storm.bench.shut(conn, side));
        assert_eq!(storm.bench.network.connections(), 0, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_events() {
    let rates = Rates { lost_ppm: 10_000, altered_ppm: 10_000, reset_ppm: 1_000, ..Rates::default() };
    let hash = |seed| Storm::new(seed, rates).run(3_000, true).hash;
    assert_eq!(hash(5), hash(5));
    assert_ne!(hash(5), hash(6));
}
