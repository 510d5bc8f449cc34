//! A part of packed values: where its bytes lie.

use super::Map;

/// A part of the packed bytes of values: so many are passed over, so many follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes before it.
    pub skip: u64,
    /// Bytes of it.
    pub left: u64,
}

impl Map {
    /// Calls back with the displacement and the length of each piece of memory that bytes of this part lie in, and takes
    /// them off the part. What is passed over is not walked through. False once the callback has said so: then it is over.
    pub fn each_piece(&self, at: i64, part: &mut Part, call: &mut impl FnMut(i64, u64) -> bool) -> bool {
        if part.left == 0 {
            return true;
        }
        let size = self.size();
        if part.skip >= size {
            part.skip -= size;
            return true;
        }
        match self {
            Map::Run(..) => {
                let (from, len) = (part.skip, (size - part.skip).min(part.left));
                *part = Part { skip: 0, left: part.left - len };
                call(at.wrapping_add(from as i64), len)
            }
            Map::Repeat(count, stride, inner) => {
                // Not zero: there are bytes.
                let each = size / count;
                let first = part.skip / each;
                part.skip -= first * each;
                for step in first..*count {
                    let at = at.wrapping_add(stride.wrapping_mul(step as i64));
                    if part.left == 0 {
                        break;
                    }
                    if !inner.each_piece(at, part, call) {
                        return false;
                    }
                }
                true
            }
            Map::At(parts) => {
                parts.iter().all(|(offset, map)| map.each_piece(at.wrapping_add(*offset), part, call))
            }
        }
    }
}
