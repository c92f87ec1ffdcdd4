//! The daemon's sentences name methods and fields of the wire, in backticks: `` `jobs.get` ``,
//! `` `resources.walltime_s` ``, `` `engine: emt` ``. Each client says what its own users know
//! them by. Pure text; used by `cli`.

/// Replace every name in backticks for which `say` knows a better one. It gets the name, and the
/// value that stands behind it if there is one.
#[must_use]
pub fn replace_names(text: &str, say: impl Fn(&str, Option<&str>) -> Option<String>) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((token, after)) = behind.split_once('`') else {
            break;
        };
        let (name, value) = match token.split_once(": ") {
            Some((name, value)) => (name, Some(value)),
            None => (token, None),
        };
        said.push_str(before);
        let word = say(name, value).unwrap_or_else(|| token.to_owned());
        said.push('`');
        said.push_str(&word);
        said.push('`');
        rest = after;
    }
    said.push_str(rest);
    said
}

#[cfg(test)]
mod tests {
    use super::replace_names;

    #[test]
    fn names_in_backticks_are_replaced_and_nothing_else() {
        let say = |name: &str, value: Option<&str>| match (name, value) {
            ("a", None) => Some("--a".to_owned()),
            ("a", Some(value)) => Some(format!("--a={value}")),
            _ => None,
        };
        for (text, expected) in [
            ("", ""),
            ("a", "a"),
            ("give `a`, not `b`", "give `--a`, not `b`"),
            ("`a: 1`", "`--a=1`"),
            ("`b: 1`", "`b: 1`"),
            ("an open `a", "an open `a"),
            ("``", "``"),
        ] {
            assert_eq!(replace_names(text, say), expected);
        }
    }
}
