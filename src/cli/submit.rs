//! `crystalmath submit`: turn files and options into a submission.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::code_inputs::code_inputs;
use super::engines::{Agreement, install};
use super::output::{Failure, Outcome};
use super::params::{self, Given, ResourceArgs, key_text, key_value};
use super::session::Session;
use super::templates;
use super::text;
use super::wait::{self, WaitArgs};
use super::wording::speak;
use crate::error::IpcError;
use crate::rpc::fit;
use crate::rpc::types::{DryRun, JobSummary, Reply, SubmitResult};
use crate::submission::{self, Kind, Source, kind_of};

/// Arguments of `submit`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A structure (a file, or a name that a search gave), a deck or a program, and the files it
    /// needs: what is run comes first
    #[arg(required_unless_present = "template", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A template that writes the input; a structure in the first place fills it in
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// What the template is filled in with; repeat for more
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_text, requires = "template")]
    pub filled: Vec<(String, String)>,
    /// Which code runs it; told by the first file when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// What the code should do, like relax
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Force engine, like emt
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,
    /// The engine's model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Name of the job; made of the file and the task when left out
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Name of the cluster to run on
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<String>,
    /// A parameter of the code, as JSON or text; repeat for more
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = key_value)]
    pub params: Vec<(String, Value)>,
    /// An option of the deck that is written for a structure, like functional=PBE0 of CRYSTAL, of
    /// the force engine, or an input of pw.x or VASP like `ecutwfc_ry=30` or `incar.ENCUT=600`; a
    /// dot goes into an object; repeat for more
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub options: Vec<(String, Value)>,
    /// What the job needs of the machine.
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Start only when this job has completed; repeat for more
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub after: Vec<i64>,
    /// A label; repeat for more
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Show the files and the program, and store nothing
    #[arg(long, conflicts_with = "wait")]
    pub dry_run: bool,
    /// Whether the user agrees beforehand that a missing engine is installed.
    #[command(flatten)]
    pub agreement: Agreement,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut given = match &args.template {
        Some(name) => from_template(session, args, name)?,
        None => submission(args)?,
    };
    given.put("context", Some(params::own_context()));
    given.put("client_token", Some(params::client_token().into()));
    let submission = given.object();
    match send(session, "jobs.submit", submission.clone(), &args.wait) {
        Err(Failure::Ipc(error)) if error.kind() == install::NOT_INSTALLED => {
            install::for_submission(session, args.engine.as_deref(), args.agreement)?;
            send(session, "jobs.submit", submission, &args.wait)
        }
        other => other,
    }
}

/// Send a submission, say what became of it, and wait if that is wanted.
pub(super) fn send(session: &Session, method: &str, params: Value, wait: &WaitArgs) -> Outcome {
    let raw = session.ask(method, params)?;
    let reply: Reply<SubmitResult> = fit(method, &raw)?;
    match (&reply.data.job, &reply.data.dry_run) {
        (Some(job), _) => {
            let said = accepted(job, "submitted", reply.data.repeated);
            wait::follow(session, &raw, job.id, &said, wait)
        }
        (None, Some(found)) => {
            session.print(&raw, || dry_run(found))?;
            Ok(0)
        }
        (None, None) => Err(IpcError::Protocol(format!("{method} names no job")).into()),
    }
}

/// What became of a new job, in one line; `verb` says what was done.
pub(super) fn accepted(job: &JobSummary, verb: &str, repeated: bool) -> String {
    let what = [Some(&job.code), job.task.as_ref(), job.formula.as_ref()];
    let what: Vec<&str> = what.into_iter().flatten().map(String::as_str).collect();
    let verb = if repeated { "was there before" } else { verb };
    format!(
        "job {} {verb}: {} ({})",
        job.id,
        text::fit(&job.name, 40),
        what.join(" ")
    )
}

