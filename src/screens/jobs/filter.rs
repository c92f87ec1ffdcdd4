//! The filter language: `state:failed,lost code:vasp >2d name~MgO -tag:test copper`.
//!
//! Terms stand beside each other and all must fit. `field:a,b` is one of these words, `field~text`
//! holds this text, `field>n` and `field<n` compare; a bare `>2d` is the age. A leading `-` turns a
//! term round. Any other word must be in name, formula, number or tags. Quotes hold blanks together.

use super::words;
use crate::app::{Data, Row, is_terminal};
use crate::rpc::types::JobState;
use crate::widgets::text;

/// A filter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    text: String,
    terms: Vec<Term>,
    /// Whether a term is about age or elapsed time.
    timed: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    negated: bool,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// One of these states.
    State(Vec<StateWord>),
    /// The field is one of these words.
    Is(Field, Vec<String>),
    /// The field holds this text.
    Holds(Field, String),
    /// The number is above or below the limit.
    Compare(Number, bool, f64),
    /// The job has something to look at.
    Attention,
    /// Any field holds this text.
    Any(String),
}

#[derive(Debug, Clone, PartialEq)]
enum StateWord {
    One(JobState),
    Active,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Name,
    Code,
    Task,
    Where,
    Formula,
    Reason,
    Tag,
    Workflow,
}

const FIELDS: &[(&str, Field)] = &[
    ("id", Field::Id),
    ("name", Field::Name),
    ("code", Field::Code),
    ("task", Field::Task),
    ("where", Field::Where),
    ("cluster", Field::Where),
    ("formula", Field::Formula),
    ("reason", Field::Reason),
    ("tag", Field::Tag),
    ("workflow", Field::Workflow),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Age,
    Time,
    Atoms,
    Energy,
    Id,
}

const NUMBERS: &[(&str, Number)] = &[
    ("", Number::Age),
    ("age", Number::Age),
    ("time", Number::Time),
    ("atoms", Number::Atoms),
    ("energy", Number::Energy),
    ("id", Number::Id),
];

impl Filter {
    /// Read a filter.
    ///
    /// # Errors
    /// What is wrong, and what there is instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms = split(text)?
            .iter()
            .map(|word| Term::parse(word))
            .collect::<Result<Vec<_>, _>>()?;
        let timed =
            |term: &Term| matches!(term.test, Test::Compare(Number::Age | Number::Time, ..));
        Ok(Self {
            text: text.trim().to_owned(),
            timed: terms.iter().any(timed),
            terms,
        })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether every job that fits this one fits `other` as well, as far as can be told at a glance:
    /// terms were added, or a text became longer.
    #[must_use]
    pub fn narrows(&self, other: &Self) -> bool {
        let narrower = |(term, other): (&Term, &Term)| {
            term == other
                || !term.negated
                    && !other.negated
                    && match (&term.test, &other.test) {
                        (Test::Any(text), Test::Any(part)) => text.contains(part.as_str()),
                        (Test::Holds(field, text), Test::Holds(same, part)) => {
                            field == same && text.contains(part.as_str())
                        }
                        _ => false,
                    }
        };
        self.terms.len() >= other.terms.len() && self.terms.iter().zip(&other.terms).all(narrower)
    }

    /// Whether a job fits later that does not fit now, without any news.
    #[must_use]
    pub const fn changes_with_time(&self) -> bool {
        self.timed
    }

    /// Whether a job fits.
    #[must_use]
    pub fn fits(&self, row: &Row, data: &Data) -> bool {
        self.terms
            .iter()
            .all(|term| term.test.fits(row, data) != term.negated)
    }
}

