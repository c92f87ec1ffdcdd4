//! `crystalmath engines install`, and the same as part of a submission.

use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Value, json};

use super::ask::Agreement;
use super::{model_name, size};
use crate::cli::news::{News, Told};
use crate::cli::output::{Failure, Outcome};
use crate::cli::params::Given;
use crate::cli::session::{Session, note};
use crate::cli::wait::{self, LONGEST_PAUSE, Line, TICK};
use crate::cli::wording;
use crate::error::IpcError;
use crate::rpc::types::{EngineInfo, InstallPhase, InstallState, InstallTask, NoParams, calls};

/// Kind of the error for an engine that is declared but not built.
pub(in crate::cli) const NOT_INSTALLED: &str = "engine_not_installed";

/// Arguments of `engines install`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which engine
    #[arg(value_name = "ENGINE")]
    pub engine: String,
    /// A model to fetch with it; repeat for more
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// Accept the licences of these models, or of the default model
    #[arg(long)]
    pub accept_license: bool,
    /// Return at once; the installation goes on
    #[arg(long)]
    pub no_wait: bool,
    /// Whether the user agrees beforehand.
    #[command(flatten)]
    pub agreement: Agreement,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let engine = find(session, Some(&args.engine))?;
    if !engine.installed {
        args.agreement
            .obtain(&engine.name, engine.download_bytes, session.globals.json)?;
    }
    let models = args
        .models
        .iter()
        .map(|model| model_name(model))
        .collect::<Result<Vec<_>, _>>()?;
    let mut given = Given::default();
    given.text("engine", Some(&engine.name));
    given.list("models", &models);
    given.put(
        "accept_license",
        args.accept_license.then_some(Value::Bool(true)),
    );
    let raw = session.ask("forces.install", given.object())?;
    let task: InstallTask = serde_json::from_value(raw["data"]["task"].clone()).unwrap_or_default();
    if args.no_wait {
        session.print(&raw, || format!("{}: {}", task.engine, task.text))?;
        return Ok(0);
    }
    let task = follow(session, task, Wanted::Examined)?;
    let document = json!({"status": "ok", "data": {"task": task}});
    session.print(&document, || format!("{} is installed", task.engine))?;
    Ok(0)
}

/// Install the engine that a submission needs, if the user agrees.
pub(in crate::cli) fn for_submission(
    session: &Session,
    engine: Option<&str>,
    agreement: Agreement,
) -> Result<(), Failure> {
    let engine = find(session, engine)?;
    agreement.obtain(&engine.name, engine.download_bytes, session.globals.json)?;
    let raw = session.ask("forces.install", json!({"engine": engine.name}))?;
    let task: InstallTask = serde_json::from_value(raw["data"]["task"].clone()).unwrap_or_default();
    let task = follow(session, task, Wanted::Usable)?;
    if !session.globals.json {
        let rest = if task.state == InstallState::Done {
            ""
        } else {
            "; its numbers are being checked meanwhile"
        };
        note(&format!("{} is installed{rest}", task.engine));
    }
    Ok(())
}

/// One engine, or the default one.
fn find(session: &Session, name: Option<&str>) -> Result<EngineInfo, Failure> {
    let answer = session.call::<calls::ForcesEngines>(&NoParams {})?;
    let names: Vec<String> = answer.read.data.iter().map(|e| e.name.clone()).collect();
    answer
        .read
        .data
        .into_iter()
        .find(|engine| name.map_or(engine.default, |name| engine.name == name))
        .ok_or_else(|| {
            Failure::usage(
                format!("there is no engine {}", name.unwrap_or("by default")),
                format!("engines here: {}", names.join(", ")),
            )
        })
}

/// What is waited for: the examination of an engine comes after it can be used, and takes minutes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Usable,
    Examined,
}

/// Wait for an installation; an interrupt leaves it alone.
fn follow(
    session: &Session,
    mut task: InstallTask,
    wanted: Wanted,
) -> Result<InstallTask, Failure> {
    let interrupted = wait::interrupt()?;
    let mut line = Line::new(session.globals.json);
    let news = News::of(session.client()?, &["engines"]);
    let mut looked = Instant::now();
    loop {
        if let Some(ended) = ending(&task) {
            line.clear();
            return ended.map(|()| task);
        }
        line.progress(
            &format!("{}: {}", task.engine, task.phase),
            &format!("{}: {}{}", task.engine, task.text, done(&task)),
        );
        if interrupted.load(Ordering::Relaxed) {
            line.clear();
            return Err(Failure::Interrupted {
                message: match wanted {
                    Wanted::Usable => format!(
                        "no job was submitted; the installation of {} goes on",
                        task.engine
                    ),
                    Wanted::Examined => format!("the installation of {} goes on", task.engine),
                },
                hint: format!("end it with: crystalmath engines stop {}", task.id),
            });
        }
        match news.as_ref().map(|news| news.next(TICK)) {
            Some(Told::Install(told)) if told.id == task.id => {
                task = *told;
                // It is checked before it is there, and examined afterwards.
                if wanted == Wanted::Examined || task.phase != InstallPhase::Checking {
                    continue;
                }
            }
            Some(Told::Nothing) | None if looked.elapsed() < LONGEST_PAUSE => {
                if news.is_none() {
                    std::thread::sleep(TICK);
                }
                continue;
            }
            _ => {}
        }
        looked = Instant::now();
        let Some(engine) = look(session, &task)? else {
            continue;
        };
        match engine.install {
            Some(now) => task = now,
            None if engine.installed => task.state = InstallState::Done,
            None => {}
        }
        if wanted == Wanted::Usable && engine.installed {
            line.clear();
            return Ok(task);
        }
    }
}

/// The engine of a task as the daemon has it now; `None` while it cannot say.
fn look(session: &Session, task: &InstallTask) -> Result<Option<EngineInfo>, Failure> {
    let answer = match session.call::<calls::ForcesEngines>(&NoParams {}) {
        Ok(answer) => answer,
        Err(error) if wait::passes(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(answer
        .read
        .data
        .into_iter()
        .find(|engine| engine.name == task.engine))
}

fn ending(task: &InstallTask) -> Option<Result<(), Failure>> {
    match task.state.as_str() {
        "done" => Some(Ok(())),
        "failed" | "cancelled" => {
            let message = task.message.clone().unwrap_or_else(|| task.text.clone());
            let hint = task.hint.as_deref().map(|hint| wording::speak(hint, None));
            let data = json!({
                "kind": task.kind.clone().unwrap_or_else(|| task.state.to_string()),
                "hint": hint,
                "retryable": false,
            });
            Some(Err(Failure::Ipc(IpcError::Rpc {
                code: -32000,
                message,
                data,
            })))
        }
        _ => None,
    }
}

fn done(task: &InstallTask) -> String {
    match (task.done_bytes, task.total_bytes) {
        (Some(done), Some(total)) if total > 0 => {
            format!("  {} of {}", size(Some(done)), size(Some(total)))
        }
        _ => String::new(),
    }
}
