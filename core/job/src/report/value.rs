//! The program's own results: named values in the order they were first set.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use talisman_pup::Pup;

/// One result of a program.
///
/// Reading a file back gives whole numbers as [`ResultValue::U64`], or [`ResultValue::I64`] if they are negative,
/// and the texts `NaN`, `inf` and `-inf` as [`ResultValue::F64`]; the bits of a NaN are not kept.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum ResultValue {
    /// A floating-point value, finite or not.
    F64(f64),
    /// A whole number.
    I64(i64),
    /// A whole number that is not negative.
    U64(u64),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
}

macro_rules! result_from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for ResultValue {
            fn from(value: $type) -> Self {
                ResultValue::$variant(value.into())
            }
        }
    )*};
}

result_from! {
    f64 => F64, f32 => F64,
    i64 => I64, i32 => I64, i16 => I64, i8 => I64,
    u64 => U64, u32 => U64, u16 => U64, u8 => U64,
    bool => Bool, String => Text, &str => Text,
}

impl From<usize> for ResultValue {
    fn from(value: usize) -> Self {
        ResultValue::U64(value as u64) // Lossless: no supported machine has wider addresses.
    }
}

impl Serialize for ResultValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ResultValue::F64(value) => match non_finite_name(*value) {
                Some(name) => serializer.serialize_str(name),
                None => serializer.serialize_f64(*value),
            },
            ResultValue::I64(value) => serializer.serialize_i64(*value),
            ResultValue::U64(value) => serializer.serialize_u64(*value),
            ResultValue::Bool(value) => serializer.serialize_bool(*value),
            ResultValue::Text(value) => serializer.serialize_str(value),
        }
    }
}

fn non_finite_name(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ if value.is_nan() => Some("NaN"),
        _ => None,
    }
}

fn from_text(text: &str) -> ResultValue {
    match text {
        "inf" => ResultValue::F64(f64::INFINITY),
        "-inf" => ResultValue::F64(f64::NEG_INFINITY),
        "NaN" => ResultValue::F64(f64::NAN),
        _ => ResultValue::Text(text.to_owned()),
    }
}

impl<'de> Deserialize<'de> for ResultValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = ResultValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, true, false or a text")
    }

    fn visit_f64<E>(self, value: f64) -> Result<ResultValue, E> {
        Ok(ResultValue::F64(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ResultValue, E> {
        Ok(ResultValue::I64(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ResultValue, E> {
        Ok(ResultValue::U64(value))
    }

    fn visit_bool<E>(self, value: bool) -> Result<ResultValue, E> {
        Ok(ResultValue::Bool(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<ResultValue, E> {
        Ok(from_text(text))
    }
}

/// Named values, in the order their names were first set.
///
/// ```
/// use talisman_job::{ResultValue, Results};
///
/// let mut results = Results::default();
/// results.set("energy", -1.5);
/// results.set("atoms", 23_558_u64);
/// assert_eq!(results.value("energy"), Some(&ResultValue::F64(-1.5)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Results {
    // A list, not a map: programs have a handful of results.
    entries: Vec<(String, ResultValue)>,
}

impl Results {
    /// Sets a value; one set before under the same name is replaced and keeps its place.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<ResultValue>) {
        let (name, value) = (name.into(), value.into());
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name, value)),
        }
    }

    /// The value of that name.
    pub fn value(&self, name: &str) -> Option<&ResultValue> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ResultValue)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Those whose names the others have not.
    pub fn without(&self, others: &Results) -> Results {
        let entries = self.entries.iter().filter(|(name, _)| others.value(name).is_none());
        Results { entries: entries.cloned().collect() }
    }

    /// Those whose names the others have get the others' values, and keep their places.
    pub fn renew(&mut self, others: &Results) {
        for (name, value) in &mut self.entries {
            if let Some(newer) = others.value(name) {
                *value = newer.clone();
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ResultsVisitor)
    }
}

struct ResultsVisitor;

impl<'de> Visitor<'de> for ResultsVisitor {
    type Value = Results;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("named results")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Results, M::Error> {
        let mut results = Results::default();
        while let Some((name, value)) = map.next_entry::<String, ResultValue>()? {
            results.set(name, value);
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(value: ResultValue) -> ResultValue {
        serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn every_f64_keeps_its_bits(bits: u64) {
            let value = f64::from_bits(bits);
            let ResultValue::F64(back) = there_and_back(value.into()) else { panic!("not a number any more") };
            prop_assert!(back.to_bits() == bits || (value.is_nan() && back.is_nan()));
        }
    }

    #[test]
    fn the_edges_of_f64_keep_their_bits() {
        for value in [0.0, -0.0, 1.0, 5e-324, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
            let ResultValue::F64(back) = there_and_back(value.into()) else { panic!("{value} is no number") };
            assert_eq!(back.to_bits(), value.to_bits(), "{value}");
        }
    }

    #[test]
    fn what_json_cannot_say_is_a_text() {
        let json = |value: f64| serde_json::to_string(&ResultValue::from(value)).unwrap();
        let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(values.map(json), [r#""NaN""#, r#""inf""#, r#""-inf""#]);
    }

    #[test]
    fn other_kinds_are_read_back() {
        for value in [
            ResultValue::from(u64::MAX),
            ResultValue::from(i64::MIN),
            ResultValue::from(true),
            ResultValue::from("two\nlines \"quoted\""),
        ] {
            assert_eq!(there_and_back(value.clone()), value);
        }
    }

    #[test]
    fn results_keep_the_order_they_were_set_in() {
        let mut results = Results::default();
        assert!(results.is_empty());
        results.set("z", 1_i32);
        results.set("a", 2_usize);
        results.set("z", 3.5);
        let json = serde_json::to_string(&results).unwrap();
        assert_eq!(json, r#"{"z":3.5,"a":2}"#);
        assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
        assert_eq!((results.value("a"), results.value("b")), (Some(&ResultValue::U64(2)), None));
    }
}
