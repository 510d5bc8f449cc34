//! Asking other ranks for something, and waiting until they have done it.

use talisman_ampi::engine::{Actions, Buffer, Envelope, Mode, Owner, Pattern, Rank, Tag, Token};
use talisman_ampi::process::Process;
use talisman_ampi::raw;
use talisman_ampi::window::{Access, Pending};

use super::{context_of, window};
use crate::class::Class;
use crate::common::call::{Outcome, engine, local};

/// From so many on, answers that the program has seen are looked for.
const MANY: usize = 64;

/// A name of no request.
const NONE: Token = Token { index: u32::MAX, generation: u32::MAX };

/// Asks a rank for something that it answers. `into` is where the answer goes.
pub fn ask(
    process: &mut Process,
    out: &mut Actions,
    (number, target): (u32, Rank),
    (needs, into): (Buffer, Buffer),
    what: impl FnOnce(Tag) -> Access,
) -> Result<Token, Class> {
    let context = context_of(process, number)?;
    let tag = window(process, number)?.next_answer();
    let pattern = Pattern { context, source: Some(target), tag: Some(tag) };
    let token = process.engine.receive(pattern, into, Owner::User, out);
    process.engine.access((target, context), what(tag), needs, out);
    forget_seen(process, number)?;
    window(process, number)?.epochs.pending.push(Pending { target, token, is_asked_for: false });
    Ok(token)
}

/// The same without bytes.
pub fn ask_only(
    process: &mut Process,
    out: &mut Actions,
    whom: (u32, Rank),
    what: impl FnOnce(Tag) -> Access,
) -> Result<Token, Class> {
    ask(process, out, whom, (Buffer::EMPTY, Buffer::EMPTY), what)
}

/// Asks a rank to say when it has done all that it was asked for before.
pub fn ask_whether_done(
    process: &mut Process,
    out: &mut Actions,
    number: u32,
    target: Option<Rank>,
) -> Outcome {
    let touched = &mut window(process, number)?.epochs.touched;
    let asked: Vec<Rank> = match target {
        Some(target) => touched.take(&target).into_iter().collect(),
        None => std::mem::take(touched).into_iter().collect(),
    };
    for target in asked {
        ask_only(process, out, (number, target), |answer| Access::Flush { answer })?;
    }
    Ok(())
}

/// Answers to requests that the program has waited for itself need not be waited for.
fn forget_seen(process: &mut Process, number: u32) -> Outcome {
    let Process { windows, engine, .. } = process;
    let pending = &mut windows.get_mut(number).ok_or(Class::Win)?.epochs.pending;
    if pending.len() >= MANY && pending.len().is_power_of_two() {
        pending.retain(|pending| engine.status(pending.token).is_ok());
    }
    Ok(())
}

/// Waits for all that this rank, or any, was asked for.
pub fn wait_for_answers(name: &'static str, number: u32, target: Option<Rank>) -> Outcome {
    let is_meant = |pending: &Pending| target.is_none_or(|target| pending.target == target);
    let count = local(|process| {
        let Process { windows, engine, .. } = process;
        let pending = &mut windows.get_mut(number).ok_or(Class::Win)?.epochs.pending;
        pending.retain(|pending| engine.status(pending.token).is_ok());
        Ok(pending.iter().filter(|pending| is_meant(pending)).count())
    })?;
    // In the rank's memory, as what waits.
    let mut tokens = vec![NONE; count];
    local(|process| {
        let pending = window(process, number)?.epochs.pending.iter().filter(|pending| is_meant(pending));
        tokens.iter_mut().zip(pending).for_each(|(place, pending)| *place = pending.token);
        Ok(())
    })?;
    if !tokens.is_empty() {
        raw::wait_all(name, &tokens)?;
    }
    engine(|process, _| {
        let Process { windows, engine, .. } = process;
        let pending = &mut windows.get_mut(number).ok_or(Class::Win)?.epochs.pending;
        for own in pending.iter().filter(|pending| is_meant(pending) && !pending.is_asked_for) {
            engine.test(own.token)?;
        }
        pending.retain(|pending| !is_meant(pending));
        Ok(())
    })
}

/// Waits until all is done that this rank, or any, was asked for.
pub fn wait_until_done(name: &'static str, number: u32, target: Option<Rank>) -> Outcome {
    engine(|process, out| ask_whether_done(process, out, number, target))?;
    wait_for_answers(name, number, target)
}

/// Tells a rank something in a window's context: a message without bytes.
pub fn tell(process: &mut Process, out: &mut Actions, (number, to): (u32, Rank), tag: Tag) -> Outcome {
    let context = context_of(process, number)?;
    let envelope = Envelope { context, to, tag };
    let sent = process.engine.send(Mode::Buffered, envelope, Buffer::EMPTY, Owner::User, out);
    process.engine.test(sent)?;
    Ok(())
}

/// Receives such a message.
pub fn hear(
    process: &mut Process,
    out: &mut Actions,
    (number, from): (u32, Rank),
    tag: Tag,
) -> Result<Token, Class> {
    let context = context_of(process, number)?;
    let pattern = Pattern { context, source: Some(from), tag: Some(tag) };
    Ok(process.engine.receive(pattern, Buffer::EMPTY, Owner::User, out))
}