/// The same where a template writes the input: the code is the template's.
fn from_template(session: &Session, args: &Args, name: &str) -> Result<Given, Failure> {
    let template = templates::get(session, name)?;
    templates::values::check(&template)?;
    let code = code_of(name, template.code.as_deref(), args.code.as_deref())?;
    let (structure, files) = match args.files.split_first() {
        Some((first, rest)) if templates::is_structure(first) => (Some(first.as_path()), rest),
        _ => (None, args.files.as_slice()),
    };
    let filled = templates::values::values(&template, structure, &args.filled)?;
    let named = || {
        structure.map_or_else(
            || name.replace('/', " "),
            |path| submission::name_of(path, name.rsplit('/').next()),
        )
    };
    let mut given = Given::default();
    given.text("name", Some(&args.name.clone().unwrap_or_else(named)));
    given.text("code", Some(&code.to_owned()));
    given.text("template", Some(&name.to_owned()));
    given.put("template_parameters", Some(Value::Object(filled)));
    let inputs = code_inputs(code, &args.params, &args.options)?;
    let beside: Vec<Value> = sources(files)?
        .into_iter()
        .map(|file| json!({"path": file.name, "source": file.path}))
        .collect();
    given.list("files", &beside);
    given.put(
        "inputs",
        (!inputs.is_empty()).then_some(Value::Object(inputs)),
    );
    rest_of(args, &mut given);
    Ok(given)
}

/// The code that runs what a template writes: its own, which nothing else may be asked for.
fn code_of<'a>(
    name: &str,
    written_for: Option<&'a str>,
    asked: Option<&'a str>,
) -> Result<&'a str, Failure> {
    match (written_for, asked) {
        (Some(code), Some(asked)) if code != asked => Err(Failure::usage(
            format!("--code {asked}: the template {name} writes input of {code}"),
            "leave --code out, or give a template of that code: crystalmath templates",
        )),
        (Some(code), _) | (None, Some(code)) => Ok(code),
        (None, None) => Err(Failure::usage(
            format!("{name} writes no input of a code"),
            format!("write it with: crystalmath templates render {name} -o FILE"),
        )),
    }
}

/// The params of the submission, without what makes each one unique.
fn submission(args: &Args) -> Result<Given, Failure> {
    let sources = sources(&args.files)?;
    let code = match &args.code {
        Some(code) => code.clone(),
        None => told_by(&args.files[0], args)?.to_owned(),
    };
    if code == "command" && sources[0].kind == Kind::Material {
        return Err(Failure::usage(
            format!(
                "{} is a structure, and nothing that can be run",
                sources[0].name
            ),
            "give another --code, or write it to a file: crystalmath convert",
        ));
    }
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| submission::name_of(&args.files[0], args.task.as_deref()));
    let mut given = Given::default();
    given.text("name", Some(&name));
    given.text("code", Some(&code));
    let inputs = code_inputs(&code, &args.params, &args.options)?;
    if !inputs.contains_key("deck") {
        only_one(&submission::decks(&code, &sources))?;
    }
    let parts = submission::parts(&code, &sources, inputs);
    given.put("structure", parts.structure);
    given.list("files", &parts.files);
    given.put(
        "inputs",
        (!parts.inputs.is_empty()).then_some(Value::Object(parts.inputs)),
    );
    rest_of(args, &mut given);
    Ok(given)
}

/// What stands in a submission whatever its input is.
fn rest_of(args: &Args, given: &mut Given) {
    given.text("task", args.task.as_ref());
    given.text("engine", args.engine.as_ref());
    given.text("model", args.model.as_ref());
    given.text("cluster", args.cluster.as_ref());
    given.put("resources", args.resources.params());
    given.list("after", &args.after);
    given.list("tags", &args.tags);
    given.put("dry_run", args.dry_run.then_some(Value::Bool(true)));
}

fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut seen = BTreeMap::new();
    let mut sources = Vec::with_capacity(paths.len());
    for (place, path) in paths.iter().enumerate() {
        if let Some(material) = submission::material_name(path) {
            if place > 0 {
                return Err(Failure::usage(
                    format!("{material} is a structure, and stands behind another file"),
                    "name it first",
                ));
            }
            sources.push(Source {
                name: material.to_owned(),
                path: material.to_owned(),
                kind: Kind::Material,
            });
            continue;
        }
        let name = file_name(path)?;
        if let Some(first) = seen.insert(name.clone(), path) {
            return Err(Failure::usage(
                format!(
                    "{} and {} have the same name",
                    first.display(),
                    path.display()
                ),
                "all files of a job go into one directory; rename one",
            ));
        }
        sources.push(Source {
            name,
            path: params::absolute_file(path)?,
            kind: kind_of(path),
        });
    }
    Ok(sources)
}

