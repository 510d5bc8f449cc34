//! Whether the system has killed processes for want of memory.

/// The count of such kills when the job began.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustion {
    before: Option<u64>,
}

impl Exhaustion {
    pub fn since_now() -> Self {
        Exhaustion { before: kills() }
    }

    /// Whether there were any since. `false` where the system does not count them.
    pub fn happened(self) -> bool {
        matches!((self.before, kills()), (Some(before), Some(now)) if now > before)
    }
}

fn kills() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/vmstat").ok()?)
}

fn parse(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_among_the_others() {
        assert_eq!(parse("nr_free_pages 7\noom_kill 3\noom_kill_x 9\n"), Some(3));
        assert_eq!(parse("nr_free_pages 7\n"), None);
    }
}
