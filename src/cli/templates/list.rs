//! What there is: the list, and one template in full.

use serde_json::Value;

use crate::cli::output::{self, Failure, Outcome};
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::table::{Column, cell, render};
use crate::cli::text;
use crate::rpc::types::{
    GetTemplateParams, ListTemplatesParams, Origin, TemplateRow, TemplateSource, calls,
};

/// Arguments of `list`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Only those of this code
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
}

/// One template.
#[derive(Debug, clap::Args)]
pub struct OneArgs {
    /// Name of the template, like crystal/scf
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Which one, where one of yours has the name of one of the program
    #[command(flatten)]
    pub which: Which,
    /// Print the template itself, to be changed and saved
    #[arg(long)]
    pub text: bool,
}

/// Which of two templates of one name.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Which {
    /// Of the program (shipped) or your own (user)
    #[arg(long, value_name = "WHICH", value_parser = ["shipped", "user"])]
    pub origin: Option<String>,
}

impl Which {
    pub(super) fn origin(&self) -> Option<Origin> {
        self.origin.as_deref().map(Origin::from)
    }
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let asked = ListTemplatesParams {
        code: args.code.clone(),
    };
    let answer = session.call::<calls::TemplatesList>(&asked)?;
    session.print(&answer.raw, || {
        let columns = [
            Column::left("TEMPLATE", 40),
            Column::left("CODE", 10),
            Column::left("OF", 7),
            Column::left("", 0),
        ];
        let rows: Vec<_> = answer.read.data.iter().map(row).collect();
        let folder = &answer.read.meta.folder;
        format!(
            "{}\nyour own ones: {folder}",
            render(&columns, &rows, session.colour())
        )
    })?;
    Ok(0)
}

fn row(template: &TemplateRow) -> Vec<crate::cli::table::Cell> {
    let code = template.code.as_deref().unwrap_or("-");
    let about = match &template.problem {
        Some(problem) => format!("cannot be used: {}", said(problem)),
        None if template.shadowed => format!("{} (yours is used)", template.title),
        None => template.title.clone(),
    };
    let colour = if template.problem.is_some() {
        "\x1b[31m"
    } else {
        ""
    };
    vec![
        cell(&*template.id),
        cell(code),
        cell(if template.origin == Origin::User {
            "you"
        } else {
            "program"
        }),
        (about, colour),
    ]
}

fn said(problem: &crate::rpc::types::TemplateProblem) -> String {
    match problem.line {
        Some(line) => format!("line {line}: {}", problem.message),
        None => problem.message.clone(),
    }
}

/// Ask for one template.
pub(in crate::cli) fn get(
    session: &Session,
    name: &str,
    origin: Option<Origin>,
) -> Result<crate::cli::session::Answer<crate::rpc::types::Reply<TemplateSource>>, Failure> {
    let asked = GetTemplateParams {
        id: name.to_owned(),
        origin,
    };
    Ok(session.call::<calls::TemplatesGet>(&asked)?)
}

pub(super) fn show(session: &Session, args: &OneArgs) -> Outcome {
    let answer = get(session, &args.name, args.which.origin())?;
    let found = &answer.read.data;
    if args.text && !session.json() {
        output::text(&found.text)?;
        return Ok(0);
    }
    session.print(&answer.raw, || describe(&found.template))?;
    Ok(u8::from(found.template.problem.is_some()))
}

fn describe(template: &TemplateRow) -> String {
    let mut lines = vec![format!("{}  {}", template.id, template.title)];
    if let Some(problem) = &template.problem {
        lines.push(field("problem", &said(problem)));
        lines.extend(problem.hint.iter().map(|hint| field("hint", hint)));
        return lines.join("\n");
    }
    if !template.description.is_empty() {
        lines.push(field("for", &template.description));
    }
    lines.extend(template.code.iter().map(|code| field("code", code)));
    lines.push(field("writes", &template.renders.join(", ")));
    lines.push(field(
        "version",
        &template.version.unwrap_or_default().to_string(),
    ));
    lines.push(String::new());
    let properties = template.parameters.get("properties");
    let required = &template.parameters.get("required");
    for (name, schema) in properties.and_then(Value::as_object).into_iter().flatten() {
        let needed = required
            .and_then(Value::as_array)
            .is_some_and(|names| names.contains(&Value::from(name.as_str())));
        lines.push(parameter(name, schema, needed));
    }
    lines.join("\n")
}

fn parameter(name: &str, schema: &Value, required: bool) -> String {
    let mut about = vec![
        schema["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    ];
    let unit = schema["x-unit"].as_str().unwrap_or_default();
    if let Some(choices) = schema["enum"].as_array() {
        let words: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        about.push(format!("One of {}.", words.join(", ")));
    }
    let (low, high) = (&schema["minimum"], &schema["maximum"]);
    match (low.is_null(), high.is_null()) {
        (false, false) => {
            about.push(format!("From {low} to {high} {unit}").trim_end().to_owned() + ".");
        }
        (false, true) => about.push(format!("At least {low} {unit}").trim_end().to_owned() + "."),
        (true, false) => about.push(format!("At most {high} {unit}").trim_end().to_owned() + "."),
        (true, true) if !unit.is_empty() => about.push(format!("In {unit}.")),
        (true, true) => {}
    }
    let default = &schema["default"];
    let kind = schema["x-type"].as_str().unwrap_or_default();
    if required {
        about.push("Has to be given.".into());
    } else if kind == "structure" && !default.is_null() {
        about.push("An example stands in the template.".into());
    } else if let Some(word) = default.as_str() {
        about.push(format!("Default: {word}"));
    } else if !default.is_null() {
        about.push(format!("Default: {default} {unit}").trim_end().to_owned());
    }
    let indent = " ".repeat(4);
    format!(
        "{name} ({kind})\n{indent}{}",
        text::wrap(&about.join(" "), text::WIDTH - 4, &indent)
    )
}
