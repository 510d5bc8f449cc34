//! Where an agent without a launcher looks for one, and when it gives up.
//!
//! Pure: real agents and simulated ones ask it what to do, and tell it what came of that. Time is counted from any moment, the same one
//! for all calls.

use std::net::SocketAddr;
use std::time::Duration;

use crate::heartbeat::TICK;
use crate::search::{Patience, Search};
use crate::succession::quorum::Roll;

/// A process that was started here has answered within this.
pub const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// So many processes are started in one search that lead: those that end at once shall not go on for ever.
const LEADS: u32 = 8;

/// An agent's search.
#[derive(Clone, Debug)]
pub struct Discovery {
    own: u32,
    roll: Roll,
    search: Search,
    /// When a process was started here that leads.
    led_since: Option<Duration>,
    /// How many were.
    leads: u32,
    /// So many ticks that one has said nothing.
    silent: u32,
    limit: u32,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A process is to be started here that takes the launcher's place.
    Lead,
    /// Somebody may be found at this address.
    Try(SocketAddr),
    /// The process that was started here does not answer, or nobody could find it.
    GiveUp,
}

/// What a host hears from another that it asks for the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Somebody listens, and does not know more yet.
    Wait,
    /// The job goes on without this host, if at all.
    Out,
    /// Anything else: only a launcher says it.
    Leads,
}

/// What a word means to one that looks for a launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Somebody listens, and does not know more yet.
    Waits,
    /// The job goes on without this host, if at all.
    Out,
    /// Whoever says this leads.
    Leads,
}

impl Discovery {
    /// Of the host of this rank, which waits for each of the others within this limit of silence.
    pub fn new(own: u32, roll: Roll, silence: Duration) -> Self {
        let ticks = silence.as_millis().div_ceil(TICK.as_millis());
        let limit = u32::try_from(ticks).unwrap_or(u32::MAX);
        Discovery { own, roll, search: Search::new(own, limit), led_since: None, leads: 0, silent: 0, limit }
    }

    /// What is to be done now.
    pub fn next(&mut self, now: Duration) -> Step {
        loop {
            let candidate = self.search.candidate();
            if candidate == self.own {
                let Some(since) = self.led_since else {
                    if self.leads == LEADS {
                        return Step::GiveUp;
                    }
                    (self.led_since, self.leads) = (Some(now), self.leads + 1);
                    return Step::Lead;
                };
                if now.saturating_sub(since) > STARTS_WITHIN {
                    return Step::GiveUp;
                }
            }
            match self.roll.door(candidate) {
                Some(door) => return Step::Try(door),
                None if candidate == self.own => return Step::GiveUp,
                None => self.search.on_dead(),
            }
        }
    }

    /// Whether a process was started here that leads, and is not known to have ended.
    pub fn has_led(&self) -> bool {
        self.led_since.is_some()
    }

    /// That process has ended before this search found it. All hosts are looked at again: another may have found none here, and lead.
    pub fn on_led_ended(&mut self) {
        (self.search, self.led_since, self.silent) = (Search::new(self.own, self.limit), None, 0);
    }

    /// Whoever it tries is dead.
    pub fn on_dead(&mut self) {
        self.search.on_dead();
    }

    /// It has tried for so long, at least for a tick, and knows nothing.
    pub fn on_nobody(&mut self, tried: Duration) {
        let ticks = tried.as_millis() / TICK.as_millis();
        let _ = (0..ticks.max(1)).any(|_| self.on_tick());
    }

    /// A tick without a word. Unlike on one's own host, it cannot be made sure that whoever says nothing is dead: that there are enough
    /// others has to do. Whether that one is waited for no longer.
    pub fn on_tick(&mut self) -> bool {
        if self.search.candidate() == self.own {
            // Whether it is given up is for the next step to say.
            self.silent += 1;
            return self.silent > self.limit;
        }
        let is_late = self.search.on_tick() == Patience::Fence;
        if is_late {
            self.search.on_dead();
        }
        is_late
    }

