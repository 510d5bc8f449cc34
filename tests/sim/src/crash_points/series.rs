//! What strikes at which steps.

use talisman::rng::Rng;

use crate::case::{Blow, Case, Strike, Strikes};
use crate::played::Played;
use crate::verdict::borne_ns;

/// What happens at the steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Series {
    /// Each node, and the launcher, is killed
    #[default]
    Crashes,
    /// The same, and somebody else is killed at a random step soon after
    Pairs,
    /// Each node is killed at some steps, and somebody else at every step of what follows: the job survives losses
    Recover,
    /// The launcher is killed, and at some of the steps whoever takes its place, soon after: the job survives that
    Takeover,
    /// Each host but the launcher's loses its power
    Hosts,
    /// Each node is stopped for as long as has to be borne
    Stops,
    /// Each node is stopped for longer than that
    LongStops,
    /// All connections are reset
    Resets,
}

/// A job that has lost a node is over after some hundred steps.
const SOON: u64 = 400;
/// When a job has got over a loss it is struck for so many steps more: something of it may still be under way.
const MARGIN: u64 = 100;

/// Somebody is struck, and after that somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct First {
    strike: Strike,
    /// What follows from it is over by this step.
    until: u64,
}

impl First {
    /// What follows from this strike, if nothing else happens, is as the run was.
    pub(super) fn followed(strike: Strike, run: &Played) -> First {
        First { strike, until: run.recovered.map_or(run.steps, |step| (step + MARGIN).min(run.steps)) }
    }

    /// How many steps may be struck after it.
    pub(super) fn follow(&self) -> u64 {
        self.until.saturating_sub(self.strike.step + 1)
    }

    /// It alone, and then, at one in so many of the steps that follow, from some step on, one of the others by turns.
    fn and_then(self, others: Vec<Blow>, from: u64, every: u64) -> impl Iterator<Item = Strikes> + Send {
        let steps = (self.strike.step + 1 + from..self.until).step_by(every as usize);
        let second = move |(step, blow)| Strikes(vec![self.strike, Strike { blow, step }]);
        let pairs = steps.zip(others.into_iter().cycle()).map(second);
        std::iter::once(Strikes(vec![self.strike])).chain(pairs)
    }
}

impl Series {
    /// How many first strikes there are for each who is struck first, where it matters what follows from each.
    pub(super) fn firsts_each(self) -> u64 {
        match self {
            Series::Recover => 4,
            Series::Takeover => 8,
            _ => 0,
        }
    }

    /// The first strikes on a run of so many steps, so many for each who is struck first: what follows from each has to be known.
    pub(super) fn firsts(self, case: &Case, steps: u64, each: u64) -> Vec<Strike> {
        let mut rng = Rng::new(case.seed);
        let blows = self.blows(case).into_iter().filter(|_| self.survives());
        let of_one = |blow| (0..each).map(move |_| blow);
        blows.flat_map(of_one).map(|blow| Strike { blow, step: rng.below(steps.max(1)) }).collect()
    }

    /// All strikes on a run of so many steps, at one in so many of them. Which steps are left out is another matter for each
    /// who is struck, so that few are left out for all.
    pub(super) fn strikes(
        self,
        case: &Case,
        steps: u64,
        firsts: Vec<First>,
        every: u64,
    ) -> impl Iterator<Item = Strikes> + Send + use<> {
        match self {
            Series::Recover => return Left(recoveries(case, firsts, every)),
            Series::Takeover => return Middle(takeovers(case, steps, firsts, every)),
            _ => {}
        }
        let blows = self.blows(case);
        let (seed, of) = (case.seed, blows.len().max(1) as u64);
        let first = move |turn: usize| seed.wrapping_add(turn as u64 * every / of) % every;
        let all = blows.clone().into_iter().enumerate().flat_map(move |(turn, blow)| {
            let blows = blows.clone();
            (first(turn)..steps).step_by(every as usize).map(move |step| {
                let second = (self == Series::Pairs).then(|| second(&blows, turn, seed, step));
                Strikes([Strike { blow, step }].into_iter().chain(second).collect())
            })
        });
        Right(all)
    }

    /// Whether it is about jobs that survive losses.
    pub(super) fn survives(self) -> bool {
        matches!(self, Series::Recover | Series::Takeover)
    }

