//! What an async body is lowered to: labels, each a tree of code that ends in jumps to other labels.

use super::Flow;
use super::uses::Names;
use proc_macro2::{Span, TokenStream};
use std::rc::Rc;
use syn::{Expr, Ident, Lifetime, Pat, Stmt, Type};

/// The number of a label in its machine.
pub type LabelId = usize;

/// A variable of the body.
#[derive(Clone)]
pub struct Local {
    /// Tells variables of the same name apart.
    pub id: u32,
    pub name: Ident,
    /// Its type, where the body or a signature tells.
    pub ty: Option<Type>,
    pub mutable: bool,
    /// A loop variable: computed again from its counter.
    pub range: Option<Range>,
    /// How many blocks it is inside.
    pub depth: usize,
    /// Bound by a pattern where no type can be written.
    pub pattern: bool,
}

/// Where a loop variable comes from.
#[derive(Clone)]
pub struct Range {
    pub counter: Ident,
    /// The variable that carries the loop variable's type.
    pub slot: Ident,
}

/// The variables in scope.
pub type Env = Vec<Local>;

/// Which variable each name means at some point of the body.
pub type Meaning = Rc<[(Ident, u32)]>;

/// What the names mean in this scope.
pub fn meaning(env: &Env) -> Meaning {
    env.iter().map(|local| (local.name.clone(), local.id)).collect()
}

/// A state machine: a whole body, or one part of an `overlap`.
pub struct Machine {
    /// The name of the state type.
    pub name: Ident,
    pub out: Out,
    /// The first is where it starts.
    pub labels: Vec<Label>,
}

/// Where a machine goes when it waits or ends.
#[derive(Clone)]
pub enum Out {
    /// Out of the method.
    Main,
    /// To the next part of the overlap. `var` holds the state, `life` labels the loop around it; variables at this
    /// depth and outside belong to the machine around.
    Branch { var: Ident, life: Lifetime, depth: usize },
}

impl Machine {
    /// A machine without labels.
    pub fn new(name: Ident, out: Out) -> Self {
        Machine { name, out, labels: vec![] }
    }

    /// The machine of a body with mistakes: it can be started, and never runs.
    pub fn unreachable(flow: &Flow) -> Self {
        let mut machine = Machine::new(flow.scope.chare.state_type(&flow.method.name), Out::Main);
        machine.label(vec![]);
        machine
    }

    /// A new label, with nothing to do yet.
    pub fn label(&mut self, env: Env) -> LabelId {
        self.labels.push(Label { env, body: Body::Code(vec![]) });
        self.labels.len() - 1
    }

    /// Whether this variable is a field of this machine's states, rather than a variable around it.
    pub fn owns(&self, local: &Local) -> bool {
        match self.out {
            Out::Main => true,
            Out::Branch { depth, .. } => local.depth > depth,
        }
    }
}

/// A place that can be jumped to.
pub struct Label {
    /// The variables in scope.
    pub env: Env,
    pub body: Body,
}

/// What happens at a label.
pub enum Body {
    Code(Code),
    Wait(Box<Wait>),
}

/// A label where the object may wait, and be packed.
pub struct Wait {
    /// Where the `.await` is.
    pub at: Span,
    /// Fields of the state that are no locals: a key, the number of an answer, the state of a part.
    pub hidden: Vec<(Ident, TokenStream)>,
    pub on: On,
}

/// What is waited for, and what comes then.
pub enum On {
    /// `cx.when(Self::entry)`, `cx.when(Self::entry, key)`.
    Message { entry: Ident, keyed: bool, arity: usize, then: Then },
    /// An answer. `slot` is the variable that carries its type; `wanted`: somebody looks at it.
    Reply { slot: Ident, wanted: bool, what: String, then: Then },
    /// Another async method.
    Call { flow: Ident, then: Then },
    /// `match cx.when_any().await`.
    Any(Vec<Arm>),
    /// `cx.overlap(…)`.
    Overlap { branches: Vec<Branch>, then: Code },
}

/// What is done with the value that was waited for.
pub struct Then {
    /// The pattern, with its type if one was written.
    pub pat: TokenStream,
    /// What it binds.
    pub names: Names,
    pub code: Code,
}

/// One arm of `match cx.when_any().await`.
pub struct Arm {
    pub entry: Ident,
    /// The types of the entry's arguments, and a pattern for each.
    pub types: Vec<Type>,
    pub pats: Vec<Pat>,
    pub guard: Option<Expr>,
    pub code: Code,
}

/// One part of an `overlap`.
pub struct Branch {
    pub machine: Machine,
    pub var: Ident,
    /// The variables of the machine around that this part uses.
    pub outer: Names,
}

/// Statements in order; the last one leaves the label.
pub type Code = Vec<Node>;

/// One step of a label's code.
pub enum Node {
    /// A statement of the body.
    Run(Piece<Stmt>),
    /// A statement of ours, and the variables it uses.
    Raw(TokenStream, Names),
    /// Makes the counter of a loop over this range, and the variables that the range uses.
    Count(Range, TokenStream, Names),
    If(Piece<Expr>, Code, Code),
    Match(Piece<Expr>, Vec<Case>),
    Jump(LabelId, Meaning),
    /// Makes the first states of the parts of the overlap at this label.
    Branches(LabelId),
    /// The end, with its value.
    Done(Option<Piece<Expr>>),
}

/// One arm of a `match` that waits inside.
pub struct Case {
    pub pat: Pat,
    pub guard: Option<Piece<Expr>>,
    pub code: Code,
}

/// Serial code of the body, and what must be known of it.
pub struct Piece<T> {
    pub code: T,
    pub uses: Names,
    /// Where a `break` or `continue` inside leaves it.
    pub exits: Vec<Exit>,
    pub here: Meaning,
}

/// A jump out of serial code.
pub struct Exit {
    pub to: LabelId,
    /// Variables of the serial code in whose scope it stands.
    pub inside: Vec<Ident>,
}
