//! A subscriber of the program's own, which shows little of what it hears.

use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, subscriber};

/// Whoever sets it wants the program to have a subscriber of its own.
pub const VARIABLE: &str = "TALISMAN_TEST_SUBSCRIBER";

/// What `#[talisman::main(subscriber = …)]` calls.
pub fn install_if_asked() {
    if std::env::var_os(VARIABLE).is_some() {
        subscriber::set_global_default(Own).expect("the runtime installs none before");
    }
}

struct Own;

impl Subscriber for Own {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        eprintln!("own {} {}: {}", event.metadata().level(), event.metadata().target(), message.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