    fn blows(self, case: &Case) -> Vec<Blow> {
        let (nodes, hosts) = (case.nodes(), case.hosts.len() as u32);
        let borne_ms = borne_ns(case.silence) / 1_000_000;
        match self {
            Series::Crashes | Series::Pairs => (0..nodes).map(Blow::Crash).chain([Blow::Launcher]).collect(),
            Series::Recover => (0..nodes).map(Blow::Crash).collect(),
            Series::Takeover => vec![Blow::Launcher],
            Series::Hosts => (1..hosts).map(Blow::Host).collect(),
            Series::Stops => (0..nodes).map(|node| Blow::Stop(node, borne_ms)).collect(),
            Series::LongStops => (0..nodes).map(|node| Blow::Stop(node, 3 * borne_ms + 2_000)).collect(),
            Series::Resets => vec![Blow::Resets],
        }
    }
}

/// After each first loss, by turns, each of the others is lost, and whoever is there in the place of who was lost first.
fn recoveries(case: &Case, firsts: Vec<First>, every: u64) -> impl Iterator<Item = Strikes> + Send + use<> {
    let mut rng = Rng::new(case.seed);
    let (nodes, is_replaced) = (case.nodes(), case.respawn || !case.staffing.spares.is_empty());
    let waiting = case.waiting();
    firsts.into_iter().flat_map(move |first| {
        let (from, Blow::Crash(lost)) = (rng.below(every), first.strike.blow) else { unreachable!() };
        let others = (1..nodes).map(|turn| (lost + turn) % nodes);
        let others = others.chain(is_replaced.then_some(lost)).chain(waiting.clone());
        first.and_then(others.map(Blow::Crash).collect(), from, every)
    })
}

/// The launcher is killed at one in so many of the steps, and at some of them, by turns, whoever leads or is about to, or another node, at one
/// in so many of the steps after that.
fn takeovers(
    case: &Case,
    steps: u64,
    firsts: Vec<First>,
    every: u64,
) -> impl Iterator<Item = Strikes> + Send + use<> {
    let launcher = |step| Strikes(vec![Strike { blow: Blow::Launcher, step }]);
    let alone = (case.seed % every..steps).step_by(every as usize).map(launcher);
    let mut rng = Rng::new(case.seed);
    let others = vec![Blow::Crash(0), Blow::Launcher, Blow::Crash(1 % case.nodes())];
    alone.chain(
        firsts.into_iter().flat_map(move |first| first.and_then(others.clone(), rng.below(every), every)),
    )
}

/// Somebody else, soon after: as often at once as much later, by orders of magnitude.
fn second(blows: &[Blow], first: usize, seed: u64, step: u64) -> Strike {
    let mut rng = Rng::new(seed ^ step << 8 ^ first as u64);
    let others = blows.len() - 1;
    let other = (first + 1 + rng.below(others as u64) as usize) % blows.len();
    let later = (SOON as f64).powf(rng.unit_f64()) as u64;
    Strike { blow: blows[other], step: step + later }
}

/// One of three series.
enum Either<A, B, C> {
    Left(A),
    Middle(B),
    Right(C),
}

use Either::{Left, Middle, Right};