/// The words of a text; blanks in quotes do not part them.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted ^= true,
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if quoted {
        return Err("a quote is not closed".into());
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

impl Term {
    fn parse(word: &str) -> Result<Self, String> {
        // A lone "-" is on its way to something.
        let (negated, word) = match word.strip_prefix('-') {
            Some(rest) if !rest.is_empty() => (true, rest),
            _ => (false, word),
        };
        Ok(Self {
            negated,
            test: Test::parse(word)?,
        })
    }
}

impl Test {
    fn parse(word: &str) -> Result<Self, String> {
        let Some(at) = word.find([':', '~', '>', '<']) else {
            return Ok(Self::Any(word.to_lowercase()));
        };
        let (name, rest) = word.split_at(at);
        let (sign, value) = rest.split_at(1);
        let name = name.to_lowercase();
        if value.is_empty() {
            return Err(format!("{word:?} needs something after {sign:?}"));
        }
        match sign {
            ">" | "<" => compare(&name, sign == ">", value),
            ":" if name == "state" => value
                .split(',')
                .map(state_word)
                .collect::<Result<_, _>>()
                .map(Self::State),
            ":" if name == "is" && value == "attention" => Ok(Self::Attention),
            ":" => {
                let values = value.split(',').map(str::to_lowercase).collect();
                Ok(Self::Is(field(&name)?, values))
            }
            _ => Ok(Self::Holds(field(&name)?, value.to_lowercase())),
        }
    }

    fn fits(&self, row: &Row, data: &Data) -> bool {
        let job = &row.job;
        let field_holds =
            |field: Field, text: &str| values(field, row).any(|value| holds(value, text));
        match self {
            Self::State(states) => states.iter().any(|state| match state {
                StateWord::One(state) => job.state == *state,
                StateWord::Active => !is_terminal(&job.state),
                StateWord::Ended => is_terminal(&job.state),
            }),
            Self::Is(field, words) => {
                let values = values(*field, row);
                words
                    .iter()
                    .any(|word| values.any(|value| value.to_lowercase() == *word))
            }
            Self::Holds(field, text) => field_holds(*field, text),
            Self::Compare(number, above, limit) => number.of(row, data).is_some_and(|value| {
                if *above {
                    value > *limit
                } else {
                    value < *limit
                }
            }),
            Self::Attention => words::attention(job).is_some(),
            Self::Any(text) => row.words.contains(text.as_str()),
        }
    }
}

fn values(field: Field, row: &Row) -> Values<'_> {
    let job = &row.job;
    match field {
        Field::Id => Values::Number(job.id.to_string()),
        Field::Name => Values::One(Some(&job.name)),
        Field::Code => Values::One(Some(&job.code)),
        Field::Task => Values::One(job.task.as_deref()),
        Field::Where => Values::One(Some(words::place(job))),
        Field::Formula => Values::One(job.formula.as_deref()),
        Field::Reason => Values::One(job.reason.as_deref()),
        Field::Tag => Values::Many(&job.tags),
        Field::Workflow => job
            .workflow
            .map_or(Values::One(None), |id| Values::Number(id.to_string())),
    }
}

/// What a field holds; nothing is copied, since every job is asked at every key.
enum Values<'a> {
    Number(String),
    One(Option<&'a str>),
    Many(&'a [String]),
}

impl Values<'_> {
    fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Number(text) => fits(text),
            Self::One(text) => text.is_some_and(fits),
            Self::Many(texts) => texts.iter().any(|text| fits(text)),
        }
    }
}

/// Whether `text` holds `part`, which is in lower case, whatever the case of `text`.
fn holds(text: &str, part: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(part);
    }
    part.is_empty()
        || text
            .as_bytes()
            .windows(part.len())
            .any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

impl Number {
    fn of(self, row: &Row, data: &Data) -> Option<f64> {
        // Counts are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        match self {
            Self::Age => text::unix_time(&row.job.created_at).map(|at| data.now - at),
            Self::Time => data.elapsed_s(row),
            Self::Atoms => row.job.n_atoms.map(|count| count as f64),
            Self::Energy => row.job.science.energy_ev,
            Self::Id => Some(row.job.id as f64),
        }
    }
}

fn field(name: &str) -> Result<Field, String> {
    let found = FIELDS.iter().find(|(known, _)| *known == name);
    found.map(|(_, field)| *field).ok_or_else(|| {
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        format!(
            "there is no field {name:?}; there are state, is:attention, {}",
            names.join(", ")
        )
    })
}

fn compare(name: &str, above: bool, value: &str) -> Result<Test, String> {
    let found = NUMBERS.iter().find(|(known, _)| *known == name);
    let number = found.map(|(_, number)| *number).ok_or_else(|| {
        let names: Vec<&str> = NUMBERS.iter().skip(1).map(|(name, _)| *name).collect();
        format!(
            "{name:?} cannot be compared; these can: {}",
            names.join(", ")
        )
    })?;
    let limit = match number {
        Number::Age | Number::Time => seconds(value),
        _ => value.parse().ok(),
    };
    let limit = limit.ok_or_else(|| match number {
        Number::Age | Number::Time => format!("{value:?} is no time; write 30s, 10m, 2h, 3d or 1w"),
        _ => format!("{value:?} is no number"),
    })?;
    Ok(Test::Compare(number, above, limit))
}

fn seconds(text: &str) -> Option<f64> {
    let unit = match text.chars().last()? {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        'd' => 86_400.0,
        'w' => 604_800.0,
        _ => return None,
    };
    let number: f64 = text[..text.len() - 1].parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * unit)
}

/// A state by its name or the start of it, so that a filter works while it is typed.
fn state_word(word: &str) -> Result<StateWord, String> {
    let wanted = word.to_lowercase();
    if "active".starts_with(&wanted) && !wanted.is_empty() {
        return Ok(StateWord::Active);
    }
    if "ended".starts_with(&wanted) && !wanted.is_empty() {
        return Ok(StateWord::Ended);
    }
    let exact = JobState::ALL
        .iter()
        .find(|state| state.as_str().to_lowercase() == wanted);
    let starting = || {
        JobState::ALL
            .iter()
            .find(|state| state.as_str().to_lowercase().starts_with(&wanted))
            .filter(|_| !wanted.is_empty())
    };
    let found = exact.or_else(starting).cloned().map(StateWord::One);
    found.ok_or_else(|| {
        let names: Vec<String> = JobState::ALL
            .iter()
            .map(|state| state.as_str().to_lowercase())
            .collect();
        format!(
            "there is no state {word:?}; there are active, ended, {}",
            names.join(", ")
        )
    })
}
