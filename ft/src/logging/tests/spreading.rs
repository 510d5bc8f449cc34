//! Rides and stability, where lives of random programs hardly ever come.

use super::super::{Batch, Cut, Lengths, Spread, Stable};
use super::{SHAPE, entry, log};

fn spread(node: u32) -> Spread {
    Spread::new(node, SHAPE.next_around(node), SHAPE)
}

fn tell(from: &mut Spread, to: &mut Spread, (sender, receiver): (u32, u32)) -> usize {
    let ride = from.ride(receiver, 0);
    let count = ride.batches.len();
    to.hear(sender, ride);
    count
}

/// Node 0 tells node 1, which tells node 2: each once, and no more when it is stable.
fn entries_ride_on_until_they_are_stable() {
    let (mut a, mut b, mut c) = (spread(0), spread(1), spread(2));
    a.append(0, &entry(0));
    assert_eq!(tell(&mut a, &mut b, (0, 1)), 1);
    assert_eq!(tell(&mut a, &mut b, (0, 1)), 0);
    assert_eq!(tell(&mut b, &mut c, (1, 2)), 1);
    assert_eq!(c.held_of(|node| node == 0).len(), 1);
    b.append(0, &entry(0));
    assert_eq!(c.unstable(), Lengths::from_iter([(log(0), 1)]));
    assert_eq!(
        b.unstable(),
        Lengths::from_iter([(log(0), 1), (log(1), 1)]),
        "it depends on what it was told"
    );
    let kept = b.keep(a.flush());
    assert_eq!(a.unstable(), Lengths::from_iter([(log(0), 1)]), "written is not stable");
    kept.into_iter().for_each(|stable| a.on_stable(stable));
    assert_eq!(a.unstable(), Lengths::default());
    assert_eq!(tell(&mut a, &mut spread(3), (0, 3)), 0);
    tell(&mut b, &mut c, (1, 2));
    assert!(c.stable().get(log(0)) == 1 && c.held_of(|node| node == 0).is_empty(), "counts ride");
}

/// Node 0 was lost after two entries, of which its next process was fed one. Somebody still has both.
fn what_a_lost_process_had_beyond_its_log_is_void() {
    let mut b = spread(1);
    let batch = |incarnation, first, at: &[u64]| Batch {
        log: log(0),
        incarnation,
        first,
        entries: at.iter().map(|at| entry(*at)).collect(),
    };
    b.learn(batch(0, 0, &[1]));
    b.on_restart(&Cut { node: 0, ended: 0, ends: vec![1] }, 1);
    b.learn(batch(0, 0, &[1, 2]));
    b.on_stable(Stable { log: log(0), incarnation: 0, length: 2 });
    assert_eq!(b.unstable(), Lengths::default(), "what is stable is so up to the cut");
    b.learn(batch(1, 1, &[7]));
    let held = b.riding();
    assert_eq!(held, [batch(1, 1, &[7])]);
}

/// The same number means another entry after the restart: it rides again.
fn what_was_told_beyond_the_log_is_told_again() {
    let (mut b, mut c) = (spread(1), spread(2));
    let batch = |incarnation, at| Batch {
        log: log(0),
        incarnation,
        first: 0,
        entries: [entry(at)].into_iter().collect(),
    };
    b.learn(batch(0, 5));
    assert_eq!(tell(&mut b, &mut c, (1, 2)), 1);
    let cut = Cut { node: 0, ended: 0, ends: vec![0] };
    b.on_restart(&cut, 1);
    c.on_restart(&cut, 1);
    b.learn(batch(1, 9));
    tell(&mut b, &mut c, (1, 2));
    assert_eq!(c.riding(), [batch(1, 9)]);
}

#[test]
fn entries_ride_until_they_are_stable() {
    entries_ride_on_until_they_are_stable();
}

#[test]
fn what_never_was_is_not_believed() {
    what_a_lost_process_had_beyond_its_log_is_void();
    what_was_told_beyond_the_log_is_told_again();
}

#[test]
fn a_new_keeper_gets_everything_before_anything_else() {
    let mut a = spread(0);
    a.append(0, &entry(0));
    assert_eq!(a.flush().len(), 1);
    a.on_restart(&Cut { node: 1, ended: 0, ends: vec![0] }, 1);
    a.append(0, &entry(1));
    assert_eq!(a.flush(), []);
    a.flush_again();
    assert!(a.flush()[0].entries.iter().eq([entry(0), entry(1)]));
}

#[test]
fn a_gap_is_not_kept() {
    let mut b = spread(1);
    let batch =
        |first| Batch { log: log(0), incarnation: 0, first, entries: [entry(first)].into_iter().collect() };
    assert_eq!(b.keep(vec![batch(0)]).len(), 1);
    assert_eq!(b.keep(vec![batch(2)]), []);
    assert_eq!(b.keep(vec![batch(1)])[0].length, 2);
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_about_rides_are_noticed() {
    let of_rides =
        ["log-not-riding", "others-log-not-riding", "written-counts-as-stable", "line-waits-for-own-only"];
    for mistake in of_rides {
        assert!(super::notices(mistake, entries_ride_on_until_they_are_stable), "{mistake}");
    }
    assert!(super::notices("stale-log-believed", what_a_lost_process_had_beyond_its_log_is_void));
    assert!(super::notices("told-not-cut", what_was_told_beyond_the_log_is_told_again));
}
