//! What installing an engine would fetch and what has to be agreed to, as a question.

use serde_json::{Value, json};

use super::words::bytes_of;
use crate::rpc::types::{EngineInfo, EngineModel, EngineModelConsent, EngineModelSource};
use crate::screens::{Choice, Picker, Question};
use crate::widgets::text;

/// Columns of a question.
const COLUMNS: usize = 68;

/// An installation that is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The engine.
    pub engine: String,
    /// Models that are fetched with it.
    pub models: Vec<String>,
    /// Whether licences have to be accepted.
    pub accept: bool,
}

impl Plan {
    /// Install the engine, with these of its models.
    pub fn of(engine: &EngineInfo, models: Vec<String>) -> Self {
        let accept = chosen(engine, &models).any(needs_consent);
        Self {
            engine: engine.name.clone(),
            models,
            accept,
        }
    }

    /// The params of `forces.install`.
    pub fn params(&self) -> Value {
        json!({
            "engine": self.engine,
            "models": self.models,
            "accept_license": self.accept,
        })
    }
}

/// Models whose weights are fetched by installing and are not here.
pub fn fetchable(engine: &EngineInfo) -> impl Iterator<Item = &EngineModel> {
    let models = engine.models.iter();
    models.filter(|model| model.source == EngineModelSource::Download && !model.present)
}

/// The models to choose from, where there is a choice.
pub fn choices(engine: &EngineInfo) -> Option<Picker> {
    let choices: Vec<Choice> = fetchable(engine)
        .map(|model| {
            let licence = match (needs_consent(model), &model.license) {
                (true, Some(name)) => format!(", licence {name}"),
                (true, None) => ", with a licence to accept".into(),
                (false, _) => String::new(),
            };
            Choice {
                name: model.id.clone(),
                title: format!("{}{}{licence}", model.id, sized(model)),
                chosen: model.default,
            }
        })
        .collect();
    (choices.len() > 1).then(|| Picker {
        title: format!("Models to fetch for {}", engine.name),
        choices,
        several: true,
    })
}

/// Ask, with the size, and with the licences in full as far as `rows` allow.
pub fn question(engine: &EngineInfo, plan: &Plan, rows: usize) -> Question {
    let mut lines = Vec::new();
    if !engine.installed {
        let much = match engine.download_bytes {
            Some(bytes) => format!("about {} are fetched", bytes_of(bytes)),
            None => "how much is fetched is not known".into(),
        };
        lines.push(format!("Its environment is built: {much}."));
    }
    for model in chosen(engine, &plan.models) {
        lines.push(format!("Weights: {}{}", model.id, sized(model)));
    }
    lines.push("It goes on in the background, also when you leave.".into());
    let mut texts = Vec::new();
    for model in chosen(engine, &plan.models).filter(|model| needs_consent(model)) {
        let name = model.license.as_deref().unwrap_or("of its own");
        lines.push(format!(
            "{} has the licence {name}; Yes accepts it.",
            model.id
        ));
        let said = model.license_text.as_deref().unwrap_or_default();
        texts.extend(said.lines().flat_map(|line| text::wrap(line, COLUMNS)));
    }
    let mut lines: Vec<String> = lines
        .iter()
        .flat_map(|line| text::wrap(line, COLUMNS))
        .collect();
    let room = rows.saturating_sub(lines.len() + 1);
    if texts.len() > room {
        texts.truncate(room.saturating_sub(1));
        texts.push("The whole licence stands in the engine's pane.".into());
    }
    if !texts.is_empty() {
        lines.push(String::new());
        lines.extend(texts);
    }
    Question {
        title: format!("Install {}?", engine.name),
        lines,
        yes: if plan.accept {
            "Accept and install".into()
        } else {
            "Install".into()
        },
    }
}

fn chosen<'a>(
    engine: &'a EngineInfo,
    models: &'a [String],
) -> impl Iterator<Item = &'a EngineModel> {
    let all = engine.models.iter();
    all.filter(move |model| {
        // Without any named it is the default one whose licence counts.
        models.contains(&model.id) || (models.is_empty() && model.default && needs_consent(model))
    })
}

/// Whether a licence has to be accepted first.
pub fn needs_consent(model: &EngineModel) -> bool {
    model.consent == EngineModelConsent::Needed
}

fn sized(model: &EngineModel) -> String {
    let size = model
        .size_bytes
        .map(|bytes| format!(", {}", bytes_of(bytes)));
    size.unwrap_or_default()
}
