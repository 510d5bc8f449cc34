//! What bodies are lowered to, as text: which states there are, and which variables they keep.

use crate::errors::Errors;
use crate::ir::{Kind, Options};
use crate::{flow, parse};
use proc_macro2::TokenStream;
use syn::{ItemImpl, parse_quote, parse2};

const ENTRIES: &str = "
    #[init] fn new() -> Self { todo!() }
    #[entry] fn ghost(iter: u32, cells: Vec<f64>);
    #[entry] fn named(name: String);
    #[entry] fn stop();
    #[entry] fn size(&self) -> usize { 0 }
";

/// What became of the methods of a chare with [`ENTRIES`] and these: the code of the last one, and the messages.
fn compile(methods: &str) -> (Compiled, Vec<String>) {
    let block: ItemImpl =
        syn::parse_str(&format!("impl Block {{ {ENTRIES} {methods} }}")).expect("an impl block");
    let mut errors = Errors::default();
    let options = Options::of(Kind::Array(Box::new(parse_quote!(i32))));
    let chare = parse::chare(options, block, &mut errors).expect("a chare");
    let scope = flow::Scope::of(&chare);
    let last = chare.flows().last().expect("an async method");
    let code = flow::expand(&scope, last, &mut errors);
    (Compiled::of(code.types, code.step, code.watches), errors.messages())
}

/// The same, where there must be no mistake.
fn fine(methods: &str) -> Compiled {
    let (compiled, messages) = compile(methods);
    assert_eq!(messages, Vec::<String>::new());
    compiled
}

/// The one mistake in these methods.
fn mistake(methods: &str) -> String {
    let (_, messages) = compile(methods);
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].clone()
}

struct Compiled {
    /// The variants of the state type with their fields, those of parts of an overlap among them.
    states: Vec<String>,
    /// All types that the method has become.
    types: String,
    step: String,
    watches: bool,
}

impl Compiled {
    fn of(types: TokenStream, step: TokenStream, watches: bool) -> Self {
        let text = types.to_string();
        let file: syn::File = parse2(types).expect("the types are items");
        let mut states = vec![];
        for item in &file.items {
            if let syn::Item::Enum(e) = item {
                states.extend(e.variants.iter().filter(|v| v.ident != "__Of").map(|v| {
                    let fields = v.fields.iter().map(|f| f.ident.as_ref().expect("named").to_string());
                    format!("{}({})", v.ident, fields.collect::<Vec<_>>().join(" "))
                }));
            }
        }
        parse2::<syn::ImplItemFn>(step.clone()).expect("the step is a method");
        Compiled { states, types: text, step: step.to_string(), watches }
    }
}

#[test]
fn a_state_keeps_what_is_used_later() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, a: u32, b: u32) {
            let c: u32 = a + 1;
            let d: u32 = b;
            cx.barrier().await;
            self.use_it(a, c);
        }",
    );
    assert_eq!(c.states, ["S0(a b)", "S1(a c __wait)", "Done()"], "b and d are not needed after the wait");
}

#[test]
fn an_argument_that_nobody_uses_is_dropped_at_once() {
    let c =
        fine("#[entry] async fn run(&mut self, cx: &mut Cx<Self>, unused: Vec<f64>) { cx.barrier().await; }");
    assert_eq!(c.states, ["S0()", "S1(__wait)", "Done()"]);
}

#[test]
fn what_is_set_again_is_not_kept() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {
            let x: u32 = 1;
            self.use_it(x);
            cx.barrier().await;
            let x: u32 = 2;
            cx.barrier().await;
            self.use_it(x);
        }",
    );
    assert_eq!(c.states, ["S0()", "S1(__wait)", "S2(x __wait)", "Done()"]);
}

#[test]
fn names_bound_inside_are_other_variables() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, x: u32) {
            self.use_it(x);
            cx.barrier().await;
            let f = |x: u32| x + 1;
            for x in self.all() { self.use_it(f(x)) }
            if let Some(x) = self.one() { self.use_it(x) }
            match self.one() { Some(x) => self.use_it(x), None => {} }
        }",
    );
    assert_eq!(c.states, ["S0(x)", "S1(__wait)", "Done()"]);
}

