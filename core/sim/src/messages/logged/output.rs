//! What the program says to the world outside, and how the job ends.

use super::leading::seen;
use crate::messages::Cluster;
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::logging::words::Said;
use talisman_ft::Version;
use talisman_ft::logging::LogId;
use talisman_job::job::Job;
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;

impl Cluster {
    /// Whoever prints hears something that a program said in that line.
    pub(super) fn print(&mut self, job: &Job, log: LogId, line: Version, number: u64, said: Said) {
        let logged = self.logged_mut();
        if line != logged.votes.line() {
            let why =
                format!("{log:?} says {said:?} in line {line}, and the job is in {}", logged.votes.line());
            return job.end(1, Some(why));
        }
        if number > logged.leader.printed(log) && logged.leading.is_another {
            // What it said before that was said to another, and both come again.
            return sometimes(
                "something was said to whoever leads next before what had been said to the former one",
            );
        }
        if let Err(why) = logged.shadow.print(line, log, number, &said) {
            return job.end(1, Some(why));
        }
        // As the launcher does it: by its number.
        if number == logged.leader.printed(log) {
            logged.leader.on_printed(log, number + 1);
            match said {
                Said::Line(text) => {
                    let now = logged.now;
                    logged.leading.note_printed(now, seen(line, log, number));
                    job.output.print(&text);
                }
                Said::End(end) => self.hear_end(end),
            }
        }
        self.say_what_is_printed(log);
    }

    pub(super) fn end_if_all_is_printed(&mut self, job: &Job) {
        let logged = self.logged();
        if logged.ending.is_some() && logged.is_at_rest() && logged.is_all_printed() {
            let end = self.logged_mut().ending.take().expect("just seen");
            job.end(end.status, end.message);
        }
    }

    /// What the program has reported so far on all nodes is the job's.
    pub(super) fn take_results(&self, job: &Job) {
        for pe in self.pes.iter().filter(|pe| pe.id == pe.first_pe) {
            let results = pe.node.job.results();
            results.iter().for_each(|(name, value)| job.record(name, value.clone()));
            job.step_again(pe.node.job.progress().done);
            pe.node.job.balancing().into_iter().for_each(|step| job.balanced(step));
        }
    }

    /// What nobody got on any node is told as the job's.
    pub(super) fn take_leftovers(&self, job: &Job) {
        self.pes.iter().for_each(Pe::tell_of_undelivered);
        let firsts = self.pes.iter().filter(|pe| pe.id == pe.first_pe);
        firsts.for_each(|pe| job.left_over(pe.node.job.leftovers()));
    }
}
