//! Which variables each label needs: those that some path from it uses before setting them.

use super::ir::{Body, Branch, Code, Label, LabelId, Machine, Node, On, Piece, Wait};
use super::uses::{Names, bound_names, condition_patterns};
use syn::{Expr, Stmt};

/// A machine with its answer.
pub struct Live {
    /// For each label the variables it needs, a loop variable's counter among them.
    needs: Vec<Names>,
    /// Whether any path from the start leads there.
    reached: Vec<bool>,
}

impl Live {
    /// Iterates to the smallest solution: needs only grow, and names are few.
    pub fn of(machine: &Machine) -> Live {
        let mut live = Live { needs: vec![Names::new(); machine.labels.len()], reached: vec![] };
        loop {
            let needs: Vec<Names> = machine.labels.iter().map(|label| live.label(label)).collect();
            if needs == live.needs {
                break;
            }
            live.needs = needs;
        }
        live.reached = reached(machine);
        live
    }

    /// What this label needs.
    pub fn needs(&self, label: LabelId) -> &Names {
        &self.needs[label]
    }

    /// Whether this label is ever jumped to.
    pub fn reached(&self, label: LabelId) -> bool {
        self.reached[label]
    }

    /// The variables that each part of an overlap takes along as its own: those that no other part uses, nor what comes
    /// after. It may move them away, then, although the others still wait.
    pub fn adopted(&self, branches: &[Branch], then: &Code) -> Vec<Names> {
        let after = self.code(then);
        let of_others = |this: usize, name: &String| {
            branches.iter().enumerate().any(|(at, other)| at != this && other.outer.contains(name))
        };
        let adopted = |(this, branch): (usize, &Branch)| {
            let outer = branch.outer.iter();
            outer.filter(|name| !after.contains(*name) && !of_others(this, name)).cloned().collect()
        };
        branches.iter().enumerate().map(adopted).collect()
    }

    fn label(&self, label: &Label) -> Names {
        let mut needs = match &label.body {
            Body::Code(code) => self.code(code),
            Body::Wait(wait) => self.wait(wait),
        };
        for local in &label.env {
            if let Some(range) = local.range.as_ref().filter(|_| needs.contains(&local.name.to_string())) {
                needs.insert(range.counter.to_string());
            }
        }
        needs.retain(|name| label.env.iter().any(|local| local.name == name.as_str()));
        needs
    }

    fn wait(&self, wait: &Wait) -> Names {
        match &wait.on {
            On::Message { then, .. } | On::Reply { then, .. } | On::Call { then, .. } => {
                without(self.code(&then.code), &then.names)
            }
            On::Any(arms) => {
                let mut needs = Names::new();
                for arm in arms {
                    let bound: Names = arm.pats.iter().flat_map(bound_names).collect();
                    let mut used = self.code(&arm.code);
                    used.extend(arm.guard.iter().flat_map(|guard| super::uses::of_expr(guard).uses));
                    needs.extend(without(used, &bound));
                }
                needs
            }
            On::Overlap { branches, then } => {
                let mut needs = self.code(then);
                needs.extend(branches.iter().flat_map(|branch| branch.outer.iter().cloned()));
                needs
            }
        }
    }

    fn code(&self, code: &Code) -> Names {
        code.iter().rev().fold(Names::new(), |after, node| self.node(node, after))
    }

    /// What is needed before a node, given what is needed after it.
    fn node(&self, node: &Node, after: Names) -> Names {
        match node {
            Node::Run(piece) => {
                let set = match &piece.code {
                    Stmt::Local(local) => bound_names(&local.pat),
                    _ => Names::new(),
                };
                self.with_piece(without(after, &set), piece)
            }
            Node::Raw(_, uses) => union(after, uses),
            Node::Count(range, _, uses) => {
                union(without(after, &Names::from([range.counter.to_string()])), uses)
            }
            Node::If(condition, then, otherwise) => {
                let bound = condition_patterns(&condition.code).into_iter().flat_map(bound_names).collect();
                let either = union(self.code(otherwise), &without(self.code(then), &bound));
                self.with_piece(either, condition)
            }
            Node::Match(value, cases) => {
                let mut any = Names::new();
                for case in cases {
                    let body = self.code(&case.code);
                    let needs = case.guard.iter().fold(body, |needs, guard| self.with_piece(needs, guard));
                    any.extend(without(needs, &bound_names(&case.pat)));
                }
                self.with_piece(any, value)
            }
            Node::Jump(to, _) => self.needs[*to].clone(),
            // What they take along is needed at their label, to which a jump follows.
            Node::Branches(_) => after,
            Node::Done(value) => {
                value.iter().fold(Names::new(), |needs, value| self.with_piece(needs, value))
            }
        }
    }

