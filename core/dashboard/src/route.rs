//! What somebody wants, by the first line and the headers of its request. Pure.

use talisman_job::asking::Request;

use crate::token::Token;

/// Most bytes of a request to the job.
pub(crate) const ASKED_MOST: usize = 256;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Page,
    Events,
    Snapshot,
    Metrics,
    Ask,
    /// No token, or another: nothing else is said, also not whether there is such a path.
    Refused,
    NoSuch,
    OtherMethod,
}

/// By method, path, query and the header `Authorization`.
pub(crate) fn route(
    token: &Token,
    method: &str,
    path: &str,
    query: Option<&str>,
    authorization: Option<&str>,
) -> Route {
    let in_query = query.into_iter().flat_map(|query| query.split('&'));
    let in_query = in_query.filter_map(|pair| pair.strip_prefix("token="));
    let bearer = authorization.and_then(|value| value.strip_prefix("Bearer "));
    if !in_query.chain(bearer).any(|said| token.is(said)) {
        return Route::Refused;
    }
    let found = match path {
        "/" => Route::Page,
        "/events" => Route::Events,
        "/snapshot" => Route::Snapshot,
        "/metrics" => Route::Metrics,
        "/ask" => Route::Ask,
        _ => return Route::NoSuch,
    };
    let wanted = if found == Route::Ask { "POST" } else { "GET" };
    if method == wanted { found } else { Route::OtherMethod }
}

/// The request to the job in a body: one that changes something.
///
/// # Errors
/// It is none: a sentence for people.
pub(crate) fn asked(body: &[u8]) -> Result<Request, String> {
    let text = std::str::from_utf8(body).map_err(|_| "a request is text".to_owned())?;
    match text.trim().parse()? {
        Request::Look => Err("`look` is no request here; /snapshot has what it would say".into()),
        request => Ok(request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: [u8; 4] = [1, 2, 3, 4];

    fn found(method: &str, path: &str, query: Option<&str>, authorization: Option<&str>) -> Route {
        route(&Token::of(&TOKEN), method, path, query, authorization)
    }

    #[test]
    fn nobody_gets_anything_without_the_token() {
        for path in ["/", "/events", "/snapshot", "/metrics", "/ask", "/nothing", "/../etc/passwd"] {
            for query in [
                None,
                Some(""),
                Some("token="),
                Some("token=0102030"),
                Some("token=010203040"),
                Some("x=01020304"),
            ] {
                assert_eq!(found("GET", path, query, None), Route::Refused, "{path} {query:?}");
            }
            for header in ["01020304", "Bearer ", "Bearer 01020305", "bearer 01020304", "Basic 01020304"] {
                assert_eq!(found("GET", path, None, Some(header)), Route::Refused, "{path} {header}");
            }
        }
    }

    #[test]
    fn whoever_has_it_gets_what_is_there_and_nothing_else() {
        let query = Some("a=b&token=01020304");
        assert_eq!(found("GET", "/", query, None), Route::Page);
        assert_eq!(found("GET", "/metrics", None, Some("Bearer 01020304")), Route::Metrics);
        assert_eq!(found("GET", "/events", query, Some("Bearer x")), Route::Events);
        assert_eq!(found("POST", "/ask", query, None), Route::Ask);
        assert_eq!(
            found("GET", "/ask", query, None),
            Route::OtherMethod,
            "a link alone must not change anything"
        );
        assert_eq!(found("POST", "/", query, None), Route::OtherMethod);
        assert_eq!(found("GET", "/page/page.html", query, None), Route::NoSuch);
        assert_eq!(found("GET", "/../", query, None), Route::NoSuch);
    }

    #[test]
    fn what_is_asked_for_is_what_the_command_asks_for() {
        assert_eq!(asked(b"shrink 1 2\n"), Ok(Request::Shrink(vec![1, 2])));
        assert!(asked(b"look").unwrap_err().contains("/snapshot"));
        assert!(asked(b"explode").is_err() && asked(&[0xff]).is_err() && asked(b"").is_err());
    }
}