#[test]
fn a_question_mark_behind_an_await_is_a_step_of_its_own() {
    let c = fine(
        "async fn part(&mut self, cx: &mut Cx<Self>) -> Result<(), Other> { cx.barrier().await; Ok(()) }
        #[entry] async fn run(&mut self, cx: &mut Cx<Self>) -> Result<u32, Mine> {
            let n: u32 = cx.array().at(0).size().await?;
            cx.array().at(0).check().await?;
            self.part(cx).await?;
            Ok(n)
        }",
    );
    assert_eq!(c.states, ["S0()", "S1(__wait)", "S2(n __wait)", "S3(n __sub)", "Done()"]);
    assert!(!c.step.contains("Mine > , _"), "what comes tells its own type: {}", c.step);
}

#[test]
fn a_question_mark_needs_a_result_to_go_to() {
    let text = mistake(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) -> u32 { cx.array().at(0).size().await?; 3 }",
    );
    assert!(text.contains("returns a `Result`"), "{text}");
}

#[test]
fn an_assignment_waits_for_its_right_side() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) -> Result<(), Mine> {
            self.size = cx.array().at(0).size().await;
            self.size += cx.array().at(1).size().await;
            self.size -= cx.array().at(2).size().await?;
            Ok(())
        }",
    );
    assert_eq!(c.states, ["S0()", "S1(__wait)", "S2(__wait)", "S3(__wait)", "Done()"]);
    for kept in ["self . size = __value", "self . size += __value", "self . size -="] {
        assert!(c.step.contains(kept), "{kept} in {}", c.step);
    }
    let text =
        mistake("#[entry] async fn run(&mut self, cx: &mut Cx<Self>) { self.x = 1 + cx.barrier().await; }");
    assert!(text.contains("or of an assignment"), "{text}");
}

#[test]
fn handles_need_no_written_type() {
    let kept = |expression: &str| {
        let c = fine(&format!(
            "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {{
                let handle = {expression};
                cx.barrier().await;
                handle.go();
            }}"
        ));
        c.types
    };
    for (expression, ty) in [
        ("Other::array(4).new(3)", "Array < Other >"),
        ("Other::array(4).map(Map::Hash).new()", "Array < Other >"),
        ("Other::array(4).each(|i, new| { new.new(i); })", "Array < Other >"),
        ("Other::sparse()", "Array < Other >"),
        ("Other::group().new()", "Group < Other >"),
        ("a::Other::<f64>::chare().on(1).new()", "Proxy < a :: Other :: < f64 > >"),
        ("Other::array(4).new().at(1)", "Proxy < Other >"),
        ("Other::group().new().section([1])", "Section < Other >"),
        ("cx.me()", "Proxy < Block >"),
        ("cx.array().at(2)", "Proxy < Block >"),
    ] {
        let types = kept(expression);
        assert!(types.contains(&format!("handle : :: talisman :: {ty}")), "{expression}: {types}");
    }
}

#[test]
fn format_strings_use_variables() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, width: usize, x: f64, y: f64) {
            cx.barrier().await;
            println!(\"{x:width$} {}\", self.y);
        }",
    );
    assert_eq!(c.states[1], "S1(width x __wait)", "a field after a dot is no variable");
}

#[test]
fn a_loop_keeps_its_counter_and_not_its_range() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, steps: u32) {
            for iter in 0..steps {
                for _ in 0..iter { cx.when(Self::ghost, iter).await; }
            }
        }",
    );
    assert_eq!(c.states.iter().find(|s| s.contains("__key")).unwrap(), "S4(__i1 __i2 __key)");
}

#[test]
fn a_range_over_an_untyped_variable_needs_no_type() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {
            let n = self.number();
            for i in 0..n { cx.barrier().await; self.use_it(i); }
        }",
    );
    assert!(c.states.iter().all(|state| !state.contains("(n") && !state.contains(" n")), "{:?}", c.states);
}

#[test]
fn a_loop_without_end_needs_no_value_after_it() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) -> f64 {
            loop {
                let cells = cx.when(Self::ghost, 1).await;
                if cells.is_empty() { return 1.5 }
            }
        }",
    );
    assert_eq!(c.states, ["S0()", "S2()", "S3(__key)", "Done()"], "what follows the loop is never reached");
    assert!(c.step.contains("return :: talisman :: flow :: Step :: Done (1.5)"));
}

#[test]
fn break_and_continue_become_jumps() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {
            'out: loop {
                cx.when(Self::stop).await;
                for x in self.all() {
                    if x == 1 { break }
                    if x == 2 { continue 'out }
                    if x == 3 { break 'out }
                }
            }
        }",
    );
    assert!(c.step.contains("if x == 1 { break }"), "a loop of its own keeps its `break`");
    assert!(!c.step.contains("'out"), "{}", c.step);
    assert!(!c.step.contains("__talisman_jump"));
}

