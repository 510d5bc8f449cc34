//! `cx.overlap(async { … }, async { … }).await`: machines inside a state of the machine around them.

use super::super::ir::{Body, Branch, Code, Machine, Node, On, Out, Wait, meaning};
use super::super::liveness::outer_uses;
use super::{Lower, Next, Place};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{ExprAsync, ExprMethodCall, Lifetime, Stmt};

impl Lower<'_> {
    pub(super) fn lower_overlap(
        &mut self,
        m: &mut Machine,
        place: Place,
        call: &ExprMethodCall,
        rest: &[Stmt],
    ) -> Code {
        let label = m.label(place.env.clone());
        let (mut branches, mut hidden) = (vec![], vec![]);
        let (_, generics, _) = self.flow.scope.chare.generics.split_for_impl();
        for part in &call.args {
            let syn::Expr::Async(part) = part else {
                self.errors
                    .at(part, "`cx.overlap` takes blocks: `cx.overlap(async { … }, async { … }).await`");
                continue;
            };
            let branch = self.branch(&place, part);
            let (var, state) = (&branch.var, &branch.machine.name);
            hidden.push((var.clone(), quote!(#state #generics)));
            branches.push(branch);
        }
        let code = vec![Node::Branches(label), Node::Jump(label, meaning(&place.env))];
        let then = self.block(m, place, rest);
        m.labels[label].body =
            Body::Wait(Box::new(Wait { at: call.span(), hidden, on: On::Overlap { branches, then } }));
        code
    }

    /// One part. The variables around it stay where they are; those declared inside are fields of its states.
    fn branch(&mut self, place: &Place, part: &ExprAsync) -> Branch {
        self.branches += 1;
        let var = format_ident!("__b{}", self.branches);
        let name =
            format_ident!("{}_{}", self.flow.scope.chare.state_type(&self.flow.method.name), self.branches);
        let life = Lifetime::new(&format!("'__b{}", self.branches), part.span());
        let mut machine = Machine::new(name, Out::Branch { var: var.clone(), life, depth: place.depth });
        let start = machine.label(place.env.clone());
        let inside = Place { next: Next::End, loops: vec![], depth: place.depth + 1, env: place.env.clone() };
        let code = self.block(&mut machine, inside, &part.block.stmts);
        machine.labels[start].body = Body::Code(code);
        let outer = outer_uses(&machine);
        Branch { machine, var, outer }
    }
}
