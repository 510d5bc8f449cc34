//! Advice at the end of a job: what cost most of what was measured, and which option would help.
//!
//! Each rule is a function of its own, looks at the report alone, and is silent unless what it sees cost much.

use talisman_ft::period::daly;

use super::Report;

/// A job shorter than this, in seconds, says too little; and one that somebody looks at.
const SHORTEST_S: f64 = 10.0;
const SHORTEST_LOOKED_AT_S: f64 = 1.0;
/// What costs less than this part of the time is not worth a line.
const PART_LEAST: f64 = 0.05;
/// A balancer cannot make loads quite even, and costs something too.
const IMBALANCE_LEAST: f64 = 0.15;
/// Entries of this mean time, in seconds, take about as long as their messages.
const GRAIN_S: f64 = 2e-6;
/// Fewer messages do not matter, whatever they cost.
const MESSAGES_LEAST: u64 = 1_000_000;
/// With less of its messages between nodes, a job has little to win by having objects near each other.
const FAR_LEAST: f64 = 0.5;
/// PEs that are busy for more of their time do not wait for messages.
const WAITS_LEAST: f64 = 0.1;
/// The mean time between failures, in seconds, if nobody has said it: as for `--ckpt-every auto`.
const MTBF_S: f64 = 3600.0;

/// What the job was asked for, as far as advice depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// A strategy balances loads.
    pub balances: bool,
    /// That strategy looks at who sends messages to whom.
    pub minds_messages: bool,
    /// The period of checkpoints is chosen by their cost.
    pub chooses_period: bool,
    /// Somebody wants to know: there is a trace, or a page.
    pub is_looked_at: bool,
    /// `--mtbf`, in seconds.
    pub mtbf_s: Option<f64>,
    /// Cores that all PEs share; none if they are spread over several hosts, or simulated.
    pub cores: Option<u32>,
}

/// What is known from trying balancers on what the objects of the job had to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tried {
    /// None was tried: too little is known.
    #[default]
    Not,
    /// None would have saved anything worth a word.
    InVain,
    /// One would have: this is the line about it.
    Saves(String),
}

/// A line for each thing that cost much, the dearest kinds first. None for a job that failed, or was short. Where a strategy has
/// been tried on what PEs did last, that is said in place of what may be saved.
///
/// ```
/// use talisman_job::report::{PeTimes, Report};
/// use talisman_job::report::advice::{Asked, Tried, advice};
///
/// let pe = [0.98, 0.24].map(|busy| PeTimes { busy_s: 100.0 * busy, idle_s: 100.0 * (1.0 - busy) });
/// let report = Report { wall_s: 100.0, pe: pe.to_vec(), ..Report::default() };
/// let asked = Asked {
///     balances: false,
///     minds_messages: false,
///     chooses_period: true,
///     is_looked_at: false,
///     mtbf_s: None,
///     cores: Some(2),
/// };
/// let line = "PE 0 was busy for 98 % of the time, a PE on average for 61 %: --balancer greedy-refine may save \
///             up to 37 s of 100 s, if objects can be moved";
/// assert_eq!(advice(&report, asked, Tried::Not), [line]);
/// ```
pub fn advice(report: &Report, asked: Asked, tried: Tried) -> Vec<String> {
    let shortest_s = if asked.is_looked_at { SHORTEST_LOOKED_AT_S } else { SHORTEST_S };
    if report.status != 0 || report.wall_s < shortest_s {
        return vec![];
    }
    let rules: [fn(&Report, Asked) -> Option<String>; 4] = [waiting, far, grain, checkpoints];
    let balance = match tried {
        _ if is_crowded(report, asked) => None,
        Tried::Saves(line) => Some(line),
        Tried::InVain => imbalance(report, asked, true),
        Tried::Not => imbalance(report, asked, false),
    };
    let others = rules.iter().filter_map(|rule| rule(report, asked));
    shared_cores(report, asked).into_iter().chain(balance).chain(others).collect()
}

