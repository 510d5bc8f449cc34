//! The page: one text, into which nothing of a job is written. What it shows comes as data, and is put in as text.

use crate::token::Token;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// What allows the style and the script of this page to be used, and no others: drawn for each time that it is served.
pub(crate) struct Nonce(Token);

impl Nonce {
    /// None if the system gives no random numbers.
    pub(crate) fn drawn() -> Option<Nonce> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Nonce(Token::of(&bytes)))
    }

    /// The header that says so.
    pub(crate) fn policy(&self) -> String {
        let nonce = self.0.text();
        format!(
            "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
    }

    pub(crate) fn page(&self) -> String {
        PAGE.replace("NONCE", self.0.text()).replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let nonce = Nonce::drawn().unwrap();
        let page = nonce.page();
        for foreign in ["http://", "https://", "//cdn", "src=", "@import", "url("] {
            // The namespace of pictures is a name, and nothing is fetched from it.
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(foreign), "{foreign}");
        }
        assert!(page.len() < 40_000, "{} bytes", page.len());
        assert_eq!(page.matches(&format!("nonce=\"{}\"", nonce.0.text())).count(), 2);
        assert!(!page.contains("NONCE") && !page.contains("innerHTML"), "data are text");
        assert_ne!(nonce.policy(), Nonce::drawn().unwrap().policy());
    }
}
