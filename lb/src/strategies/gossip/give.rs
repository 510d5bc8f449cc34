//! What a PE with too much offers to those that it has heard of.

use super::rumour::Peer;
use crate::distributed::holding::{Holding, Token};
use crate::rng::Rng;

/// Objects for a PE.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gift {
    pub to: u32,
    /// The receiver is to take them as long as it takes no more seconds than this.
    pub limit: f64,
    pub tokens: Vec<Token>,
}

/// Takes out of what a PE holds what it should give to others.
pub(crate) fn gifts(
    holding: &mut Holding,
    host: u32,
    level: f64,
    known: &[Peer],
    rng: &mut Rng,
) -> Vec<Gift> {
    let mut giver = Giver::new(holding, host, level, known);
    let tokens = holding.take(|token| giver.gives(token, rng));
    let given = giver.given.into_iter().zip(tokens).map(|((to, limit), token)| (to, limit, token));
    by_taker(given.collect())
}

/// A PE that has too much.
struct Giver {
    takers: Takers,
    available: bool,
    speed: f64,
    /// Seconds that it takes with what it has not given.
    seconds: f64,
    /// Seconds that it should take.
    fair: f64,
    /// By object given: to whom, and how long that one may take then.
    given: Vec<(u32, f64)>,
}

impl Giver {
    fn new(holding: &Holding, host: u32, level: f64, known: &[Peer]) -> Self {
        let fair = fair(holding, level, known);
        Giver {
            takers: Takers::new(known, host, fair),
            available: holding.place.available,
            speed: holding.place.speed,
            seconds: holding.seconds(),
            fair,
            given: Vec::new(),
        }
    }

    /// Whether it gives an object away; it is asked about those of the most load first.
    fn gives(&mut self, token: &Token, rng: &mut Rng) -> bool {
        let excess = (self.seconds - self.fair) * self.speed;
        let is_all_too_much = !self.available || token.load <= excess;
        let drawn = if is_all_too_much { self.takers.draw(token, rng) } else { None };
        let Some(taker) = drawn.or_else(|| self.takers.roomiest(token)) else { return false };
        let after = self.takers.seconds(taker, token);
        // Nobody lacks as much: it still helps if the other then takes less time than this PE now, by more than a little.
        let helps = after < self.seconds - token.load / self.speed / 2.0 && token.load < 2.0 * excess;
        if drawn.is_none() && self.available && !helps {
            return false;
        }
        let limit = if self.available { self.fair.max(after) * ROUNDED } else { f64::MAX };
        self.given.push((self.takers.give(taker, token), limit));
        self.seconds -= token.load / self.speed;
        true
    }
}

/// What is known of others is rounded.
const ROUNDED: f64 = 1.0 + f32::EPSILON as f64;

/// The level, or, if those known of cannot take all that is above it, what they and the PE would all take with even loads.
fn fair(holding: &Holding, level: f64, known: &[Peer]) -> f64 {
    let place = holding.place;
    let speed = if place.available { place.speed } else { 0.0 };
    let own = if place.available { place.background * speed + holding.load() } else { holding.movable() };
    let work = own + known.iter().map(|peer| f64::from(peer.work)).sum::<f64>();
    let speeds = speed + known.iter().map(|peer| f64::from(peer.speed)).sum::<f64>();
    if speeds > 0.0 { level.max(work / speeds) } else { level }
}

/// Whom objects may be given to.
struct Takers {
    all: Vec<Taker>,
    /// Sum of their weights.
    weight: f64,
}

struct Taker {
    peer: Peer,
    /// Load that it lacks.
    gap: f64,
    /// How much sooner one on the same host is drawn.
    factor: f64,
}

/// Moves inside a host are cheap, so those there are drawn as if they lacked so many times more.
const HOST_FACTOR: f64 = 64.0;

/// Draws before an object is given to nobody: by then those with room for it are few.
const DRAWS: u32 = 6;

impl Takers {
    fn new(known: &[Peer], host: u32, fair: f64) -> Self {
        let taker = |peer: &Peer| Taker {
            gap: (fair * f64::from(peer.speed) - f64::from(peer.work)).max(0.0),
            factor: if peer.host == host { HOST_FACTOR } else { 1.0 },
            peer: *peer,
        };
        let all: Vec<_> = known.iter().map(taker).collect();
        let weight = all.iter().map(Taker::weight).sum();
        Takers { all, weight }
    }

    /// One at random, by what they lack, that has room for the object.
    fn draw(&self, token: &Token, rng: &mut Rng) -> Option<usize> {
        let fits = |taker: &usize| self.all[*taker].gap >= token.load && self.all[*taker].has_room(token);
        (0..DRAWS).find_map(|_| Some(self.drawn(rng.unit() * self.weight)?).filter(fits))
    }

    fn drawn(&self, mut at: f64) -> Option<usize> {
        for (number, taker) in self.all.iter().enumerate() {
            at -= taker.weight();
            if at < 0.0 {
                return Some(number);
            }
        }
        self.all.len().checked_sub(1)
    }

    /// The one that would be done first.
    fn roomiest(&self, token: &Token) -> Option<usize> {
        let with_room = (0..self.all.len()).filter(|taker| self.all[*taker].has_room(token));
        with_room.min_by(|a, b| self.seconds(*a, token).total_cmp(&self.seconds(*b, token)))
    }

    /// Seconds that it would take with the object.
    fn seconds(&self, taker: usize, token: &Token) -> f64 {
        let peer = &self.all[taker].peer;
        (f64::from(peer.work) + token.load) / f64::from(peer.speed)
    }

    fn give(&mut self, taker: usize, token: &Token) -> u32 {
        let taker = &mut self.all[taker];
        let weight = taker.weight();
        taker.gap = (taker.gap - token.load).max(0.0);
        taker.peer.work += token.load as f32;
        taker.peer.room = taker.peer.room.saturating_sub_unsigned(token.bytes);
        self.weight += taker.weight() - weight;
        taker.peer.pe
    }
}

impl Taker {
    fn weight(&self) -> f64 {
        self.gap * self.factor
    }

    fn has_room(&self, token: &Token) -> bool {
        i64::try_from(token.bytes).is_ok_and(|bytes| bytes <= self.peer.room)
    }
}

fn by_taker(mut given: Vec<(u32, f64, Token)>) -> Vec<Gift> {
    given.sort_by_key(|(to, ..)| *to);
    let gift = |chunk: &[(u32, f64, Token)]| Gift {
        to: chunk[0].0,
        limit: chunk.iter().fold(0.0, |limit: f64, (_, of_one, _)| limit.max(*of_one)),
        tokens: chunk.iter().map(|(.., token)| *token).collect(),
    };
    given.chunk_by(|(a, ..), (b, ..)| a == b).map(gift).collect()
}