/// More PEs than cores: they take turns, and so do those who wait for them.
fn shared_cores(report: &Report, asked: Asked) -> Option<String> {
    let (cores, pes) = (asked.cores?, report.pe.len());
    let line = || format!("{pes} PEs shared {cores} cores: one PE per core is fastest (--nodes, --pes)");
    is_crowded(report, asked).then(line)
}

fn is_crowded(report: &Report, asked: Asked) -> bool {
    asked.cores.is_some_and(|cores| report.pe.len() > cores as usize)
}

/// One PE had much more to do than the others; and whether it is known that no balancer helps.
fn imbalance(report: &Report, asked: Asked, in_vain: bool) -> Option<String> {
    let busy = Busy::of(report, asked)?;
    let saves_s = (busy.most - busy.average) * report.wall_s;
    if busy.most < 0.5 || busy.most - busy.average < IMBALANCE_LEAST {
        return None;
    }
    let seen = format!(
        "PE {} was busy for {} of the time, a PE on average for {}",
        busy.busiest,
        percent(busy.most),
        percent(busy.average)
    );
    let advice = match (asked.balances, report.balancing.is_empty()) {
        (false, _) if in_vain => {
            "no balancer that was tried on their objects helps: smaller objects that can be moved can be spread better".into()
        }
        (false, _) => format!(
            "--balancer greedy-refine may save up to {saves_s:.0} s of {:.0} s, if objects can be moved",
            report.wall_s
        ),
        (true, true) => "no balancing step was made; add --lb-every auto".into(),
        (true, false) => "smaller objects, or another --balancer, can be spread better".into(),
    };
    Some(format!("{seen}: {advice}"))
}

/// All PEs waited for most of the time.
fn waiting(report: &Report, asked: Asked) -> Option<String> {
    let busy = Busy::of(report, asked)?;
    let line = || {
        format!(
            "PEs were busy for {} of the time on average, the busiest for {}: with more objects per PE, one works \
             while others wait; else fewer PEs do as well",
            percent(busy.average),
            percent(busy.most)
        )
    };
    (busy.most < 0.5).then(line)
}

/// Most messages go to other nodes, and PEs wait for some.
fn far(report: &Report, asked: Asked) -> Option<String> {
    let counts = &report.messages;
    let near = counts.local.saturating_add(counts.between_pes);
    let messages = near.saturating_add(counts.between_nodes);
    let part = counts.between_nodes as f64 / messages as f64;
    let waits = 1.0 - Busy::of(report, asked)?.average;
    if asked.minds_messages || messages < MESSAGES_LEAST || part < FAR_LEAST || waits < WAITS_LEAST {
        return None;
    }
    Some(format!(
        "{} of {messages} messages went to other nodes, {:.1} MB in a second, and PEs waited for {} of the time: --balancer \
         comm moves objects to those that they talk with, if objects can be moved",
        percent(part),
        counts.bytes_between_nodes as f64 / 1e6 / report.wall_s,
        percent(waits)
    ))
}

/// Entries are so short that messages cost as much.
fn grain(report: &Report, _: Asked) -> Option<String> {
    let counts = &report.messages;
    let messages = counts.local.saturating_add(counts.between_pes).saturating_add(counts.between_nodes);
    let busy_s: f64 = report.pe.iter().map(|pe| pe.busy_s).sum();
    // Exact enough: it is a mean.
    let mean_s = busy_s / messages as f64;
    let costs_much = busy_s > PART_LEAST * report.wall_s;
    let line = || {
        format!(
            "{messages} messages took {:.1} µs each on average, entries included: larger objects that do more per \
             message spend less on messages",
            mean_s * 1e6
        )
    };
    (messages >= MESSAGES_LEAST && mean_s <= GRAIN_S && costs_much).then(line)
}