fn file_name(path: &Path) -> Result<String, Failure> {
    match path.file_name().map(|name| name.to_str()) {
        Some(Some(name)) => Ok(name.to_owned()),
        Some(None) => Err(Failure::usage(
            format!("{} is not valid UTF-8", path.display()),
            "give the file another name",
        )),
        None => Err(Failure::usage(
            format!("{} is not a file", path.display()),
            "name a file",
        )),
    }
}

/// Of several decks only the user knows which one is to be run.
fn only_one(decks: &[&str]) -> Result<(), Failure> {
    match decks {
        [first, .., last] => Err(Failure::usage(
            format!("{} are all decks, and a job runs one", decks.join(", ")),
            format!("submit {first} and {last} one by one, or say which: --param deck={first}"),
        )),
        _ => Ok(()),
    }
}

/// The code that the first file tells, if it does.
fn told_by(first: &Path, args: &Args) -> Result<&'static str, Failure> {
    let kind = match submission::material_name(first) {
        Some(_) => Kind::Material,
        None => kind_of(first),
    };
    submission::code_for(kind, args.engine.is_some()).ok_or_else(|| {
        let (reason, hint) = match kind {
            Kind::Either(doubt) => {
                let [one, other] = doubt
                    .choices()
                    .map(|(code, does)| format!("--code {code} {does}"));
                (doubt.reason(), format!("{one}, {other}"))
            }
            _ => (
                "is neither a structure by its name, nor a deck of pw.x or CRYSTAL, nor a program",
                "give --code; the codes are listed by: crystalmath codes".to_owned(),
            ),
        };
        let message = format!("{} {reason}: which code is meant?", first.display());
        Failure::usage(message, hint)
    })
}

/// What would be written and started.
pub(super) fn dry_run(found: &DryRun) -> String {
    let mut lines = vec![format!("task      {}", found.task)];
    if let Some(formula) = &found.formula {
        let atoms = found
            .n_atoms
            .map(|n| format!(", {n} atoms"))
            .unwrap_or_default();
        lines.push(format!("structure {formula}{atoms}"));
    }
    lines.push(format!("program   {}", found.argv.join(" ")));
    lines.extend(
        found
            .env
            .iter()
            .map(|(name, value)| format!("          {name}={value}")),
    );
    lines.extend(
        found
            .warnings
            .iter()
            .map(|warning| format!("warning   {}", speak(warning, None))),
    );
    for file in &found.files {
        let mode = if file.executable { ", executable" } else { "" };
        match (&file.content, &file.source) {
            (Some(content), _) => {
                lines.push(format!("\n--- {}{mode}\n{}", file.path, content.trim_end()));
            }
            (None, Some(source)) => {
                lines.push(format!("\n--- {}{mode}, copied from {source}", file.path));
            }
            (None, None) => lines.push(format!("\n--- {}{mode}", file.path)),
        }
    }
    if let Some(script) = &found.script {
        lines.push(format!("\n--- job script\n{}", script.trim_end()));
    }
    lines.push("\nnothing was stored".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Failure, code_of};

    #[test]
    fn a_template_runs_with_its_own_code() {
        for (written_for, asked, expected) in [
            (Some("espresso"), None, Some("espresso")),
            (Some("espresso"), Some("espresso"), Some("espresso")),
            (None, Some("command"), Some("command")),
            (Some("espresso"), Some("vasp"), None),
            (None, None, None),
        ] {
            match (code_of("espresso/scf", written_for, asked), expected) {
                (Ok(code), Some(expected)) => assert_eq!(code, expected),
                (Err(Failure::Usage { message, .. }), None) => {
                    assert!(message.contains("espresso/scf"), "{message}");
                }
                (_, _) => panic!("{written_for:?} {asked:?}"),
            }
        }
    }
}
