//! Where new connections come in, for links that broke.

#[derive(Default)]
pub(crate) struct Door;

impl Door {
    pub(crate) fn has_knock(&self) -> bool {
        false
    }
}
