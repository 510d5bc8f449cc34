//! What was wrong with the bytes, and where.

use std::fmt;

use crate::limits::{LEVELS_MAX, SERDE_LEVELS_MAX};

/// What was wrong with the bytes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes end inside a value.
    #[error("{wanted} bytes wanted, {left} left")]
    Short {
        /// Bytes that were to be read.
        wanted: usize,
        /// Bytes that were there.
        left: usize,
    },
    /// A length that the bytes left cannot justify.
    #[error("a length of {len} cannot fit in the {left} bytes left")]
    Length {
        /// The length read.
        len: u64,
        /// Bytes that were there.
        left: usize,
    },
    /// More elements without bytes of their own than the bound for one value.
    #[error(
        "too many values that take no bytes: one message or object may have {limit} bytes of memory of them"
    )]
    Empty {
        /// The bound, in bytes of memory.
        limit: usize,
    },
    /// Bytes after the end of the value.
    #[error("{left} bytes left over after the end of the value")]
    Trailing {
        /// Bytes that were there.
        left: usize,
    },
    /// Large plain slices beside the bytes that the bytes do not mention.
    #[error("{left} large slices left over that came beside the bytes")]
    Segments {
        /// How many.
        left: usize,
    },
    /// A large plain slice beside the bytes is not of the length that the bytes say.
    #[error("a slice of {wanted} bytes wanted beside these, {found} came")]
    Segment {
        /// Bytes wanted.
        wanted: u64,
        /// Bytes that came.
        found: u64,
    },
    /// The bytes mention a large plain slice beside them that is not there.
    #[error("a slice is wanted beside the bytes, and there is none")]
    NoSegment,
    /// A number that is no value of the type: an unknown enum variant, a `bool` of 2, a zero in a `NonZero`.
    #[error("{tag} is not a valid {of}")]
    Tag {
        /// The number read.
        tag: u64,
        /// The type it was to be.
        of: &'static str,
    },
    /// A number that does not fit the type on this machine.
    #[error("{value} does not fit a {of} on this machine")]
    Width {
        /// The number read.
        value: i128,
        /// The type it was to be.
        of: &'static str,
    },
    /// Text that is not UTF-8.
    #[error("text is not UTF-8")]
    Utf8,
    /// Boxes and containers inside each other beyond the bound that protects the stack.
    #[error(
        "boxes and containers are nested deeper than {LEVELS_MAX} levels: keep chains and deep trees in a `Vec` with indices"
    )]
    Depth,
    /// A field that is packed by serde nests beyond the bound of the bridge.
    #[error("a field with `#[pup(serde)]` is nested deeper than {SERDE_LEVELS_MAX} levels")]
    SerdeDepth,
    /// A value of a later version of the type.
    #[error("written by version {found} of the type, this program reads 1 to {newest}")]
    Version {
        /// The version read.
        found: u16,
        /// The latest version that this program knows.
        newest: u16,
    },
    /// A boxed trait object of a type that is not registered here.
    #[error(
        "no type named `{name}` is registered for `dyn {of}` in this program: put `#[pup_object]` on its `impl {of} for …`, and mention its crate in the program so that it is linked"
    )]
    Unknown {
        /// The wire name of the type.
        name: String,
        /// The trait.
        of: &'static str,
    },
    /// Something that both sides have to agree on is not the same here.
    #[error("`{what}` has changed since this was written")]
    Changed {
        /// What changed.
        what: &'static str,
    },
    /// The system gives no memory for what is packed.
    #[error("the system gives no memory for {bytes} bytes more")]
    Memory {
        /// How many.
        bytes: usize,
    },
    /// Well-formed bytes of a value that is not acceptable.
    #[error("{0}")]
    Invalid(String),
}

/// Of a longer path, that of something deep, only the ends are shown.
const PARTS_SHOWN: usize = 12;

const LEFT_OUT: &str = " … ";

/// What was wrong with the bytes, at which offset, and in which field.
///
/// Its size is one pointer, to keep the path on which all goes well fast.
#[derive(Clone, PartialEq, Eq)]
pub struct PupError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    at: usize,
    fault: Fault,
    /// Innermost first, because a path is built on the way out.
    path: Vec<Part>,
    /// Whose the value is, of one that many have given to.
    giver: Option<u128>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Name(&'static str),
    Index(usize),
}

impl PupError {
    /// An error at byte `at`, with no path yet. Inside `unpack` use [`Unpacker::fault`](crate::Unpacker::fault).
    #[cold]
    pub fn new(at: usize, fault: Fault) -> Self {
        PupError(Box::new(Inner { at, fault, path: Vec::new(), giver: None }))
    }

    /// Puts a field in front of the path: `edges`, or `Grid.edges`, of which the type is shown when it is outermost.
    #[cold]
    #[inline(never)]
    pub fn field(mut self, name: &'static str) -> Self {
        self.0.path.push(Part::Name(name));
        self
    }

