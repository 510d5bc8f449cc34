//! Compiling test programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for one test, empty at first.
pub struct Workshop(pub PathBuf);

impl Workshop {
    pub fn new() -> Workshop {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("loader-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
        Workshop(folder)
    }

    /// Compiles a source of `tests/programs`. The result is found by its name, and so are libraries beside it.
    pub fn build(&self, output: &str, source: &str, options: &[&str]) -> PathBuf {
        let path = self.0.join(output);
        let compiler = if source.ends_with(".cpp") { "g++" } else { "gcc" };
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let result = Command::new(compiler)
            .arg("-O1")
            .arg(programs.join(source))
            .args(options)
            .arg(format!("-L{}", self.0.display()))
            .arg("-Wl,-rpath,$ORIGIN")
            .arg("-o")
            .arg(&path)
            .output()
            .expect("a compiler can be started");
        assert!(result.status.success(), "{source}: {}", String::from_utf8_lossy(&result.stderr));
        path
    }

    /// A library, `lib` and `.so` around its name.
    pub fn library(&self, name: &str, source: &str, options: &[&str]) {
        self.library_in(".", name, source, options);
    }

    /// The same in a folder.
    pub fn library_in(&self, folder: &str, name: &str, source: &str, options: &[&str]) {
        let file = format!("lib{name}.so");
        let soname = format!("-Wl,-soname,{file}");
        self.build(&format!("{folder}/{file}"), source, &[&["-shared", "-fPIC", &soname], options].concat());
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed is below `target`.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether there are compilers; says so if not.
pub fn compilers() -> bool {
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let both = there("gcc") && there("g++");
    if !both {
        eprintln!("skipped: there is no gcc or no g++");
    }
    both
}
