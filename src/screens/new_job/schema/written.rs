//! What is written in a field, as the value that it stands for, and the other way.

use serde_json::{Map, Value, json};

use super::Kind;

/// The value that a text stands for; none when nothing is written.
///
/// # Errors
/// The text is not of this kind.
pub fn value(kind: &Kind, text: &str) -> Result<Option<Value>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = match kind {
        Kind::Text | Kind::Path | Kind::Choice(_) => Value::from(text),
        Kind::TextOrJson if !text.starts_with('{') => Value::from(text),
        Kind::Integer => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => return Err("not a whole number".into()),
        },
        Kind::Number => number(text).ok_or("not a number")?,
        Kind::Numbers => {
            let inner = text.trim_start_matches('[').trim_end_matches(']');
            let parts = inner.split(|c: char| c == ',' || c.is_whitespace());
            let parts = parts.filter(|part| !part.is_empty());
            let numbers =
                parts.map(|part| number(part).ok_or_else(|| format!("{part} is not a number")));
            numbers.collect::<Result<Vec<Value>, String>>()?.into()
        }
        Kind::Yes => match text {
            "yes" => true.into(),
            "no" => false.into(),
            _ => return Err("yes or no".into()),
        },
        Kind::Part => match text {
            "yes" => Value::Object(Map::new()),
            "no" => return Ok(None),
            _ => return Err("yes or no".into()),
        },
        Kind::Words => words(text)?.into(),
        Kind::Pairs => {
            let mut pairs = Map::new();
            for word in words(text)? {
                let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty())
                else {
                    return Err(format!("write name=value, not {word}"));
                };
                let read = serde_json::from_str(value)
                    .ok()
                    .filter(|read: &Value| read.is_number() || read.is_boolean());
                pairs.insert(name.to_owned(), read.unwrap_or_else(|| value.into()));
            }
            Value::Object(pairs)
        }
        Kind::Structure if !text.starts_with('{') => structure(text),
        Kind::Json | Kind::TextOrJson | Kind::Structure => {
            serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?
        }
    };
    Ok(Some(value))
}

/// Put a value where a path leads: `options.optgeom.type`. A part that is there stays.
pub fn put(map: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((part, rest)) = path.split_once('.') else {
        map.entry(path).or_insert(value);
        return;
    };
    let inner = map.entry(part).or_insert_with(|| Value::Object(Map::new()));
    if let Some(inner) = inner.as_object_mut() {
        put(inner, rest, value);
    }
}

/// A structure as people name it.
fn structure(text: &str) -> Value {
    let is_word = |word: &str| {
        let mut letters = word.chars();
        !word.is_empty() && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    match text.split_once(':') {
        Some(("job", id)) if id.parse::<i64>().is_ok() => json!({"job": id.parse::<i64>().ok()}),
        Some((provider, id)) if is_word(provider) && !id.is_empty() => json!({"material": text}),
        _ => json!({"path": text}),
    }
}

fn number(text: &str) -> Option<Value> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    // A whole number stays one.
    number.map(|number| {
        text.parse::<i64>()
            .map_or_else(|_| number.into(), Value::from)
    })
}

/// The text that stands for a value in a field of this kind.
#[must_use]
pub fn text_of(kind: &Kind, value: &Value) -> String {
    match (kind, value) {
        (_, Value::Null) => String::new(),
        (Kind::Part, value) => (if value.is_object() { "yes" } else { "no" }).to_owned(),
        (_, Value::Bool(yes)) => (if *yes { "yes" } else { "no" }).to_owned(),
        (Kind::Json, value) => value.to_string(),
        (_, Value::String(text)) => text.clone(),
        (Kind::Numbers, Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            items.join(" ")
        }
        (Kind::Words, Value::Array(items)) => {
            let items: Vec<String> = items.iter().filter_map(Value::as_str).map(quoted).collect();
            items.join(" ")
        }
        (Kind::Pairs, Value::Object(pairs)) => {
            let pairs = pairs.iter().map(|(name, value)| {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                quoted(&format!("{name}={value}"))
            });
            pairs.collect::<Vec<String>>().join(" ")
        }
        (Kind::Structure, Value::Object(named)) => {
            let word = |name: &str| named.get(name).and_then(Value::as_str).map(str::to_owned);
            let job = named.get("job").map(|id| format!("job:{id}"));
            let told = word("path").or_else(|| word("material")).or(job);
            told.unwrap_or_else(|| value.to_string())
        }
        (_, value) => value.to_string(),
    }
}

/// A text that [`words`] reads as this one word.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"".contains(c));
    if plain {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// Words parted by blanks; quotes hold a word together.
///
/// # Errors
/// A quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut begun, mut quote) = (Vec::new(), String::new(), false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_values() {
        let good = [
            (Kind::Integer, " 12 ", json!(12)),
            (Kind::Number, "1e-3", json!(0.001)),
            (Kind::Number, "3", json!(3)),
            (Kind::Yes, "no", json!(false)),
            (
                Kind::Words,
                "./run.sh 'a b' \"\" c",
                json!(["./run.sh", "a b", "", "c"]),
            ),
            (
                Kind::Pairs,
                "N=4 S='x y' B=true",
                json!({"N": 4, "S": "x y", "B": true}),
            ),
            (Kind::Json, "[1, 2]", json!([1, 2])),
            (Kind::Numbers, "8, 8", json!([8, 8])),
            (Kind::Numbers, "[3 100.5]", json!([3, 100.5])),
            (Kind::TextOrJson, "open", json!("open")),
            (Kind::TextOrJson, "{\"a\": 1}", json!({"a": 1})),
            (Kind::Part, "yes", json!({})),
        ];
        for (kind, text, wanted) in good {
            assert_eq!(value(&kind, text), Ok(Some(wanted)), "{text}");
        }
        assert_eq!(value(&Kind::Number, "  "), Ok(None));
        let bad = [
            (Kind::Integer, "1.5"),
            (Kind::Number, "nan"),
            (Kind::Number, "five"),
            (Kind::Yes, "maybe"),
            (Kind::Words, "'open"),
            (Kind::Pairs, "=1"),
            (Kind::Json, "{"),
            (Kind::TextOrJson, "{"),
            (Kind::Numbers, "8 x"),
        ];
        for (kind, text) in bad {
            assert!(value(&kind, text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_become_the_texts_that_stand_for_them() {
        let cases = [
            (Kind::Text, json!("PBE")),
            (Kind::Integer, json!(12)),
            (Kind::Number, json!(0.001)),
            (Kind::Yes, json!(true)),
            (Kind::Part, json!({})),
            (Kind::Structure, json!({"path": "/w/mgo.cif"})),
            (Kind::Structure, json!({"material": "local:3"})),
            (Kind::Structure, json!({"job": 12})),
            (Kind::Structure, json!({"text": "x", "format": "cif"})),
            (Kind::Path, json!("/w/basis.txt")),
            (Kind::Numbers, json!([8, 8])),
            (Kind::Words, json!(["./run.sh", "a b", "", "it's"])),
            (Kind::Pairs, json!({"N": 4, "S": "x y", "B": true})),
            (Kind::TextOrJson, json!("open")),
            (Kind::TextOrJson, json!({"n_alpha_minus_beta": 2})),
            (Kind::Json, json!("text")),
        ];
        for (kind, wanted) in cases {
            let text = text_of(&kind, &wanted);
            assert_eq!(value(&kind, &text), Ok(Some(wanted)), "{text}");
        }
        assert_eq!(text_of(&Kind::Number, &Value::Null), "");
    }
}
