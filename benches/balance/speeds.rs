//! A machine of which one PE has half the speed of the others, modelled. Objects have eight times the work of those of the example, so that
//! what messages cost does not hide what is asked.

use talisman::launch::RunArgs;
use talisman::simulation::{Core, Machine};

use super::figures::{Budget, Figures, table};
use super::machine::machine;
use super::skeleton::{self, Options, figures, with};
use super::steps;

const SPEEDS: [f64; 4] = [0.5, 1.0, 1.0, 1.0];

pub fn measure() -> bool {
    let machine = Machine { cores: SPEEDS.map(|speed| Core { speed, guest: None }).into(), ..machine() };
    let pe_speeds = SPEEDS.map(|speed| speed.to_string().parse().expect("a speed")).to_vec();
    let capacity: f64 = SPEEDS.iter().sum();
    // Even work, so that only the speeds make a difference, and the work of the hot spot.
    let rows: Vec<(Figures, Budget)> = [("even work", 0.0), ("hot spot", 60.0)]
        .into_iter()
        .flat_map(|(work, peak)| ["off", "greedy", "greedy-refine"].map(|name| (work, peak, name)))
        .map(|(work, peak, name)| {
            let options = Options { steps: steps(400), peak, relaxation_ns: 40, ..Options::default() };
            let balancer = RunArgs { pe_speeds: pe_speeds.clone(), ..with(name) };
            let outcome = skeleton::run(options, &machine, &balancer);
            let most = (name != "off").then_some(1.10);
            (
                figures(format!("{name}, {work}"), &outcome, capacity),
                Budget { time: most, ..Budget::default() },
            )
        })
        .collect();
    table("Modelled: the first of 4 PEs at half speed", &rows)
}