    /// Whoever it tries says this.
    pub fn on_word(&mut self, word: Word) -> Answer {
        match word {
            Word::Wait => {
                self.search.on_word();
                self.silent = 0;
                Answer::Waits
            }
            Word::Out => Answer::Out,
            Word::Leads => Answer::Leads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(rank: u32) -> SocketAddr {
        ([127, 0, 0, 1], rank as u16 + 1).into()
    }

    /// Of the third of three hosts.
    fn quest() -> Discovery {
        let doors = (0..3).map(|rank| Some(door(rank))).collect();
        let roll = Roll { number: 1, keeper: 0, members: (0..3).collect(), doors };
        Discovery::new(2, roll, TICK * 2)
    }

    #[test]
    fn hosts_are_tried_in_their_order_and_the_own_one_leads_last() {
        let mut quest = quest();
        assert_eq!(quest.next(Duration::ZERO), Step::Try(door(0)));
        quest.on_dead();
        assert_eq!(quest.next(Duration::ZERO), Step::Try(door(1)));
        quest.on_nobody(TICK * 2);
        assert_eq!(quest.next(Duration::ZERO), Step::Try(door(1)), "it has more time");
        quest.on_nobody(Duration::ZERO);
        assert_eq!([quest.next(TICK), quest.next(TICK)], [Step::Lead, Step::Try(door(2))]);
        assert_eq!(quest.next(TICK + STARTS_WITHIN), Step::Try(door(2)));
        assert_eq!(quest.next(TICK * 2 + STARTS_WITHIN), Step::GiveUp);
    }

    #[test]
    fn who_says_that_it_is_there_is_waited_for() {
        let mut quest = quest();
        for _ in 0..9 {
            assert_eq!([quest.on_tick(), quest.on_tick()], [false; 2]);
            assert_eq!(quest.on_word(Word::Wait), Answer::Waits);
        }
        assert_eq!(quest.next(Duration::ZERO), Step::Try(door(0)));
        assert_eq!([quest.on_tick(), quest.on_tick(), quest.on_tick()], [false, false, true]);
        assert_eq!(quest.next(Duration::ZERO), Step::Try(door(1)));
    }

    #[test]
    fn the_process_that_was_started_here_is_not_waited_for_without_end() {
        let mut quest = quest();
        (0..2).for_each(|_| quest.on_dead());
        assert_eq!(quest.next(Duration::ZERO), Step::Lead);
        assert_eq!([quest.on_tick(), quest.on_tick(), quest.on_tick()], [false, false, true]);
        assert_eq!(quest.next(STARTS_WITHIN), Step::Try(door(2)), "perhaps it answers now");
        assert!(quest.on_tick());
        assert_eq!(quest.next(STARTS_WITHIN * 2), Step::GiveUp);
    }

    #[test]
    fn when_the_process_that_was_started_here_ends_all_hosts_are_looked_at_again() {
        let mut quest = quest();
        for _ in 0..LEADS {
            assert!(!quest.has_led());
            (0..2).for_each(|rank| {
                assert_eq!(quest.next(Duration::ZERO), Step::Try(door(rank)));
                quest.on_dead();
            });
            assert_eq!(quest.next(Duration::ZERO), Step::Lead);
            assert!(quest.has_led());
            quest.on_led_ended();
        }
        (0..2).for_each(|_| quest.on_dead());
        assert_eq!(quest.next(Duration::ZERO), Step::GiveUp, "they always end");
    }

    #[test]
    fn hosts_that_are_not_on_the_roll_are_passed_over() {
        let mut quest = quest();
        quest.roll.members.remove(&0);
        quest.roll.doors[1] = None;
        assert_eq!([quest.next(TICK), quest.next(TICK)], [Step::Lead, Step::Try(door(2))]);
        quest.roll.doors[2] = None;
        assert_eq!(quest.next(TICK), Step::GiveUp, "nobody finds it, and it does not look for ever");
    }
}
