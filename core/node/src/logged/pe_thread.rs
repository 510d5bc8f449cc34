//! The thread of a PE in a node that logs, where there are several.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::hosted::Hosted;
use super::task::{Answer, Done, Handed};
use talisman_sched::idle::Idle;
use talisman_sched::worker::{Results, TaskSlot};

/// What a PE is handed by the driver of its node.
pub(super) type Desk = TaskSlot<Handed>;
/// What comes back from all of them, by the PE's rank.
pub(super) type Returns = Results<(u32, Done)>;

/// Waits for the next task, as long as the driver is there; none if it is not. How long its core was others' meanwhile.
fn next_task(desk: &Desk, idle: &mut Idle) -> (Option<Handed>, Duration) {
    let (given, mut asleep) = (idle.given(), Duration::ZERO);
    let mut park = || {
        let since = Instant::now();
        desk.park();
        asleep += since.elapsed();
    };
    while !desk.has_any() {
        idle.idle(|| desk.has_any(), &mut park);
    }
    (desk.take(), idle.given().saturating_sub(given) + asleep)
}

/// The thread of a PE, until its desk is closed.
pub(super) fn work(mut hosted: Hosted<'_>, desk: &Desk, returns: &Returns, mut idle: Idle) {
    let mut goes_on = true;
    while goes_on {
        let since = Instant::now();
        let (handed, released) = next_task(desk, &mut idle);
        let Some(handed) = handed else { break };
        hosted.count_idleness(since.elapsed(), released);
        let perform = || {
            let done = hosted.perform(handed);
            Done { stand: Some(hosted.stand()), ..done }
        };
        let done = catch_unwind(AssertUnwindSafe(perform));
        goes_on = done.is_ok();
        let panicked = |panic| Done { answer: Answer::Panicked(panic), ..Done::default() };
        returns.put((hosted.rank(), done.unwrap_or_else(panicked)));
        hosted.wake_driver();
        hosted.end_turn(Instant::now);
    }
    // Of a PE that has panicked: the driver knows, and ends the job.
    _ = catch_unwind(AssertUnwindSafe(|| drop(hosted)));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::logged::task::Task;
    use talisman_core::logging::recorder::Lent;

    #[test]
    fn a_thread_that_waits_is_handed_what_comes_and_ends_when_its_desk_is_closed() {
        let (desk, returns) = (Arc::new(Desk::new()), Arc::new(Returns::default()));
        let thread = thread::spawn({
            let (desk, returns) = (desk.clone(), returns.clone());
            move || {
                let mut idle = Idle::new();
                while let (Some(handed), _) = next_task(&desk, &mut idle) {
                    returns.put((handed.now as u32, Done { record: handed.record, ..Done::default() }));
                }
            }
        });
        assert!(returns.take().is_none());
        for now in 0..1_000 {
            desk.hand(Handed {
                now,
                record: Lent::default(),
                task: Task::EndInLine { shelf: None },
                room: Vec::new(),
            });
            assert_eq!(returns.wait().0, now as u32);
            assert!(!returns.has_any() && returns.take().is_none());
            if now % 100 == 0 {
                // Long enough for the thread to sleep, which nothing here depends on.
                thread::sleep(Duration::from_millis(1));
            }
        }
        // Both before it looks.
        desk.hand(Handed {
            now: 7,
            record: Lent::default(),
            task: Task::EndInLine { shelf: None },
            room: Vec::new(),
        });
        desk.close();
        thread.join().expect("it ends");
        assert_eq!(returns.wait().0, 7);
    }
}