    /// Puts an element of a sequence in front of the path.
    #[cold]
    #[inline(never)]
    pub fn index(mut self, index: usize) -> Self {
        self.0.path.push(Part::Index(index));
        self
    }

    /// This error of a packer with the place that a reader of the same bytes comes to: packing knows the type that it is at, and only
    /// reading knows the path. If the reader has something else to say, or nothing, the error stays as it is.
    pub(crate) fn placed<R>(self, read: Result<R, PupError>) -> PupError {
        // What is refused is not written, so that a reader may miss it where it begins to read what that is in.
        let is_it = |fault: &Fault| {
            *fault == self.0.fault || matches!(fault, Fault::Length { .. } | Fault::Short { .. })
        };
        match read {
            Err(found) if is_it(&found.0.fault) && !found.0.path.is_empty() => {
                PupError(Box::new(Inner { path: found.0.path, ..*self.0 }))
            }
            _ => self,
        }
    }

    /// This error of what `giver` has given to the value: see [`Packer::given_by`](crate::Packer::given_by).
    #[cold]
    pub(crate) fn given_by(mut self, giver: u128) -> PupError {
        self.0.giver.get_or_insert(giver);
        self
    }

    /// Who has given the part of the value that was wrong, by the number that [`Packer::given_by`](crate::Packer::given_by) was told.
    pub fn giver(&self) -> Option<u128> {
        self.0.giver
    }

    /// What was wrong.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// Whether nothing was wrong but that there was no memory: later there may be.
    pub fn is_memory(&self) -> bool {
        matches!(self.0.fault, Fault::Memory { .. })
    }

    /// The offset of the byte where reading stopped.
    pub fn offset(&self) -> usize {
        self.0.at
    }

    /// The path of the field, such as `Grid.edges[1].speed`; empty when the whole value is meant.
    pub fn path(&self) -> String {
        let (mut path, parts) = (String::new(), self.0.path.len());
        for (place, part) in self.0.path.iter().rev().enumerate() {
            if parts > PARTS_SHOWN && place == PARTS_SHOWN / 2 {
                path.push_str(LEFT_OUT);
            }
            if parts > PARTS_SHOWN && (PARTS_SHOWN / 2..parts - PARTS_SHOWN / 2).contains(&place) {
                continue;
            }
            match part {
                Part::Index(index) => path.push_str(&format!("[{index}]")),
                // The outermost field, and the first behind what is left out, are shown with their types.
                Part::Name(name) if path.is_empty() || path.ends_with(LEFT_OUT) => path.push_str(name),
                Part::Name(name) => path.extend([".", without_type(name)]),
            }
        }
        path
    }
}

fn without_type(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl fmt::Display for PupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        let colon = if path.is_empty() { "" } else { ": " };
        write!(f, "{path}{colon}{} (at byte {})", self.0.fault, self.0.at)
    }
}

impl fmt::Debug for PupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PupError({self})")
    }
}

impl std::error::Error for PupError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_shown_once_at_the_front() {
        let inner = PupError::new(7, Fault::Utf8).field("Boundary::Flow.speed").index(1).field("Grid.edges");
        assert_eq!(inner.to_string(), "Grid.edges[1].speed: text is not UTF-8 (at byte 7)");
        assert_eq!(PupError::new(0, Fault::Depth).path(), "");
        assert_eq!(PupError::new(0, Fault::Depth).field("0").index(3).path(), "[3].0");
    }

    #[test]
    fn of_a_long_path_the_types_at_both_ends_are_shown() {
        let deep = (0..50).fold(PupError::new(0, Fault::Depth), |error, _| error.field("Undo.before"));
        let before = ".before".repeat(5);
        assert_eq!(deep.field("Editor.undo").path(), format!("Editor.undo{before} … Undo.before{before}"));
    }

    #[test]
    fn the_place_is_taken_of_a_reader_that_finds_the_same() {
        let refused = || PupError::new(9, Fault::Depth).field("Tree");
        let found = PupError::new(1, Fault::Depth).field("Tree.children");
        assert_eq!(
            refused().placed::<()>(Err(found.clone())).to_string(),
            found.to_string().replace("byte 1", "byte 9")
        );
        assert_eq!(refused().placed(Ok(())), refused());
        assert_eq!(refused().placed::<()>(Err(PupError::new(1, Fault::Utf8).field("Tree.name"))), refused());
        assert_eq!(refused().placed::<()>(Err(PupError::new(1, Fault::Depth))), refused());
    }

    #[test]
    fn an_error_is_one_pointer_and_goes_anywhere() {
        fn goes_anywhere<T: std::error::Error + Clone + PartialEq + Send + Sync + 'static>() {}
        goes_anywhere::<PupError>();
        assert_eq!(size_of::<Result<(), PupError>>(), size_of::<usize>());
    }
}