#[test]
fn question_marks_in_macros_leave_the_entry() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) -> Result<(), String> {
            cx.barrier().await;
            let all = vec![self.one()?, self.two()?];
            self.use_it(all);
            Ok(())
        }",
    );
    assert!(!c.step.contains('?'), "{}", c.step);
}

#[test]
fn guards_over_numbers_are_tested_by_reference() {
    let arms = |guard: &str, pattern: &str| {
        fine(&format!(
            "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, it: u32) {{
                match cx.when_any().await {{ Self::ghost({pattern}) if {guard} => self.use_it(cells), Self::stop() => {{}} }}
            }}"
        ))
    };
    let numbers = arms("iter == it", "iter, cells");
    assert!(
        numbers.step.contains("r_ghost . find (| __m | match * __m { (iter , _ ,) if iter == it => true")
    );
    assert!(!numbers.watches);
    let by_value = arms("cells.is_empty()", "_, cells");
    assert!(by_value.step.contains("r_ghost . take (| __m |"));
    assert!(arms("iter == self.iter", "iter, cells").watches);
    assert!(arms("matches!(self.iter, 3)", "_, cells").watches);
}

#[test]
fn parts_of_an_overlap_share_the_variables_around() {
    let c = fine(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>, a: u32, b: u32) {
            let mut sum: u32 = 0;
            cx.overlap(
                async { cx.when(Self::stop).await; sum += a; },
                async { for k in 0..3u32 { let own: u32 = k; cx.when(Self::ghost, k).await; sum += own; } },
            ).await;
            self.use_it(sum);
        }",
    );
    let outer = c.states.iter().find(|s| s.contains("__b1")).unwrap();
    assert_eq!(outer, "S1(sum __b1 __b2)", "what one part alone uses is its own");
    assert!(c.states.contains(&"S0(a)".to_string()), "{:?}", c.states);
    assert!(c.states.contains(&"S3(__i1 own __key)".to_string()), "{:?}", c.states);
}

#[test]
fn another_async_method_is_a_boxed_state() {
    let c = fine(
        "async fn part(&mut self, cx: &mut Cx<Self>, n: u32) -> u32 { cx.barrier().await; n }
         #[entry] async fn run(&mut self, cx: &mut Cx<Self>) { let n = self.part(cx, 3).await; self.use_it(n); }",
    );
    assert_eq!(c.states, ["S0()", "S1(__sub)", "Done()"]);
    assert!(c.step.contains("Self :: __start_part (3)"));
}

#[test]
fn a_changed_body_has_another_stamp() {
    let stamp = |body: &str| {
        let block = format!("#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {{ {body} }}");
        let item: ItemImpl = syn::parse_str(&format!("impl Block {{ {ENTRIES} {block} }}")).unwrap();
        let options = Options::of(Kind::Single);
        let chare = parse::chare(options, item, &mut Errors::default()).unwrap();
        let scope = flow::Scope::of(&chare);
        let types =
            flow::expand(&scope, chare.flows().next().unwrap(), &mut Errors::default()).types.to_string();
        let at = types.find("Stamp :: new (").expect("a stamp");
        types[at..].split(',').next().unwrap().to_string()
    };
    assert_eq!(stamp("cx.barrier().await;"), stamp("cx . barrier()\n.await; // with a comment\n"));
    assert_ne!(stamp("cx.barrier().await;"), stamp("cx.quiescence().await;"));
}

#[test]
fn a_mistake_leaves_a_method_that_compiles() {
    let (c, messages) =
        compile("#[entry] async fn run(&mut self, cx: &mut Cx<Self>) { self.x = 1 + cx.barrier().await; }");
    assert_eq!(messages.len(), 1);
    assert_eq!(c.states, ["S0()", "Done()"]);
    assert!(c.step.contains("unreachable"));
}

#[test]
fn a_mistake_is_told_once() {
    let text = mistake(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {
            let x = self.number();
            cx.barrier().await;
            self.use_it(x);
            cx.barrier().await;
            self.use_it(x);
        }",
    );
    assert!(text.contains("`let x: Type = …`"), "{text}");
}

#[test]
fn a_jump_from_under_a_pattern_of_the_same_name_is_refused() {
    let text = mistake(
        "#[entry] async fn run(&mut self, cx: &mut Cx<Self>) {
            let x: u32 = 1;
            loop {
                cx.barrier().await;
                match self.one() { Some(x) if x > 2 => break, _ => {} }
            }
            self.use_it(x);
        }",
    );
    assert!(text.starts_with("this `x` hides an outer `x`"), "{text}");
}
