//! What is looked at while a job runs, and its end from outside.

use std::sync::Arc;

use talisman_job::job::Job;
use talisman_job::{Output, Progress};

/// What is looked at while a job runs.
pub struct Watch {
    pub job: Arc<Job>,
    pub progress: Progress,
}

impl Watch {
    /// The job prints to `output`; `progress` shows its steps.
    pub fn new(output: Output, progress: Progress) -> Self {
        Watch { job: Job::new(output), progress }
    }

    /// The job.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Something that can end the job from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.job.clone())
    }
}

/// Ends a job from outside.
pub struct Stopper(Arc<Job>);

impl Stopper {
    /// Ends the job with this exit status.
    pub fn stop(&self, status: i32) {
        self.0.end(status, None);
    }
}
