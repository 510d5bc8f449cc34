//! Talisman.
