//! `MPI_Barrier`.

use super::{Member, Schedule, Span};

/// Everybody has come before anybody leaves: dissemination, log2(n) rounds (Hensgen, Finkel, Manber 1988).
pub fn barrier(me: Member) -> Schedule {
    let mut schedule = Schedule::new();
    for distance in me.doublings() {
        schedule.send(me.after(distance), Span::EMPTY);
        schedule.receive(me.before(distance), Span::EMPTY);
        schedule.wait();
    }
    schedule
}
