//! Boxed trait objects of registered types.
#![forbid(unsafe_code)]
extern crate talisman_pup as talisman;

use talisman::pup::{Fault, Named, Pup, check_object_names, from_bytes, pup_object, to_bytes};

#[pup_object]
trait Shape {
    fn area(&self) -> f64;
}

#[pup_object]
trait Label {
    fn label(&self) -> String;
}

#[derive(Pup)]
struct Disc {
    r: f64,
}

#[derive(Pup)]
#[pup(name = "frame")]
struct Frame {
    size: (f64, f64),
    inside: Option<Box<dyn Shape>>,
}

#[derive(Pup)]
struct Scaled<T> {
    shape: T,
    by: f64,
}

#[pup_object]
impl Shape for Disc {
    fn area(&self) -> f64 {
        3.0 * self.r * self.r
    }
}

#[pup_object]
impl Shape for Frame {
    fn area(&self) -> f64 {
        self.size.0 * self.size.1 - self.inside.as_ref().map_or(0.0, |s| s.area())
    }
}

#[pup_object]
impl Shape for Scaled<Disc> {
    fn area(&self) -> f64 {
        self.by * self.shape.area()
    }
}

// A type may be registered for more than one trait.
#[pup_object]
impl Label for Disc {
    fn label(&self) -> String {
        format!("disc of {}", self.r)
    }
}

fn shapes() -> Vec<Box<dyn Shape>> {
    let inside: Option<Box<dyn Shape>> = Some(Box::new(Disc { r: 1.0 }));
    vec![
        Box::new(Disc { r: 2.0 }),
        Box::new(Frame { size: (5.0, 4.0), inside }),
        Box::new(Scaled { shape: Disc { r: 1.0 }, by: 10.0 }),
    ]
}

#[test]
fn objects_come_back_as_the_types_they_were() {
    let back: Vec<Box<dyn Shape>> = from_bytes(&to_bytes(&shapes())).unwrap();
    assert_eq!(back.iter().map(|s| s.area()).collect::<Vec<_>>(), [12.0, 17.0, 30.0]);
    let label: Box<dyn Label> = Box::new(Disc { r: 2.0 });
    assert_eq!(from_bytes::<Box<dyn Label>>(&to_bytes(&label)).unwrap().label(), "disc of 2");
}

#[test]
fn a_type_that_is_not_registered_for_the_trait_is_refused() {
    let frame: Box<dyn Shape> = Box::new(Frame { size: (1.0, 1.0), inside: None });
    let error = from_bytes::<Box<dyn Label>>(&to_bytes(&frame)).err().unwrap();
    assert_eq!(error.fault(), &Fault::Unknown { name: "frame".into(), of: "Label" });
    assert!(error.to_string().contains("put `#[pup_object]` on its `impl Label for …`"), "{error}");
}

#[test]
fn names_are_known_and_do_not_clash() {
    assert_eq!(<Box<dyn Shape>>::name(), "Box<object::Shape>");
    assert_eq!(check_object_names(), Ok(()));
}
