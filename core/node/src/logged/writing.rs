//! The parts of a line are written on this node's disk, beside its PEs: by a thread of its own, which has copies of what they began with.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::LoggedCommands;
use talisman_base::view::View;
use talisman_core::logging::image::Image;
use talisman_core::logging::on_disk::{begin_to_write, has_written};
use talisman_ft::Version;
use talisman_store::shm_map::Mapping;
use talisman_store::versions::Store;

/// How often it is looked whether a disk has kept what was written: that takes longer.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What writes.
#[derive(Default)]
pub(super) struct Writing {
    thread: Option<JoinHandle<()>>,
    /// What is written, until all have written theirs: keepers write what they have mapped of it.
    of: Option<(Version, Arc<[Image]>)>,
}

impl Writing {
    /// Begins to write these places in a line. What came of it, the commands bring.
    pub(super) fn begin(
        &mut self,
        (line, images, mapped): (Version, Vec<Image>, Vec<Arc<Mapping>>),
        view: View,
        store: &Arc<Store>,
        commands: &Arc<LoggedCommands>,
    ) {
        // Nobody asks for a version before it is known how that before it went.
        self.end();
        let images: Arc<[Image]> = images.into();
        self.of = Some((line, images.clone()));
        let (store, to_tell) = (store.clone(), commands.clone());
        let write = move || {
            let written = write((line, &images), &view, &store);
            let is_unchanged = mapped.iter().all(|slab| slab.is_unchanged());
            let gone = || "what was kept of another node is not what it was".into();
            let written = written.and_then(|()| is_unchanged.then_some(()).ok_or_else(gone));
            to_tell.wrote(line, written.err());
        };
        match thread::Builder::new().name("parts".into()).spawn(write) {
            Ok(thread) => self.thread = Some(thread),
            Err(error) => commands.wrote(line, Some(format!("the system gives no thread: {error}"))),
        }
    }

    /// Waits until all is written.
    pub(super) fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic there was told of by itself.
            let _ = thread.join();
        }
    }

    /// All have written theirs, or will not.
    pub(super) fn end(&mut self) {
        self.finish();
        self.of = None;
    }

    /// Whether parts of this line are written, or have been, and not all have.
    pub(super) fn is_of(&self, line: Version) -> bool {
        self.of.as_ref().is_some_and(|(of, _)| *of == line)
    }
}

fn write((line, images): (Version, &[Image]), view: &View, store: &Store) -> Result<(), String> {
    let parts = begin_to_write(store, images, view)?;
    loop {
        if let Some(written) = has_written(store, line, &parts) {
            return written;
        }
        thread::sleep(LOOK_EVERY);
    }
}
