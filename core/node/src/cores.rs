//! A core for each PE, where a job has all cores of its host.
//!
//! The kernel likes to wake a thread on the core of the one that sent to it. Two PEs that answer each other over TCP then
//! share a core and leave the other one idle, for as long as they run: neither is ever found waiting for it.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of a node's PEs: of `on_host` PEs of this host those from `first` on, so many as `pes`. `None` unless there
/// are as many PEs as cores. With fewer, the cores they were given might be those of another job.
pub(super) fn of_node(first: u32, pes: u32, on_host: u32) -> Option<Vec<usize>> {
    let allowed = sched_getaffinity(None).ok()?;
    share(&allowed, first, pes, on_host)
}

fn share(allowed: &CpuSet, first: u32, pes: u32, on_host: u32) -> Option<Vec<usize>> {
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    let mine = first as usize..(first + pes) as usize;
    (cores.len() == on_host as usize).then(|| cores.get(mine).map(<[usize]>::to_vec))?
}

/// Keeps the calling thread on a core. A wish: where the system refuses, it runs anywhere.
pub(super) fn stay_on(core: usize) {
    let mut only = CpuSet::new();
    only.set(core);
    let _ = sched_setaffinity(None, &only);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_are_shared_out_and_fewer_or_more_pes_go_anywhere() {
        let mut allowed = CpuSet::new();
        [1, 3, 4, 7].into_iter().for_each(|core| allowed.set(core));
        assert_eq!(share(&allowed, 0, 2, 4), Some(vec![1, 3]));
        assert_eq!(share(&allowed, 2, 2, 4), Some(vec![4, 7]));
        assert_eq!(share(&allowed, 0, 2, 2), None);
        assert_eq!(share(&allowed, 0, 2, 8), None);
        assert_eq!(share(&allowed, 3, 2, 4), None);
    }

    #[test]
    fn a_thread_stays_where_it_is_put() {
        let core = std::thread::spawn(|| {
            let allowed = sched_getaffinity(None).unwrap();
            let core = (0..CpuSet::MAX_CPU).find(|core| allowed.is_set(*core)).unwrap();
            stay_on(core);
            (sched_getaffinity(None).unwrap().count(), sched_getaffinity(None).unwrap().is_set(core))
        });
        assert_eq!(core.join().unwrap(), (1, true));
    }
}