/// Checkpoints are taken more often than pays.
fn checkpoints(report: &Report, asked: Asked) -> Option<String> {
    let taken = report.checkpoints.len();
    let blocked_s: f64 = report.checkpoints.iter().map(|checkpoint| checkpoint.blocked_s).sum();
    let part = blocked_s / report.wall_s;
    if asked.chooses_period || taken < 2 || part < PART_LEAST {
        return None;
    }
    let mean_s = blocked_s / taken as f64;
    let best = mean_s / (mean_s + daly(mean_s, asked.mtbf_s.unwrap_or(MTBF_S)));
    let line = || {
        format!(
            "{taken} checkpoints took {} of the time: --ckpt-every auto would take about {}",
            percent(part),
            percent(best)
        )
    };
    (best < part / 2.0).then(line)
}

/// Which part of their time PEs were busy.
struct Busy {
    busiest: usize,
    most: f64,
    average: f64,
}

impl Busy {
    /// None where it says nothing: of one PE, of PEs that take turns on cores, or after losses, when others did their work.
    fn of(report: &Report, asked: Asked) -> Option<Busy> {
        if report.pe.len() < 2 || is_crowded(report, asked) || !report.failures.is_empty() {
            return None;
        }
        let parts = || report.pe.iter().map(|pe| pe.busy_s / (pe.busy_s + pe.idle_s).max(f64::MIN_POSITIVE));
        let (busiest, most) = parts().enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        Some(Busy { busiest, most, average: parts().sum::<f64>() / report.pe.len() as f64 })
    }
}

