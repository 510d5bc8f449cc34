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
    let place = holding.place;
    let mut fair = fair(holding, level, known);
    let mut excess = match place.available {
        true => holding.load() - place.load(fair),
        false => f64::INFINITY,
    };
    let before = holding.seconds();
    let mut takers = Takers::new(known, host, fair);
    let mut spared: Option<Token> = None;
    let mut to = Vec::new();
    let tokens = holding.take(|token| {
        let taker = if token.load <= excess { takers.draw(token, rng) } else { None };
        let taker = taker.or_else(|| if place.available { None } else { takers.roomiest(token) });
        match taker {
            Some(taker) => {
                excess -= token.load;
                to.push(takers.give(taker, token));
            }
            // The last one seen of those above the excess is the smallest of them.
            None if token.load > excess => spared = Some(*token),
            None => (),
        }
        taker.is_some()
    });
    let mut given: Vec<(u32, Token)> = to.into_iter().zip(tokens).collect();
    if let Some(token) = spared.filter(|token| token.load < 2.0 * excess.max(0.0)) {
        if let Some((taker, after)) =
            takers.roomiest(&token).map(|taker| (taker, takers.seconds(taker, &token)))
        {
            if after < before {
                holding.take(|other| *other == token);
                given.push((takers.give(taker, &token), token));
                fair = fair.max(after);
            }
        }
    }
    let limit = if place.available { fair * (1.0 + f64::from(f32::EPSILON)) } else { f64::MAX };
    by_taker(given, limit)
}

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
const HOST_FACTOR: f64 = 4.0;

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

fn by_taker(mut given: Vec<(u32, Token)>, limit: f64) -> Vec<Gift> {
    given.sort_by_key(|(to, _)| *to);
    let chunks = given.chunk_by(|(a, _), (b, _)| a == b);
    let gift = |chunk: &[(u32, Token)]| Gift {
        to: chunk[0].0,
        limit,
        tokens: chunk.iter().map(|(_, token)| *token).collect(),
    };
    chunks.map(gift).collect()
}
