//! Which nodes are to be killed, and when (`--kill`, `--chaos`).
//!
//! Pure: told the time since the program began, and the steps it reports.

use std::time::Duration;

use talisman_base::rng::Rng;
use talisman_job::NotInjected;
use talisman_job::faults::{Chaos, Kill, When};
use talisman_observe::sometimes::sometimes;

/// What is still to be done.
#[derive(Clone, Debug)]
pub struct Kills {
    planned: Vec<Kill>,
    chaos: Option<Storm>,
    /// Those whose node was gone when they were due.
    missed: Vec<Due>,
}

/// Kills at random times.
#[derive(Clone, Debug)]
struct Storm {
    option: String,
    mtbf: Duration,
    rng: Rng,
    next: Duration,
    /// Whether anybody was hit.
    has_struck: bool,
}

/// A node to kill now, and the option that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub node: u32,
    pub option: String,
}

impl Kills {
    pub fn new(planned: &[Kill], chaos: Option<Chaos>) -> Self {
        Kills { planned: planned.to_vec(), chaos: chaos.map(Storm::new), missed: Vec::new() }
    }

    /// The same when the program has been running for so long, and has got so far: what was to happen until then has.
    pub fn after(mut self, running: Duration, step: u64) -> Self {
        self.planned.retain(|kill| match kill.when {
            When::Step(at) => at > step,
            When::After(at) => at > running,
        });
        if let Some(storm) = &mut self.chaos {
            while storm.next <= running {
                storm.next = storm.next.saturating_add(storm.pause());
                storm.has_struck = true;
            }
        }
        self
    }

    /// One that was due could not be done: its node was gone.
    pub fn on_missed(&mut self, due: Due) {
        self.missed.push(due);
    }

    /// What has not happened in a job that has ended, whose program has reported so many steps.
    pub fn not_injected(self, steps: u64) -> Vec<NotInjected> {
        let missed = self.missed.into_iter().map(|due| {
            let why = format!("node {} was gone by then", due.node);
            NotInjected { option: due.option, why }
        });
        let planned = self.planned.iter().map(|kill| NotInjected {
            option: format!("--kill {kill}"),
            why: match kill.when {
                When::Step(_) if steps == 0 => "the program has reported no step".into(),
                When::Step(at) if at > steps => format!("the last step of the program was {steps}"),
                When::Step(_) | When::After(_) => "the job had ended by then".into(),
            },
        });
        let chaos = self.chaos.filter(|storm| !storm.has_struck).map(|storm| NotInjected {
            option: storm.option,
            why: "the job had ended before the first node was to be killed".into(),
        });
        missed.chain(planned).chain(chaos).collect()
    }

    /// The steps at which something is to happen, in increasing order.
    pub fn watched(&self) -> Vec<u64> {
        let mut steps: Vec<u64> = self.planned.iter().filter_map(step_of).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The program has reported a step: who is to be killed before it goes on.
    pub fn on_step(&mut self, step: u64) -> Vec<Due> {
        self.take(|kill| step_of(kill).is_some_and(|at| at <= step))
    }

    /// Who is to be killed at this time; at random only among the living.
    pub fn on_time(&mut self, now: Duration, living: &[u32]) -> Vec<Due> {
        let mut due = self.take(|kill| matches!(kill.when, When::After(at) if at <= now));
        due.extend(self.chaos.iter_mut().filter_map(|storm| storm.strike(now, living)));
        due
    }

    fn take(&mut self, is_due: impl Fn(&Kill) -> bool) -> Vec<Due> {
        let due = self.planned.extract_if(.., |kill| is_due(kill));
        due.map(|kill| Due { node: kill.node, option: format!("--kill {kill}") }).collect()
    }
}

fn step_of(kill: &Kill) -> Option<u64> {
    match kill.when {
        When::Step(step) => Some(step),
        When::After(_) => None,
    }
}

impl Storm {
    fn new(chaos: Chaos) -> Self {
        let Chaos { mtbf, seed } = chaos;
        let option = format!("--chaos mtbf={mtbf:?},seed={seed}");
        let mut storm = Storm { option, mtbf, rng: Rng::new(seed), next: Duration::ZERO, has_struck: false };
        storm.next = storm.pause();
        storm
    }

