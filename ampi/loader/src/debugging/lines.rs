//! Function and line of an address (DWARF 5, 3.3 and 6.2).

use std::borrow::Cow;
use std::path::Path;

use addr2line::gimli::Dwarf;
use addr2line::{Context, demangle_auto};

use super::files::{Slice, slice};
use crate::elf::Sections;

/// Those of a file.
pub struct Lines(Context<Slice>);

/// What is known of an address.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The function, as people write it.
    pub function: Option<String>,
    /// The source file's name without its folder, and the line.
    pub line: Option<(String, u32)>,
}

impl Lines {
    /// None if the file was compiled without (`-g`), or was stripped.
    pub fn of(sections: &Sections) -> Option<Lines> {
        sections.address(".debug_info")?;
        let dwarf = Dwarf::load(|id| Ok::<_, addr2line::gimli::Error>(slice(sections, id.name()))).ok()?;
        Some(Lines(Context::from_dwarf(dwarf).ok()?))
    }

    /// The innermost function if others were put into it.
    pub fn find(&self, address: u64) -> Option<Found> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        let frame = frames.next().ok()??;
        let function = frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
        let line = frame.location.and_then(|place| Some((file_name(place.file?), place.line?)));
        Some(Found { function, line })
    }
}

/// A name of a function as people write it.
pub fn readable(name: &str) -> String {
    demangle_auto(Cow::Borrowed(name), None).into_owned()
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_people_write_them() {
        assert_eq!(readable("_ZN5solve4stepEi"), "solve::step(int)");
        assert_eq!(readable("dgsum2d_"), "dgsum2d_");
        assert_eq!(file_name("/build/heat/src/heat.c"), "heat.c");
    }
}