    fn with_piece<T>(&self, mut needs: Names, piece: &Piece<T>) -> Names {
        needs.extend(piece.uses.iter().cloned());
        for exit in &piece.exits {
            needs.extend(self.needs[exit.to].iter().cloned());
        }
        needs
    }
}

/// What a part of an overlap uses of the variables around it, at any of its labels.
pub fn outer_uses(machine: &Machine) -> Names {
    let live = Live::of(machine);
    let outer = |(id, label): (usize, &Label)| -> Names {
        let own = |name: &String| label.env.iter().any(|l| l.name == name.as_str() && machine.owns(l));
        live.needs[id].iter().filter(|name| !own(name)).cloned().collect()
    };
    machine.labels.iter().enumerate().flat_map(outer).collect()
}

fn union(mut a: Names, b: &Names) -> Names {
    a.extend(b.iter().cloned());
    a
}

fn without(mut from: Names, names: &Names) -> Names {
    from.retain(|name| !names.contains(name));
    from
}

/// Which labels some path from the first one leads to.
fn reached(machine: &Machine) -> Vec<bool> {
    let mut reached = vec![false; machine.labels.len()];
    let mut next = vec![0];
    while let Some(label) = next.pop() {
        if !std::mem::replace(&mut reached[label], true) {
            label_targets(&machine.labels[label].body, &mut next);
        }
    }
    reached
}

fn label_targets(body: &Body, out: &mut Vec<LabelId>) {
    match body {
        Body::Code(code) => code_targets(code, out),
        Body::Wait(wait) => match &wait.on {
            On::Message { then, .. } | On::Reply { then, .. } | On::Call { then, .. } => {
                code_targets(&then.code, out);
            }
            On::Any(arms) => arms.iter().for_each(|arm| code_targets(&arm.code, out)),
            On::Overlap { then, .. } => code_targets(then, out),
        },
    }
}

fn code_targets(code: &Code, out: &mut Vec<LabelId>) {
    for node in code {
        match node {
            Node::Run(piece) => exits(piece, out),
            Node::Raw(..) | Node::Count(..) => {}
            Node::If(condition, then, otherwise) => {
                exits(condition, out);
                code_targets(then, out);
                code_targets(otherwise, out);
            }
            Node::Match(value, cases) => {
                exits(value, out);
                for case in cases {
                    case.guard.iter().for_each(|guard| exits(guard, out));
                    code_targets(&case.code, out);
                }
            }
            Node::Branches(_) => {}
            Node::Jump(to, _) => out.push(*to),
            Node::Done(value) => value.iter().for_each(|value| exits(value, out)),
        }
    }
}

fn exits<T>(piece: &Piece<T>, out: &mut Vec<LabelId>) {
    out.extend(piece.exits.iter().map(|exit| exit.to));
}

/// Whether any guard of this machine reads the object itself: `self`, or what its body calls the context.
pub fn watches(machine: &Machine, object: &[&str]) -> bool {
    any_guard(machine, &|guard| {
        let uses = super::uses::of_expr(guard).uses;
        object.iter().any(|name| uses.contains(*name))
    })
}

/// Whether this machine has any guard.
pub fn has_guards(machine: &Machine) -> bool {
    any_guard(machine, &|_| true)
}

fn any_guard(machine: &Machine, test: &dyn Fn(&Expr) -> bool) -> bool {
    machine.labels.iter().any(|label| match &label.body {
        Body::Code(_) => false,
        Body::Wait(wait) => match &wait.on {
            On::Any(arms) => arms.iter().filter_map(|arm| arm.guard.as_ref()).any(test),
            On::Overlap { branches, .. } => branches.iter().any(|branch| any_guard(&branch.machine, test)),
            _ => false,
        },
    })
}
