//! #[derive(Pup)].
