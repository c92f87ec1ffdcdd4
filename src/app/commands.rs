//! Cancel, rerun and delete: asks with the count and the names, marks the rows at once, sends, and
//! takes the marks back with the reason when the daemon refuses.

use serde_json::{Value, json};

use super::Model;
use super::cx::Question;
use super::data::{Mark, Row, is_terminal};
use super::overlays::{Overlay, Owner as Asker};
use super::requests::Owner;
use crate::error::IpcError;
use crate::msg::{Effect, Tone};
use crate::rpc::types::{JobOutcome, JobState, OutcomesMeta, Page, Reply, SubmitResult};
use crate::screens::wording::{error_text, speak};

/// How many names a question shows before it says how many more there are.
const NAMES: usize = 8;

/// What can be done with jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// End them.
    Cancel,
    /// Submit them again.
    Rerun,
    /// Remove them from the list.
    Delete,
}

impl Command {
    const fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "Cancel",
            Self::Rerun => "Rerun",
            Self::Delete => "Delete",
        }
    }

    const fn mark(self) -> Mark {
        match self {
            Self::Cancel => Mark::Cancelling,
            Self::Rerun => Mark::Rerunning,
            Self::Delete => Mark::Deleting,
        }
    }

    fn fits(self, row: &Row) -> bool {
        let ended = is_terminal(&row.job.state);
        match self {
            Self::Cancel => !ended && row.job.state != JobState::Cancelling,
            Self::Rerun => true,
            Self::Delete => ended,
        }
    }

    const fn misfit(self) -> &'static str {
        match self {
            Self::Cancel => "already ended or being cancelled",
            Self::Rerun => "gone",
            Self::Delete => "not ended yet; cancel first",
        }
    }
}

/// Which command an answer belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CommandCall {
    command: Command,
    ids: Vec<i64>,
    /// Jobs that are to follow one by one.
    rest: Vec<i64>,
}

impl Model {
    /// Ask whether to do it.
    pub(super) fn ask_command(&mut self, command: Command, ids: &[i64]) {
        let rows: Vec<&Row> = ids
            .iter()
            .filter_map(|id| self.data.jobs.get(*id))
            .collect();
        let (fit, misfit): (Vec<&Row>, Vec<&Row>) = rows
            .into_iter()
            .partition(|row| command.fits(row) && row.mark.is_none());
        if fit.is_empty() {
            let text = match misfit[..] {
                [] => "no job is selected".to_owned(),
                [row] => format!("job {} is {}", row.job.id, command.misfit()),
                _ => format!("{} jobs are {}", misfit.len(), command.misfit()),
            };
            self.toast(Tone::Warn, text);
            return;
        }
        let mut lines: Vec<String> = fit.iter().take(NAMES).map(|row| name(row)).collect();
        if fit.len() > NAMES {
            lines.push(format!("and {} more", fit.len() - NAMES));
        }
        if !misfit.is_empty() {
            lines.push(String::new());
            lines.push(format!("left out: {} ({})", misfit.len(), command.misfit()));
        }
        if command == Command::Delete {
            lines.push(String::new());
            lines.push("Their files stay where they are.".into());
        }
        let count = if let [row] = fit[..] {
            format!("job {}", row.job.id)
        } else {
            format!("{} jobs", fit.len())
        };
        let question = Question {
            title: format!("{} {count}?", command.verb()),
            lines,
            yes: command.verb().to_owned(),
        };
        let ids = fit.iter().map(|row| row.job.id).collect();
        self.overlay = Some(Overlay::confirm(question, Asker::Command(command, ids)));
        self.dirty = true;
    }

    /// Do it.
    pub(super) fn run_command(&mut self, command: Command, ids: Vec<i64>) -> Vec<Effect> {
        for id in &ids {
            self.data.jobs.mark(*id, Some(command.mark()));
        }
        let mut effects = self.tell_jobs_changed(&ids);
        effects.push(self.send_command(command, ids));
        self.dirty = true;
        effects
    }

    fn send_command(&mut self, command: Command, mut ids: Vec<i64>) -> Effect {
        let (method, params, rest) = match command {
            Command::Cancel => ("jobs.cancel", json!({"ids": ids}), Vec::new()),
            Command::Delete => ("jobs.delete", json!({"ids": ids}), Vec::new()),
            Command::Rerun => {
                let rest = ids.split_off(1.min(ids.len()));
                ("jobs.rerun", json!({"id": ids.first()}), rest)
            }
        };
        let owner = Owner::Command(CommandCall { command, ids, rest });
        self.requests.call(owner, method, params)
    }

    pub(super) fn command_reply(
        &mut self,
        call: CommandCall,
        result: Result<Value, IpcError>,
    ) -> Vec<Effect> {
        let CommandCall { command, ids, rest } = call;
        for id in &ids {
            self.data.jobs.mark(*id, None);
        }
        let mut effects = Vec::new();
        let go_on = result.is_ok();
        match result {
            Err(error) => {
                let what = if let [id] = ids[..] {
                    format!("job {id}")
                } else {
                    format!("{} jobs", ids.len())
                };
                self.toast(
                    Tone::Bad,
                    format!("{} {what}: {}", command.verb(), error_text(&error)),
                );
                // What stands against one may stand against all that were to follow.
                for id in &rest {
                    self.data.jobs.mark(*id, None);
                }
                if !rest.is_empty() {
                    self.toast(
                        Tone::Warn,
                        format!("{} further jobs were not submitted", rest.len()),
                    );
                }
                effects.extend(self.tell_jobs_changed(&rest));
            }
            Ok(result) if command == Command::Rerun => effects.extend(self.reran(&ids, result)),
            Ok(result) => self.outcomes(command, result),
        }
        if go_on && !rest.is_empty() {
            effects.push(self.send_command(command, rest));
        }
        effects.extend(self.tell_jobs_changed(&ids));
        self.dirty = true;
        effects
    }

    fn reran(&mut self, ids: &[i64], result: Value) -> Vec<Effect> {
        let reply: Reply<SubmitResult> = serde_json::from_value(result).unwrap_or_default();
        let Some(job) = reply.data.job else {
            self.toast(Tone::Warn, "the daemon named no new job".to_owned());
            return Vec::new();
        };
        let old = ids.first().copied().unwrap_or_default();
        self.toast(
            Tone::Good,
            format!("job {old} runs again as job {}", job.id),
        );
        self.feed_told(vec![job])
    }

    fn outcomes(&mut self, command: Command, result: Value) {
        let page: Page<JobOutcome, OutcomesMeta> =
            serde_json::from_value(result).unwrap_or_default();
        let refused: Vec<&JobOutcome> = page.data.iter().filter(|outcome| !outcome.ok).collect();
        for outcome in page.data.iter().filter(|outcome| outcome.ok) {
            match (command, &outcome.state) {
                (Command::Delete, _) => self.data.jobs.remove(outcome.id),
                (_, Some(state)) => self.data.jobs.set_state(outcome.id, state),
                _ => {}
            }
        }
        if let Some(first) = refused.first() {
            let why = speak(first.message.as_deref().unwrap_or("not done"));
            let text = if refused.len() == 1 {
                format!("{} job {}: {why}", command.verb(), first.id)
            } else {
                format!(
                    "{} of {} jobs were refused; job {}: {why}",
                    refused.len(),
                    page.data.len(),
                    first.id
                )
            };
            self.toast(Tone::Bad, text);
        }
    }
}

fn name(row: &Row) -> String {
    format!("{}  {}  {}", row.job.id, row.job.name, row.job.state)
}
