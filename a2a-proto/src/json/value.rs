mod wire;

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde_json::Map;

/// A JSON object (`google.protobuf.Struct`).
///
/// Numbers are doubles: integers up to 2^53 - 1 stay exact, larger ones become the nearest double, and `1.0` is `1`. The
/// conversions and [`insert`](Self::insert) see to that; a change through `DerefMut` does not, and may read differently
/// after a trip through protobuf.
///
/// ```
/// # use a2a_proto::Struct;
/// let metadata: Struct = serde_json::json!({"k": 1}).try_into().unwrap();
/// assert_eq!(metadata["k"], 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct(Map<String, serde_json::Value>);

/// Any JSON value (`google.protobuf.Value`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value(serde_json::Value);

/// Why a JSON value can't be a [`Struct`] or [`Value`] that every peer can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidValue {
    /// An object is needed.
    NotAnObject,
    /// A number is too large for a double.
    NotFinite,
    /// More than 30 nested objects or 45 nested arrays, or a mixture of that depth.
    TooDeep,
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "expected an object",
            Self::NotFinite => "a number is out of the range of a double",
            Self::TooDeep => "nested too deeply: at most 30 objects or 45 arrays",
        })
    }
}

impl Error for InvalidValue {}

impl Struct {
    /// Whether every peer can read it.
    ///
    /// # Errors
    ///
    /// When it is nested too deeply for protobuf, or a number in it is not finite.
    pub fn check(&self) -> Result<(), InvalidValue> {
        check_object(&self.0, DEPTH_BUDGET)
    }

    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an entry and returns the value that it had.
    pub fn insert(
        &mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Option<serde_json::Value> {
        let mut value = value.into();
        normalize(&mut value);
        self.0.insert(key.into(), value)
    }

    /// Sets all entries of another object, which win over those that are there.
    pub fn merge(&mut self, other: &Self) {
        for (key, value) in &other.0 {
            self.0.insert(key.clone(), value.clone());
        }
    }

    /// The object as `serde_json` has it.
    #[must_use]
    pub fn into_inner(self) -> Map<String, serde_json::Value> {
        self.0
    }
}

impl Value {
    /// Whether every peer can read it.
    ///
    /// # Errors
    ///
    /// When it is nested too deeply for protobuf, or a number in it is not finite.
    pub fn check(&self) -> Result<(), InvalidValue> {
        check_value(&self.0, DEPTH_BUDGET)
    }

    /// The value as `serde_json` has it.
    #[must_use]
    pub fn into_inner(self) -> serde_json::Value {
        self.0
    }
}

impl Deref for Struct {
    type Target = Map<String, serde_json::Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Struct {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Deref for Value {
    type Target = serde_json::Value;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Value {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl From<Map<String, serde_json::Value>> for Struct {
    fn from(mut map: Map<String, serde_json::Value>) -> Self {
        map.values_mut().for_each(normalize);
        Self(map)
    }
}

impl TryFrom<serde_json::Value> for Struct {
    type Error = InvalidValue;

    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        let serde_json::Value::Object(map) = value else {
            return Err(InvalidValue::NotAnObject);
        };
        let value = Self::from(map);
        value.check()?;
        Ok(value)
    }
}

impl<K: Into<String>, V: Into<serde_json::Value>> FromIterator<(K, V)> for Struct {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut object = Self::new();
        object.extend(entries);
        object
    }
}

impl<K: Into<String>, V: Into<serde_json::Value>> Extend<(K, V)> for Struct {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Struct {
    type Item = (String, serde_json::Value);
    type IntoIter = serde_json::map::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Struct {
    type Item = (&'a String, &'a serde_json::Value);
    type IntoIter = serde_json::map::Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl From<Struct> for Value {
    fn from(object: Struct) -> Self {
        Self(serde_json::Value::Object(object.0))
    }
}

impl From<Struct> for serde_json::Value {
    fn from(value: Struct) -> Self {
        Self::Object(value.0)
    }
}

impl From<serde_json::Value> for Value {
    fn from(mut value: serde_json::Value) -> Self {
        normalize(&mut value);
        Self(value)
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        value.0
    }
}

const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Of the 100 levels that protobuf decoders allow, what is left wherever a value can stand.
const DEPTH_BUDGET: usize = 90;
/// An object is a Struct, its entry and the entry's Value.
const OBJECT_LEVELS: usize = 3;
/// An array is a ListValue and its item's Value.
const ARRAY_LEVELS: usize = 2;

fn check_value(value: &serde_json::Value, budget: usize) -> Result<(), InvalidValue> {
    match value {
        serde_json::Value::Number(number) => match number.as_f64() {
            Some(double) if double.is_finite() => Ok(()),
            _ => Err(InvalidValue::NotFinite),
        },
        serde_json::Value::Array(items) => {
            let budget = budget
                .checked_sub(ARRAY_LEVELS)
                .ok_or(InvalidValue::TooDeep)?;
            items.iter().try_for_each(|item| check_value(item, budget))
        }
        serde_json::Value::Object(map) => check_object(map, budget),
        _ => Ok(()),
    }
}

fn check_object(map: &Map<String, serde_json::Value>, budget: usize) -> Result<(), InvalidValue> {
    let budget = budget
        .checked_sub(OBJECT_LEVELS)
        .ok_or(InvalidValue::TooDeep)?;
    map.values()
        .try_for_each(|value| check_value(value, budget))
}

/// Gives each number the form that a trip through protobuf, where all are doubles, would give it.
fn normalize(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) => {
            if let Some(double) = number.as_f64() {
                *value = number_value(double);
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(normalize),
        serde_json::Value::Object(map) => map.values_mut().for_each(normalize),
        _ => {}
    }
}

fn number_value(double: f64) -> serde_json::Value {
    let integral = double.fract() == 0.0 && double.abs() <= MAX_SAFE_INTEGER;
    if integral && !(double == 0.0 && double.is_sign_negative()) {
        #[allow(clippy::cast_possible_truncation)]
        let integer = double as i64;
        serde_json::Value::from(integer)
    } else {
        serde_json::Value::from(double)
    }
}
