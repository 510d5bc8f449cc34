//! What lets somebody look.

use std::fmt::Write as _;

use subtle::ConstantTimeEq as _;

/// A secret of a job's own, from which nothing else of it can be found out.
pub struct Token(String);

impl Token {
    /// Of these bytes, which nobody can guess.
    ///
    /// ```
    /// use talisman_dashboard::Token;
    ///
    /// let token = Token::of(&[0, 171]);
    /// assert!(token.is("00ab") && !token.is("00ac") && !token.is("00") && !token.is(""));
    /// ```
    pub fn of(bytes: &[u8]) -> Token {
        let mut text = String::with_capacity(2 * bytes.len());
        bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a text takes all"));
        Token(text)
    }

    /// Whether this is the token. How long that takes says nothing but how long the token is.
    pub fn is(&self, said: &str) -> bool {
        !self.0.is_empty() && bool::from(self.0.as_bytes().ct_eq(said.as_bytes()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
