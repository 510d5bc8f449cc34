//! Stub.
use super::plan::Plan;
use crate::rng::Rng;
use std::collections::BTreeMap;
pub(crate) type ConnId = u32;
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Dialler,
    Acceptor,
}
pub(crate) enum Event {
    Happen(Happening),
}
pub(crate) enum Happening {
    Dialled(ConnId),
    Connected(ConnId),
    Refused(ConnId),
    Arrived { conn: ConnId, side: Side, bytes: Vec<u8> },
    Room { conn: ConnId, side: Side },
    Reset { conn: ConnId, side: Side },
    Note(&'static str),
}
pub(crate) struct Network {
    rng: Rng,
    conns: BTreeMap<ConnId, (u32, u32)>,
    next: u32,
    last: BTreeMap<(ConnId, Side), u64>,
    lastc: BTreeMap<(u32, u32), u64>,
    up: BTreeMap<u32, bool>,
}
type P = Vec<(u64, Event)>;
fn other(s: Side) -> Side {
    if s == Side::Dialler { Side::Acceptor } else { Side::Dialler }
}
impl Network {
    pub fn new(_: &Plan, rng: Rng) -> Self {
        Network {
            rng,
            conns: BTreeMap::new(),
            next: 0,
            last: BTreeMap::new(),
            lastc: BTreeMap::new(),
            up: BTreeMap::new(),
        }
    }
    fn lat(&mut self) -> u64 {
        5000 + self.rng.below(40000)
    }
    pub fn listen(&mut self, node: u32, on: bool) {
        self.up.insert(node, on);
    }
    pub fn acceptor(&self, conn: ConnId) -> Option<u32> {
        self.conns.get(&conn).map(|c| c.1)
    }
    pub fn dial(&mut self, now: u64, from: u32, to: u32, planned: &mut P) -> ConnId {
        self.next += 1;
        let c = self.next;
        let at = now + self.lat();
        self.conns.insert(c, (from, to));
        if self.up.get(&to) == Some(&true) {
            planned.push((at, Event::Happen(Happening::Dialled(c))));
            planned.push((at + 100, Event::Happen(Happening::Connected(c))));
            self.last.insert((c, Side::Dialler), at + 100);
        } else {
            planned.push((at, Event::Happen(Happening::Refused(c))));
        }
        c
    }
    fn fifo(&mut self, now: u64, conn: ConnId, to: Side) -> u64 {
        let l = self.lat();
        let last = self.last.entry((conn, to)).or_default();
        *last = (now + l).max(*last + 1);
        *last
    }
    pub fn write(&mut self, now: u64, conn: ConnId, side: Side, bytes: &[u8], planned: &mut P) -> usize {
        let at = self.fifo(now, conn, other(side));
        planned
            .push((at, Event::Happen(Happening::Arrived { conn, side: other(side), bytes: bytes.to_vec() })));
        bytes.len()
    }
    pub fn shut(&mut self, now: u64, conn: ConnId, side: Side, planned: &mut P) {
        let at = self.fifo(now, conn, other(side));
        planned.push((at, Event::Happen(Happening::Reset { conn, side: other(side) })));
    }
    pub fn happen(&mut self, _now: u64, event: Event, _planned: &mut P, out: &mut Vec<Happening>) {
        let Event::Happen(h) = event;
        out.push(h);
    }
    pub fn crash(&mut self, now: u64, node: u32, planned: &mut P) {
        self.up.insert(node, false);
        let these: Vec<_> = self
            .conns
            .iter()
            .filter(|(_, (a, b))| *a == node || *b == node)
            .map(|(c, (a, _))| (*c, if *a == node { Side::Dialler } else { Side::Acceptor }))
            .collect();
        for (c, s) in these {
            self.conns.remove(&c);
            self.shut(now, c, s, planned);
        }
    }
    pub fn lose_host(&mut self, _: u64, _: u32) {}
    pub fn reset(&mut self, now: u64, one: u32, other_: u32, planned: &mut P) {
        let these: Vec<_> = self
            .conns
            .iter()
            .filter(|(_, c)| **c == (one, other_) || **c == (other_, one))
            .map(|(c, _)| *c)
            .collect();
        for c in these {
            self.shut(now, c, Side::Dialler, planned);
            self.shut(now, c, Side::Acceptor, planned);
        }
    }
    pub fn cut(&mut self, _: &[u32], _: &[u32]) {}
    pub fn mend(&mut self, _: u64, _: &[u32], _: &[u32], _: &mut P) {}
    pub fn alter_next(&mut self, _: u32, _: u32) {}
    pub fn truncate_next(&mut self, _: u32, _: u32) {}
    pub fn heal(&mut self, _: u64, _: &mut P) {}
    pub fn host_control(&mut self, now: u64, a: u32, b: u32, _: usize) -> Option<u64> {
        let l = self.lat();
        let last = self.lastc.entry((a, b)).or_default();
        *last = (now + l).max(*last);
        Some(*last)
    }
}
