//! `value.await?`: waits, and then looks at what has come.

use super::super::ir::{Code, Machine};
use super::super::rewrite::is_result;
use super::super::uses::expr_awaits;
use super::wait::Target;
use super::{Lower, Place, value_at};
use syn::{Expr, ExprTry, Stmt};

/// A statement that is `base.await?`, or a `let` or an assignment of that.
pub struct Question {
    base: Expr,
    /// The statement with `__value?` instead.
    then: Stmt,
}

/// Takes such a statement apart.
pub fn question(stmt: &Stmt) -> Option<Question> {
    let mut then = stmt.clone();
    let whole = match &mut then {
        Stmt::Local(local) => {
            let init = local.init.as_mut().filter(|init| init.diverge.is_none())?;
            &mut *init.expr
        }
        Stmt::Expr(Expr::Assign(e), _) if !expr_awaits(&e.left) => &mut *e.right,
        Stmt::Expr(Expr::Binary(e), _) if super::assigns(&e.op) && !expr_awaits(&e.left) => &mut *e.right,
        Stmt::Expr(e, _) => e,
        Stmt::Item(_) | Stmt::Macro(_) => return None,
    };
    let Expr::Try(ExprTry { expr: tried, .. }) = whole else { return None };
    let Expr::Await(awaited) = &**tried else { return None };
    if expr_awaits(&awaited.base) {
        return None;
    }
    let base: Expr = (*awaited.base).clone();
    **tried = value_at(&base);
    Some(Question { base, then })
}

impl Lower<'_> {
    /// `let x = base.await?;` is `let __value = base.await; let x = __value?;`.
    pub(super) fn ask(&mut self, m: &mut Machine, place: Place, question: Question, rest: &[Stmt]) -> Code {
        let Question { base, then } = question;
        if !self.flow.method.ret.as_ref().is_some_and(is_result) {
            self.errors.at(&base, "`?` needs an async entry that returns a `Result`");
            return vec![];
        }
        let all: Vec<Stmt> = [then].into_iter().chain(rest.iter().cloned()).collect();
        self.wait(m, place, &base, Some(Target::value()), &all)
    }
}
