//! The walls of the house: which room may know which, checked against the imports of the code.
//!
//! A room is a crate, or a part of `core` (`layering/rooms.rs`). Cargo keeps crates from importing each other in circles; this test also
//! keeps each from importing what is not below it, and holds the rooms inside `core` apart.

#[path = "layering/bounds.rs"]
mod bounds;
#[path = "layering/imports.rs"]
mod imports;
#[path = "layering/rooms.rs"]
mod rooms;

use std::collections::BTreeSet;
use std::path::Path;

use imports::{Import, imports_of};
use rooms::{may_know, room_of};
use talisman_kernel::inventory;
use talisman_kernel::message::service::{Reader, SERVICES};

/// Imports from one file to another that run against the directions, as `from -> to`.
fn violations() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for Import { from, to } in imports_of(root, rooms::CRATES) {
        if !may_know(room_of(&from), room_of(&to)) {
            found.insert(format!("{from} -> {to}"));
        }
    }
    found
}

#[test]
fn imports_go_down_only() {
    let found = violations();
    assert!(
        found.is_empty(),
        "these imports run against the directions in tests/layering/rooms.rs: {found:#?}"
    );
}

#[test]
fn every_room_of_a_file_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = imports::sources_of(root, rooms::CRATES);
    assert!(files.len() > 300, "only {} files were found", files.len());
    for file in files {
        let room = room_of(&file);
        assert!(may_know(room, room), "{file} is in room {room:?}, which has no row of directions");
    }
}

#[test]
fn rows_of_directions_have_no_circle() {
    for (room, below) in rooms::DIRECTIONS {
        for other in *below {
            assert!(!may_know(other, room) || other == room, "{room} and {other} may know each other");
        }
    }
}

#[test]
fn an_import_upwards_is_seen() {
    let source = "use crate::{ids::PeId, simulation::{plan::Plan, World as W}};\nfn f() { crate::launch::tool::main(); }\n";
    let seen = imports::paths_in("core/src/tree.rs", source);
    let wanted = [
        "crate::ids::PeId",
        "crate::simulation::plan::Plan",
        "crate::simulation::World",
        "crate::launch::tool::main",
    ];
    for path in wanted {
        assert!(seen.iter().any(|p| p.join("::") == path), "{path} is not among {seen:?}");
    }
}

#[test]
fn imports_of_tests_are_left_out() {
    let source =
        "#[cfg(test)] mod tests { use crate::simulation::World; }\n#[cfg(test)] use crate::launch::tool;\n";
    assert_eq!(imports::paths_in("core/src/tree.rs", source), Vec::<Vec<String>>::new());
}

#[test]
fn every_service_has_one_reader() {
    // So that they are linked.
    std::hint::black_box(talisman::services::SERVICES);
    let mut services: Vec<_> = inventory::iter::<Reader>().map(|reader| reader.service as usize).collect();
    services.sort_unstable();
    assert_eq!(services, (0..SERVICES).collect::<Vec<_>>());
}