impl<A, B, C> Iterator for Either<A, B, C>
where
    A: Iterator<Item = Strikes>,
    B: Iterator<Item = Strikes>,
    C: Iterator<Item = Strikes>,
{
    type Item = Strikes;

    fn next(&mut self) -> Option<Strikes> {
        match self {
            Left(all) => all.next(),
            Middle(all) => all.next(),
            Right(all) => all.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Overrides;

    fn case(more: Overrides) -> Case {
        let overrides = Overrides { hosts: Some("1,2".parse().expect("hosts")), ..more };
        Case::draw(1, &overrides).expect("it can be drawn")
    }

    fn strikes(series: Series, steps: u64, every: u64) -> Vec<String> {
        let case = case(Overrides { strikes: Some(Strikes::default()), ..Overrides::default() });
        // What follows from each takes 20 steps, beside the margin.
        let run = |strike: Strike| Played {
            steps: 10_000,
            recovered: Some(strike.step + 1 + 20),
            ..Played::default()
        };
        let firsts = series.firsts(&case, steps, series.firsts_each());
        let firsts = firsts.into_iter().map(|strike| First::followed(strike, &run(strike))).collect();
        series.strikes(&case, steps, firsts, every).map(|strikes| strikes.to_string()).collect()
    }

    fn pair(text: &str) -> (Strike, Option<Strike>) {
        let Strikes(pair) = text.parse().expect("it is of the form");
        (pair[0], pair.get(1).copied())
    }

    #[test]
    fn everybody_is_struck_at_every_step() {
        assert_eq!(
            strikes(Series::Crashes, 2, 1),
            ["0@0", "0@1", "1@0", "1@1", "2@0", "2@1", "launcher@0", "launcher@1"]
        );
        assert_eq!(strikes(Series::Hosts, 2, 1), ["host1@0", "host1@1"]);
        assert_eq!(strikes(Series::Resets, 3, 1), ["resets@0", "resets@1", "resets@2"]);
        assert_eq!(strikes(Series::Stops, 5, 1).len(), 15);
    }

    #[test]
    fn different_steps_are_left_out_for_each() {
        assert_eq!(strikes(Series::Crashes, 5, 4), ["0@1", "1@2", "2@3", "launcher@0", "launcher@4"]);
    }

    #[test]
    fn somebody_else_is_killed_at_every_step_of_a_recovery() {
        let all = strikes(Series::Recover, 100, 1);
        let each = 1 + 20 + MARGIN;
        assert_eq!(all.len() as u64, 3 * Series::Recover.firsts_each() * each);
        for of_one in all.chunks(each as usize) {
            let (first, none) = pair(&of_one[0]);
            assert_eq!(none, None, "alone first");
            for (later, text) in of_one[1..].iter().enumerate() {
                let (again, Some(second)) = pair(text) else { panic!("{text}") };
                assert!(again == first && second.blow != first.blow, "{text}");
                assert_eq!(second.step, first.step + 1 + later as u64);
            }
        }
    }

    #[test]
    fn if_a_job_does_not_get_over_a_loss_all_steps_of_it_count() {
        let strike = Strike { blow: Blow::Crash(0), step: 7 };
        let first =
            |recovered, steps| First::followed(strike, &Played { recovered, steps, ..Played::default() });
        assert_eq!(first(None, 500).until, 500);
        assert_eq!(first(Some(450), 500).until, 500);
        assert_eq!(first(Some(50), 500), First { strike, until: 50 + MARGIN });
        assert_eq!((first(Some(50), 500).follow(), first(None, 3).follow()), (142, 0));
    }

    #[test]
    fn whoever_is_in_a_lost_nodes_place_or_waits_for_one_is_killed_too() {
        let killed = |more: Overrides| -> Vec<Blow> {
            let ft = Some("400us".parse().expect("it is of the form"));
            let case = case(Overrides { ft, strikes: Some(Strikes::default()), ..more });
            let strike = Strike { blow: Blow::Crash(1), step: 0 };
            let all = recoveries(&case, vec![First { strike, until: 5 }], 1);
            all.filter_map(|Strikes(pair)| pair.get(1).map(|strike| strike.blow)).collect()
        };
        let none = Overrides::default;
        assert_eq!(killed(none()), [2, 0, 2, 0].map(Blow::Crash));
        assert_eq!(killed(Overrides { respawn: Some(true), ..none() }), [2, 0, 1, 2].map(Blow::Crash));
        assert_eq!(killed(Overrides { spares: Some(1), ..none() }), [2, 0, 1, 3].map(Blow::Crash));
    }

    #[test]
    fn the_launcher_is_killed_at_every_step_and_somebody_else_soon_after() {
        let all = strikes(Series::Takeover, 100, 1);
        assert_eq!(all.len() as u64, 100 + Series::Takeover.firsts_each() * (1 + 20 + MARGIN));
        assert_eq!(all[..3], ["launcher@0", "launcher@1", "launcher@2"]);
        for text in &all[100..] {
            let (first, second) = pair(text);
            assert_eq!(first.blow, Blow::Launcher, "{text}");
            assert!(second.is_none_or(|second| first.step < second.step), "{text}");
        }
        assert_eq!(strikes(Series::Takeover, 10, 4)[..3], ["launcher@1", "launcher@5", "launcher@9"]);
    }

    #[test]
    fn of_a_pair_somebody_else_comes_later() {
        for pair in strikes(Series::Pairs, 50, 1) {
            let Strikes(pair) = pair.parse().expect("it is of the form");
            assert!(pair[0].blow != pair[1].blow && pair[0].step < pair[1].step, "{pair:?}");
        }
    }
}