    fn strike(&mut self, now: Duration, living: &[u32]) -> Option<Due> {
        if living.is_empty() || now < self.next {
            return None;
        }
        sometimes("a node was killed at random");
        self.next = self.next.saturating_add(self.pause());
        self.has_struck = true;
        let node = living[self.rng.below(living.len() as u64) as usize];
        Some(Due { node, option: self.option.clone() })
    }

    /// Failures that do not depend on each other are apart by times of this distribution, the exponential one.
    fn pause(&mut self) -> Duration {
        let seconds = self.mtbf.as_secs_f64() * -(1.0 - self.rng.unit_f64()).ln();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kills(options: &[&str]) -> Kills {
        let planned: Vec<Kill> = options.iter().map(|option| option.parse().unwrap()).collect();
        Kills::new(&planned, None)
    }

    fn nodes(due: &[Due]) -> Vec<u32> {
        due.iter().map(|due| due.node).collect()
    }

    #[test]
    fn each_kill_happens_once_when_it_is_due() {
        let mut kills = kills(&["1@step40", "2@2s", "3@step40", "0@step7"]);
        assert_eq!(kills.watched(), [7, 40]);
        assert!(kills.on_step(6).is_empty());
        assert_eq!(nodes(&kills.on_step(41)), [1, 3, 0]);
        assert!(kills.on_time(Duration::from_millis(1999), &[]).is_empty());
        let due = kills.on_time(Duration::from_secs(3), &[]);
        assert_eq!(due, [Due { node: 2, option: "--kill 2@2s".into() }]);
        assert!(kills.on_step(u64::MAX).is_empty() && kills.on_time(Duration::MAX, &[]).is_empty());
    }

    #[test]
    fn what_has_happened_does_not_happen_again_when_somebody_else_goes_on() {
        let kills = kills(&["1@step40", "2@2s", "3@step41", "0@5s"]);
        let mut kills = kills.after(Duration::from_secs(2), 40);
        assert_eq!(kills.watched(), [41]);
        assert_eq!(nodes(&kills.on_time(Duration::from_secs(9), &[])), [0]);
    }

    #[test]
    fn what_did_not_happen_is_known_at_the_end() {
        let told = |kills: Kills, steps| {
            let left = kills.not_injected(steps).into_iter();
            left.map(|one| format!("{}: {}", one.option, one.why)).collect::<Vec<_>>()
        };
        let all = kills(&["1@step400", "2@20s", "0@step7"]);
        let mut some = all.clone();
        let due = some.on_step(7).remove(0);
        let left = [
            "--kill 1@step400: the last step of the program was 100",
            "--kill 2@20s: the job had ended by then",
        ];
        assert_eq!(told(some.clone(), 100), left);
        some.on_missed(due);
        assert_eq!(told(some, 100)[0], "--kill 0@step7: node 0 was gone by then");
        assert_eq!(told(all, 0)[0], "--kill 1@step400: the program has reported no step");
        let mut storm = Kills::new(&[], Some(Chaos { mtbf: Duration::from_secs(5), seed: 1 }));
        assert!(told(storm.clone(), 1)[0].starts_with("--chaos mtbf=5s,seed=1: the job had ended"));
        assert!(told(storm.clone().after(Duration::from_secs(500), 1), 1).is_empty());
        assert_eq!(storm.on_time(Duration::from_secs(500), &[3]).len(), 1);
        assert!(told(storm, 1).is_empty());
    }

    #[test]
    fn chaos_strikes_the_living_as_often_as_asked_and_the_same_for_a_seed() {
        let strikes = |seed| {
            let chaos = Chaos { mtbf: Duration::from_secs(5), seed };
            let mut kills = Kills::new(&[], Some(chaos));
            let due = |second| nodes(&kills.on_time(Duration::from_secs(second), &[4, 9]));
            (0..5000).map(due).collect::<Vec<_>>()
        };
        let first = strikes(1);
        let count = first.concat().len();
        assert!((900..=1100).contains(&count), "{count} kills in 1000 times the mean");
        assert!(first.concat().iter().all(|node| [4, 9].contains(node)));
        assert_eq!(first, strikes(1));
        assert_ne!(first, strikes(2));
    }
}
