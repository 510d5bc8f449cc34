//! How good a plan could be.

use crate::snapshot::Snapshot;

/// Seconds that every PE would be busy if what may move could be divided at will: no plan makes the last PE ready sooner.
///
/// PEs whose background and objects that must stay take longer than that get nothing, so it may be less than what they take.
pub fn level(snapshot: &Snapshot) -> f64 {
    let (mut times, movable) = fixed(snapshot);
    times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Work is poured in; the level rises over one PE after the other.
    let (mut rate, mut work) = (0.0, movable);
    for (number, &(time, of)) in times.iter().enumerate() {
        rate += of;
        work += of * time;
        let level = work / rate;
        if times.get(number + 1).is_none_or(|next| level <= next.0) {
            return level;
        }
    }
    0.0
}

/// Seconds below which no plan can come, because of the largest object that may move: it is somewhere.
pub fn largest(snapshot: &Snapshot) -> f64 {
    let fastest = snapshot.pes.iter().filter(|pe| pe.available).map(|pe| pe.rate()).fold(0.0, f64::max);
    let movable = snapshot.objects.iter().filter(|object| object.migratable);
    let largest = movable.map(|object| object.work()).fold(0.0, f64::max);
    if fastest > 0.0 { largest / fastest } else { 0.0 }
}

/// By PE that takes objects, what it is busy with whatever the plan, and its speed; and the work that may be moved about.
fn fixed(snapshot: &Snapshot) -> (Vec<(f64, f64)>, f64) {
    let mut times: Vec<_> = snapshot.pes.iter().map(|pe| (pe.busy(), pe.rate())).collect();
    let mut movable = 0.0;
    for object in &snapshot.objects {
        match times.get_mut(object.pe as usize) {
            _ if object.migratable => movable += object.work(),
            Some((time, rate)) => *time += object.work() / *rate,
            None => {}
        }
    }
    let available = times.into_iter().zip(&snapshot.pes).filter(|(_, pe)| pe.available);
    (available.map(|(time, _)| time).collect(), movable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    #[test]
    fn equal_pes_share_equally() {
        assert_eq!(level(&line(4, &[(0, 3.0), (0, 5.0)])), 2.0);
        assert_eq!(largest(&line(4, &[(0, 3.0), (0, 5.0)])), 5.0);
    }

    #[test]
    fn speed_counts_and_so_does_what_cannot_be_moved() {
        let mut snapshot = line(4, &[(0, 6.0), (1, 6.0)]);
        snapshot.pes[1].speed = 0.5; // Its object takes 12 seconds there and must stay.
        snapshot.pes[2].background = 1.0;
        snapshot.pes[3].available = false;
        snapshot.objects[1].migratable = false;
        // PEs 0 and 2: 1 second of background and 6 of work.
        assert_eq!(level(&snapshot), 3.5);
        snapshot.objects[0].load = 100.0;
        // All three: 1 of background, 6 that must stay, 100 to be divided, at 2.5 per second.
        assert_eq!(level(&snapshot), 107.0 / 2.5);
    }

    #[test]
    fn nothing_at_all_takes_no_time() {
        assert_eq!(level(&line(0, &[])), 0.0);
        assert_eq!(level(&line(0, &[(0, 1.0)])), 0.0);
        assert_eq!(largest(&line(0, &[(0, 1.0)])), 0.0);
        assert_eq!(level(&line(2, &[])), 0.0);
    }
}
