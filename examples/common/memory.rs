//! Whether what a program is asked for fits into this machine's memory: estimated before it is made, since an allocation that fails
//! ends a process without a word, and one that does not may take the whole machine with it.

/// What would be made does not fit.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "{what} would take {need:.1} GB of memory or more on this machine, which has {has:.1} GB available; use {instead}"
)]
pub struct TooMuch {
    what: String,
    need: f64,
    has: f64,
    instead: &'static str,
}

/// Refuses what needs more bytes than are available; `what` it is, and what to use `instead`. Where nothing is known of memory, all fits.
pub fn check(what: String, bytes: f64, instead: &'static str) -> Result<(), TooMuch> {
    compare(what, bytes, available(), instead)
}

fn compare(what: String, bytes: f64, available: Option<f64>, instead: &'static str) -> Result<(), TooMuch> {
    match available {
        Some(has) if bytes > has => Err(TooMuch { what, need: bytes / 1e9, has: has / 1e9, instead }),
        _ => Ok(()),
    }
}

/// Bytes that can be had without swapping, within the limit of the control group.
fn available() -> Option<f64> {
    let of_group =
        std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let of_machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| stated(&text));
    [of_group, of_machine].into_iter().flatten().reduce(f64::min)
}

fn stated(meminfo: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kib| 1024.0 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        assert_eq!(compare("7 cells".into(), 2e9, Some(3e9), "fewer"), Ok(()));
        assert_eq!(compare("7 cells".into(), 2e9, None, "fewer"), Ok(()));
        let message = compare("7 cells".into(), 4e9, Some(3e9), "fewer").expect_err("too much").to_string();
        assert_eq!(
            message,
            "7 cells would take 4.0 GB of memory or more on this machine, which has 3.0 GB available; use fewer"
        );
    }

    #[test]
    fn the_system_says_what_is_available() {
        assert_eq!(stated("MemTotal:  9 kB\nMemAvailable:   2048 kB\n"), Some(2_097_152.0));
        assert_eq!(stated("MemTotal:  9 kB\n"), None);
    }
}
