//! Memory control groups, in which the kernel ends a process that takes more than it is let have.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// What whoever is put into a group may take from then on. (What it had before does not count.)
const LIMIT: &str = "33554432";
/// A group goes when the last of its processes is gone for good, which may be a moment after it has ended.
const LOOKS: u32 = 100;

/// A group for one process.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
    /// The file in which the kernel counts whom it has ended.
    counter: &'static str,
}

/// The versions of the kernel's interface.
struct Version {
    /// Where hierarchies of it are mounted by custom.
    root: &'static str,
    /// The line of `/proc/self/cgroup` that has our own group.
    line: fn(&str) -> Option<&str>,
    /// The limit of memory, and those without which the process would be swapped out, where there are any.
    limits: &'static [(&'static str, &'static str)],
    counter: &'static str,
}

const SECOND: Version = Version {
    root: "/sys/fs/cgroup",
    line: |line| line.strip_prefix("0::"),
    limits: &[("memory.max", LIMIT), ("memory.swap.max", "0")],
    counter: "memory.events",
};

const FIRST: Version = Version {
    root: "/sys/fs/cgroup/memory",
    line: |line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == "memory").then_some(path)
    },
    // In this order: the second may not be less than the first.
    limits: &[("memory.limit_in_bytes", LIMIT), ("memory.memsw.limit_in_bytes", LIMIT)],
    counter: "memory.oom_control",
};

/// To have groups.
pub fn groups() -> Option<String> {
    Group::new().err()
}

impl Group {
    /// A new one below our own, or below one above it. Why there is none, if the system or our rights do not allow it.
    pub fn new() -> Result<Group, String> {
        let own =
            fs::read_to_string("/proc/self/cgroup").map_err(|error| format!("no control groups: {error}"))?;
        let made = [SECOND, FIRST].iter().find_map(|version| version.make(&own));
        made.ok_or_else(|| {
            "no memory control group can be made here; that takes root, or a group of one's own".into()
        })
    }

    /// From now on what this process takes counts.
    pub fn take(&self, pid: i32) -> std::io::Result<()> {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string())
    }

    /// How many processes the kernel has ended for want of memory.
    pub fn ended(&self) -> u64 {
        let text = fs::read_to_string(self.folder.join(self.counter)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }
}

impl Version {
    fn make(&self, own: &str) -> Option<Group> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let path = own.lines().find_map(self.line)?;
        let root = Path::new(self.root);
        let own = root.join(path.trim_start_matches('/'));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("talisman-nemesis-{}-{number}", std::process::id());
        own.ancestors()
            .take_while(|above| above.starts_with(root))
            .find_map(|above| self.make_at(above.join(&name)))
    }

    /// A folder that is made here is a group. It has limits if groups above it hand this down.
    fn make_at(&self, folder: PathBuf) -> Option<Group> {
        fs::create_dir(&folder).ok()?;
        let group = Group { folder, counter: self.counter };
        for (number, (name, value)) in self.limits.iter().enumerate() {
            let file = group.folder.join(name);
            // Swapping may be off.
            if number == 0 || file.exists() {
                fs::OpenOptions::new().write(true).open(&file).ok()?;
                fs::write(&file, value).ok()?;
            }
        }
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..LOOKS {
            if fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        eprintln!("{} cannot be removed", self.folder.display());
    }
}
