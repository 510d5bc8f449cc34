//! Files of checkpoints that somebody else has written, as fuzz targets reach them. Nothing that programs use.

use super::manifest::Manifest;
use super::{File, image};
use crate::disk::DiskRates;
use crate::disk::{Disk as _, KeyFile, SimulatedDisk, replace};
use talisman_base::rng::Rng;

/// The version of the files that are made.
const VERSION: u64 = 7;

/// Reads bytes as files of a checkpoint: as they are, and as the body of files whose checksums are right.
pub fn read_checkpoint(data: &[u8]) {
    let _ = image::of_file(data.to_vec(), &KeyFile::default(), (1, VERSION), 0);
    let mut disk = SimulatedDisk::new(DiskRates::default(), Rng::new(1));
    let names = [File::Manifest(VERSION).name(), File::Part(VERSION, 0).name()];
    for is_body in [false, true] {
        for name in &names {
            let written = if is_body { replace(&mut disk, name, &[data]) } else { disk.write(name, &[data]) };
            written.expect("this disk has no faults");
        }
        let manifest = Manifest::read(&mut disk, VERSION);
        if let Ok(manifest) = manifest {
            // What it says is bounded before anything is made for it.
            let _ = (
                manifest.what_is_wrong(VERSION),
                manifest.pes().take(10).count(),
                manifest.has_part_of(u32::MAX),
            );
        }
        let _ = image::read(&mut disk, 1, VERSION, 0);
    }
}