fn percent(part: f64) -> String {
    if part < 0.01 { format!("{:.1} %", part * 100.0) } else { format!("{:.0} %", part * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{BalancingStep, CheckpointTaken, Failure, MessageCounts, PeTimes};

    const ASKED: Asked = Asked {
        balances: false,
        minds_messages: false,
        chooses_period: false,
        is_looked_at: false,
        mtbf_s: None,
        cores: Some(4),
    };

    fn job(busy: &[f64]) -> Report {
        let pe = busy.iter().map(|busy| PeTimes { busy_s: 100.0 * busy, idle_s: 100.0 * (1.0 - busy) });
        Report { wall_s: 100.0, pe: pe.collect(), ..Report::default() }
    }

    fn with_checkpoints(blocked_s: f64, count: usize) -> Report {
        let checkpoints = vec![CheckpointTaken { blocked_s, ..CheckpointTaken::default() }; count];
        Report { checkpoints, ..job(&[0.9, 0.9]) }
    }

    #[track_caller]
    fn says(report: &Report, asked: Asked, begins: &[&str]) {
        let lines = advice(report, asked, Tried::Not);
        let fit = lines.len() == begins.len()
            && lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin));
        assert!(fit, "{lines:#?}");
    }

    #[test]
    fn nothing_is_said_when_nothing_is_wrong() {
        says(&job(&[0.9, 0.85, 0.95, 0.9]), ASKED, &[]);
        says(&with_checkpoints(0.1, 10), ASKED, &[]);
        says(&Report { wall_s: 100.0, ..Report::default() }, ASKED, &[]);
    }

    #[test]
    fn one_busy_pe_asks_for_a_balancer_or_a_better_one() {
        let uneven = job(&[0.2, 0.9, 0.3]);
        says(
            &uneven,
            ASKED,
            &["PE 1 was busy for 90 % of the time, a PE on average for 47 %: --balancer greedy"],
        );
        let balanced = Asked { balances: true, ..ASKED };
        says(
            &uneven,
            balanced,
            &["PE 1 was busy for 90 % of the time, a PE on average for 47 %: no balancing step"],
        );
        let stepped = Report { balancing: vec![BalancingStep::default()], ..uneven.clone() };
        says(
            &stepped,
            balanced,
            &["PE 1 was busy for 90 % of the time, a PE on average for 47 %: smaller objects"],
        );
        says(&Report { failures: vec![Failure::default()], ..uneven.clone() }, ASKED, &[]);
        let short = Report { wall_s: 2.0, ..uneven.clone() };
        says(&short, ASKED, &[]);
        says(&short, Asked { is_looked_at: true, ..ASKED }, &["PE 1 was busy for 90 %"]);
        says(&Report { wall_s: 0.5, ..uneven.clone() }, Asked { is_looked_at: true, ..ASKED }, &[]);
        says(&Report { status: 1, ..uneven }, ASKED, &[]);
    }

    #[test]
    fn what_a_strategy_made_of_the_last_step_is_said_in_place_of_a_guess() {
        let (uneven, tried) = (job(&[0.2, 0.9, 0.3]), || Tried::Saves("PE 1: --balancer refine".to_owned()));
        assert_eq!(advice(&uneven, ASKED, tried()), ["PE 1: --balancer refine"]);
        let crowded = advice(&uneven, Asked { cores: Some(2), ..ASKED }, tried());
        assert!(crowded.len() == 1 && crowded[0].starts_with("3 PEs shared 2 cores"), "{crowded:?}");
        let [line] = &advice(&uneven, ASKED, Tried::InVain)[..] else { panic!("one line") };
        assert!(line.ends_with("smaller objects that can be moved can be spread better"), "{line}");
        assert!(advice(&Report { status: 1, ..uneven }, ASKED, tried()).is_empty());
    }

    #[test]
    fn pes_that_share_cores_are_told_first_and_their_idle_times_mean_nothing() {
        says(&job(&[0.2, 0.9, 0.3]), Asked { cores: Some(2), ..ASKED }, &["3 PEs shared 2 cores"]);
    }

    #[test]
    fn pes_that_wait_ask_for_more_objects() {
        says(
            &job(&[0.2, 0.3]),
            ASKED,
            &["PEs were busy for 25 % of the time on average, the busiest for 30 %"],
        );
    }

    #[test]
    fn short_entries_ask_for_larger_objects() {
        let messages =
            MessageCounts { local: 100_000_000, between_nodes: 50_000_000, ..MessageCounts::default() };
        let short = Report { messages, ..job(&[0.9, 0.9]) };
        says(&short, ASKED, &["150000000 messages took 1.2 µs each on average"]);
        says(
            &Report { messages: MessageCounts { local: 50_000_000, ..messages }, ..short.clone() },
            ASKED,
            &["1000"],
        );
        let few = MessageCounts { local: 1_000_000, ..MessageCounts::default() };
        says(&Report { messages: few, ..short }, ASKED, &[]);
    }

    #[test]
    fn messages_that_go_far_ask_for_a_balancer_that_looks_at_them() {
        let far = MessageCounts {
            local: 2_000_000,
            between_nodes: 8_000_000,
            bytes_between_nodes: 5_000_000_000,
            between_pes: 0,
        };
        let job = |busy: &[f64], messages| Report { messages, ..job(busy) };
        let line = "80 % of 10000000 messages went to other nodes, 50.0 MB in a second, and PEs waited for 25 % of the time: --balancer comm";
        says(&job(&[0.75, 0.75], far), ASKED, &[line]);
        says(&job(&[0.75, 0.75], far), Asked { minds_messages: true, ..ASKED }, &[]);
        says(&job(&[0.95, 0.95], far), ASKED, &[]);
        says(&job(&[0.75, 0.75], MessageCounts { local: 9_000_000, ..far }), ASKED, &[]);
        says(&job(&[0.75, 0.75], MessageCounts { local: 0, between_nodes: 900_000, ..far }), ASKED, &[]);
    }

    #[test]
    fn dear_checkpoints_ask_for_the_period_that_costs_least() {
        says(
            &with_checkpoints(0.2, 40),
            ASKED,
            &["40 checkpoints took 8 % of the time: --ckpt-every auto would take about 0.5 %"],
        );
        says(&with_checkpoints(0.2, 40), Asked { chooses_period: true, ..ASKED }, &[]);
        // Nodes that are lost every few seconds are worth that many checkpoints.
        says(&with_checkpoints(0.2, 40), Asked { mtbf_s: Some(10.0), ..ASKED }, &[]);
    }
}
