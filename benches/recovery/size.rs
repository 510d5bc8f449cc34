//! Grids of `jacobi3d` by how large a checkpoint of them is.

/// A grid in blocks of 32³ cells, each of which packs into 314 KB.
#[derive(Clone, Copy)]
pub struct Size {
    /// In words.
    pub name: &'static str,
    /// Blocks along each axis.
    blocks: [u32; 3],
}

pub const MB_50: Size = Size { name: "50 MB", blocks: [8, 4, 5] };
pub const MB_100: Size = Size { name: "100 MB", blocks: [8, 8, 5] };
pub const MB_200: Size = Size { name: "200 MB", blocks: [8, 8, 10] };
pub const GB_1: Size = Size { name: "1 GB", blocks: [16, 20, 10] };

impl Size {
    /// Options that make `jacobi3d` have it.
    pub fn options(&self) -> String {
        let [x, y, z] = self.blocks.map(|blocks| 32 * blocks);
        format!("--grid {x},{y},{z} --block 32,32,32")
    }
}
