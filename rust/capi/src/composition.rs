//! A composition that is described in JSON, as in a composition file.

use serde::Deserialize;
use serde_json::Value;
use statpriv::{Composition, Count, Error, Histogram, Probability, Sum};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with population and part")]
struct Described {
    population: u64,
    part: Vec<Part>,
    /// A composition file states an ε; here it is asked later.
    #[serde(default, rename = "epsilon")]
    _epsilon: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a part, as an object with size and what is asked")]
struct Part {
    size: u64,
    #[serde(default)]
    probability: Option<Value>,
    #[serde(default)]
    cells: Option<Vec<Value>>,
    #[serde(default)]
    query: Option<Query>,
    #[serde(default)]
    attribute: String,
    #[serde(default = "one")]
    count: u64,
    #[serde(default, rename = "name")]
    _name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a query, as an object with kind and values")]
struct Query {
    kind: String,
    values: Vec<(i64, Value)>,
}

fn one() -> u64 {
    1
}

/// As many parts as are allowed in a composition file.
const MAX_PARTS: u64 = 100_000;

/// Read a description.
pub fn read(json: &str) -> Result<Composition, Error> {
    let malformed = |error: serde_json::Error| {
        let unknown = error.to_string().starts_with("unknown field");
        let more = if unknown { "; `statpriv compose` reads more than this interface does" } else { "" };
        Error::argument(format!("json: {error}{more}"))
    };
    let described: Described = serde_json::from_str(json).map_err(malformed)?;
    let parts = described.part.iter().fold(0u64, |sum, part| sum.saturating_add(part.count));
    if parts > MAX_PARTS {
        return Err(Error::argument(format!(
            "json describes {parts} parts; at most {MAX_PARTS} are allowed"
        )));
    }
    let mut composition = Composition::new(described.population);
    for part in described.part {
        let asked: statpriv::Part = match (&part.probability, &part.cells, &part.query) {
            (Some(p), None, None) => Count::of(part.size, probability(p)?).into(),
            (None, Some(cells), None) => {
                let cells = cells.iter().map(number).collect::<Result<Vec<_>, _>>()?;
                Histogram::new(part.size, cells)?.into()
            }
            (None, None, Some(Query { kind, values })) if kind == "sum" => {
                let read = |(value, p): &(i64, Value)| Ok((*value, number(p)?));
                let values = values.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
                Sum::new(part.size, values)?.into()
            }
            (None, None, Some(Query { kind, .. })) => {
                return Err(Error::argument(format!(
                    "json: a query of the kind {kind:?}; of those that are not counts or histograms, this interface knows \"sum\""
                )));
            }
            _ => return Err(Error::argument("json: a part states one of probability, cells and query")),
        };
        for _ in 0..part.count {
            composition = composition.part(&part.attribute, asked.clone());
        }
    }
    Ok(composition)
}

/// A number as it is written: 0.1 is one tenth.
fn number(value: &Value) -> Result<String, Error> {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text.clone()),
        _ => Err(Error::argument(format!("json: {value} is no number such as 0.1 or \"1/3\""))),
    }
}

fn probability(value: &Value) -> Result<Probability, Error> {
    match value.as_array().map(Vec::as_slice) {
        Some([lower, upper]) => Probability::between(number(lower)?, number(upper)?),
        Some(_) => Err(Error::argument("json: a range of a probability has two ends")),
        None => {
            let stated = number(value)?;
            match stated.split_once("..") {
                Some((lower, upper)) => Probability::between(lower, upper),
                None => Probability::known(stated),
            }
        }
    }
}
