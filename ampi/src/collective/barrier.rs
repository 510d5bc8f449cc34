//! `MPI_Barrier`, `MPI_Ibarrier`.

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

/// One that its caller does not wait for: all have come, and then all know so. Who looks for messages meanwhile finds none
/// between the one and [the other](super::Collectives::is_ending). So nobody finds a message of who has seen the barrier end before
/// it has ended here: programs agree on messages by that, again and again with one tag (Hoefler, Siebert, Lumsdaine 2010).
pub fn immediate_barrier(me: Member) -> Schedule {
    barrier(me).settled().then(barrier(me))
}
