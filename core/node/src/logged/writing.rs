//! The parts of a line are written on this node's disk, beside its PEs: by a thread of its own, which has copies of what they began with.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::LoggedCommands;
use talisman_base::view::View;
use talisman_core::logging::image::Image;
use talisman_core::logging::on_disk::{begin_to_write, has_written};
use talisman_ft::Version;
use talisman_store::versions::Store;

/// How often it is looked whether a disk has kept what was written: that takes longer.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What writes.
#[derive(Default)]
pub(super) struct Writing(Option<JoinHandle<()>>);

impl Writing {
    /// Begins to write these places in a line. What came of it, the commands bring.
    pub(super) fn begin(
        &mut self,
        (line, images): (Version, Vec<Image>),
        view: View,
        store: &Arc<Store>,
        commands: &Arc<LoggedCommands>,
    ) {
        // Nobody asks for a version before it is known how that before it went.
        self.finish();
        let (store, to_tell) = (store.clone(), commands.clone());
        let write = move || to_tell.wrote(line, write((line, &images), &view, &store).err());
        match thread::Builder::new().name("parts".into()).spawn(write) {
            Ok(thread) => self.0 = Some(thread),
            Err(error) => commands.wrote(line, Some(format!("the system gives no thread: {error}"))),
        }
    }

    /// Waits until all is written.
    pub(super) fn finish(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic there was told of by itself.
            let _ = thread.join();
        }
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
