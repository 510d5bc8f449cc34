//! The same steps as one loop over one patch, to compare with.

use super::options::Plan;
use super::patch::Patch;

/// Where it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub fingerprint: u64,
    /// How many times cells were relaxed.
    pub work: u64,
}

/// All steps on the whole square.
pub fn run(plan: &Plan) -> Outcome {
    let mut patch = Patch::new([0; 2], [plan.cut.grid; 2]);
    let works = (1..=plan.steps).map(|step| patch.step(&plan.hot_spot.at(step, plan.cut.grid)));
    let work = works.sum();
    Outcome { fingerprint: patch.fingerprint(), work }
}

#[cfg(test)]
mod tests {
    use super::super::cut::{Cut, SIDES};
    use super::super::hot_spot::HotSpot;
    use super::*;

    /// All objects of a square, exchanging edges by hand.
    fn in_objects(plan: &Plan) -> Outcome {
        let [x, y] = plan.cut.objects.map(|n| n as i32);
        let places: Vec<(i32, i32)> = (0..x).flat_map(|i| (0..y).map(move |j| (i, j))).collect();
        let patch = |place: &(i32, i32)| Patch::new(plan.cut.origin(*place), plan.cut.size(*place));
        let mut patches: Vec<Patch> = places.iter().map(patch).collect();
        let (mut edge, mut work) = (Vec::new(), 0);
        for step in 1..=plan.steps {
            let before = patches.clone();
            for (place, patch) in places.iter().zip(&mut patches) {
                for side in 0..SIDES {
                    let Some((i, j)) = plan.cut.neighbour(*place, side) else { continue };
                    before[(i * y + j) as usize].read_edge(side ^ 1, &mut edge);
                    patch.set_ghosts(side, &edge);
                }
                work += patch.step(&plan.hot_spot.at(step, plan.cut.grid));
            }
        }
        Outcome { fingerprint: patches.iter().map(Patch::fingerprint).fold(0, u64::wrapping_add), work }
    }

    #[test]
    fn any_number_of_objects_gives_the_bits_of_one_patch() {
        for objects in [2, 9, 12, 35] {
            let cut = Cut::new(23, objects).expect("cells enough");
            let hot_spot = HotSpot { peak: 9.0, width: 0.2, lap: 30 };
            let plan = Plan { cut, hot_spot, steps: 12, sync_every: None };
            assert_eq!(in_objects(&plan), run(&plan), "{objects}");
        }
    }
}
