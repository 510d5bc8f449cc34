//! Objects of which those of the first PE take far longer than the others.

use std::time::{Duration, Instant};

use talisman::prelude::*;

/// Objects on each PE.
const EACH: i32 = 4;
/// So often each does its work: the first PE has a little more than ten seconds of it, for jobs that are shorter get no advice.
pub const ROUNDS: u32 = 30;
const LONG: Duration = Duration::from_millis(90);
const SHORT: Duration = Duration::from_millis(5);

#[derive(Pup)]
pub struct Worker;

#[chare(array1d)]
impl Worker {
    #[init]
    fn new() -> Self {
        Worker
    }

    /// It computes: of who waits for something else a balancer sees no load.
    #[entry]
    pub fn work(&mut self, cx: &mut Cx<Self>) -> u32 {
        let (begun, most) = (Instant::now(), if cx.index() < EACH { LONG } else { SHORT });
        while begun.elapsed() < most {
            std::hint::spin_loop();
        }
        1
    }
}

pub fn start(pes: u32) -> Array<Worker> {
    Worker::array(EACH * pes as i32).new()
}
