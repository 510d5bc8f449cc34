//! `value.await?`: waits, and then looks at what has come.

use super::super::ir::{Code, Machine};
use super::super::rewrite::is_result;
use super::super::uses::expr_awaits;
use super::wait::Target;
use super::{Lower, Place};
use syn::{Error, Expr, ExprTry, GenericArgument, Ident, Pat, PathArguments, Stmt, Type, parse_quote};

/// A statement that is `base.await?`, or a `let` of that.
pub struct Question {
    base: Expr,
    /// The statement with `value?` instead.
    then: Stmt,
    value: Ident,
    /// The type that remains after `?`, where it is written. A statement alone wants none.
    remains: Result<Type, Error>,
}

/// Takes such a statement apart; `tail` is the type of its value if it is the method's.
pub fn question(stmt: &Stmt, tail: Option<&Type>) -> Option<Question> {
    let mut then = stmt.clone();
    let (whole, remains) = match &mut then {
        Stmt::Local(local) => {
            let init = local.init.as_mut().filter(|init| init.diverge.is_none())?;
            (&mut *init.expr, type_of(&local.pat))
        }
        Stmt::Expr(e, _) => (e, Ok(tail.cloned().unwrap_or_else(|| parse_quote!(())))),
        Stmt::Item(_) | Stmt::Macro(_) => return None,
    };
    let Expr::Try(ExprTry { expr: tried, .. }) = whole else { return None };
    let Expr::Await(awaited) = &**tried else { return None };
    if expr_awaits(&awaited.base) {
        return None;
    }
    let (base, value): (Expr, Ident) = ((*awaited.base).clone(), parse_quote!(__value));
    **tried = parse_quote!(#value);
    Some(Question { base, then, value, remains })
}

fn type_of(pat: &Pat) -> Result<Type, Error> {
    match pat {
        Pat::Type(typed) => Ok((*typed.ty).clone()),
        Pat::Wild(_) => Ok(parse_quote!(())),
        other => Err(Error::new_spanned(
            other,
            "what is awaited here comes in a message: write the type that is left after `?`, `let x: Type = ….await?`",
        )),
    }
}

impl Lower<'_> {
    /// `let x: T = base.await?;` is `let __value: Result<T, E> = base.await; let x: T = __value?;`.
    pub(super) fn ask(&mut self, m: &mut Machine, place: Place, question: Question, rest: &[Stmt]) -> Code {
        let Question { base, then, value, remains } = question;
        let asked =
            if self.told_by_signature(&base) { Ok(None) } else { self.asked(&base, remains).map(Some) };
        let ty = match asked {
            Ok(ty) => ty,
            Err(error) => {
                self.errors.push(error);
                return vec![];
            }
        };
        let all: Vec<Stmt> = [then].into_iter().chain(rest.iter().cloned()).collect();
        self.wait(m, place, &base, Some(Target { pat: parse_quote!(#value), ty }), &all)
    }

    /// The type of what arrives: the method's own `Result` with another value, as no other error type can be seen here.
    fn asked(&self, base: &Expr, remains: Result<Type, Error>) -> Result<Type, Error> {
        let Some(ret) = self.flow.method.ret.as_ref().filter(|ret| is_result(ret)) else {
            return Err(Error::new_spanned(base, "`?` needs an async entry that returns a `Result`"));
        };
        with_value(ret.clone(), remains?).ok_or_else(|| {
            Error::new_spanned(
                base,
                "which errors come here cannot be seen: write `let x: Result<T, E> = ….await;`, and then `let x: T = x?;`",
            )
        })
    }
}

/// `Result<A, E>` with another value; `None` where the type has no arguments to look at.
fn with_value(mut result: Type, value: Type) -> Option<Type> {
    let Type::Path(path) = &mut result else { return None };
    let PathArguments::AngleBracketed(arguments) = &mut path.path.segments.last_mut()?.arguments else {
        return None;
    };
    *arguments.args.first_mut()? = GenericArgument::Type(value);
    Some(result)
}
