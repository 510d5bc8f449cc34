//! Grids of `jacobi3d` by how large a checkpoint of them is.

/// Of a block of 32³ cells in a checkpoint, within a few parts in a thousand.
const BLOCK_BYTES: u64 = 312_000;

/// A grid in blocks of 32³ cells.
#[derive(Clone, Copy)]
pub struct Size {
    /// In words.
    pub name: &'static str,
    /// Blocks along each axis.
    blocks: [u32; 3],
}

pub const MB_50: Size = Size { name: "50 MB", blocks: [8, 4, 5] };
pub const MB_100: Size = Size { name: "100 MB", blocks: [8, 8, 5] };
pub const MB_128: Size = Size { name: "128 MB", blocks: [8, 8, 6] };
pub const MB_200: Size = Size { name: "200 MB", blocks: [8, 8, 10] };
pub const GB_1: Size = Size { name: "1 GB", blocks: [16, 20, 10] };

impl Size {
    /// About as many as a checkpoint has.
    pub fn bytes(&self) -> u64 {
        BLOCK_BYTES * self.blocks.map(u64::from).iter().product::<u64>()
    }

    /// Options that make `jacobi3d` have it.
    pub fn options(&self) -> String {
        let [x, y, z] = self.blocks.map(|blocks| 32 * blocks);
        format!("--grid {x},{y},{z} --block 32,32,32")
    }
}
