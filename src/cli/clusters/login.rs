//! `crystalmath clusters login`: a dialogue with the host, for what only a person knows.

use serde_json::{Value, json};

use super::list::OneArgs;
use crate::cli::output::{Failure, Outcome};
use crate::cli::question::{self, Typed};
use crate::cli::session::Session;
use crate::rpc::fit;
use crate::rpc::types::{LoginResult, Reply};

const LOGIN: &str = "clusters.login";

pub(super) fn run(session: &Session, args: &OneArgs) -> Outcome {
    let cluster = &args.cluster;
    let (mut raw, mut said) = ask(session, json!({"id": cluster}))?;
    while !said.done {
        let dialogue = said.dialogue.clone().unwrap_or_default();
        let answers = match answers(session, cluster, &said) {
            Ok(answers) => answers,
            Err(failure) => {
                let params = json!({"id": cluster, "dialogue": dialogue, "give_up": true});
                // It ends by itself when this does not reach the daemon.
                let _ = session.ask(LOGIN, params);
                return Err(failure);
            }
        };
        let params = json!({"id": cluster, "dialogue": dialogue, "answers": answers});
        (raw, said) = ask(session, params)?;
    }
    session.print(&raw, || {
        format!("logged in to {cluster}; the daemon connects again by itself until it ends")
    })?;
    Ok(0)
}

fn ask(session: &Session, params: Value) -> Result<(Value, LoginResult), Failure> {
    let raw = session.ask(LOGIN, params)?;
    let reply: Reply<LoginResult> = fit(LOGIN, &raw)?;
    Ok((raw, reply.data))
}

fn answers(session: &Session, cluster: &str, said: &LoginResult) -> Result<Vec<String>, Failure> {
    if !question::can_be_asked(session) {
        let texts: Vec<&str> = said.prompts.iter().map(|one| one.text.as_str()).collect();
        return Err(Failure::usage(
            format!(
                "{cluster} wants an answer that can be typed on a terminal only: {}",
                texts.join("; ")
            ),
            format!(
                "run it on a terminal and without --json: crystalmath clusters login {cluster}; a \
                 key in the ssh agent needs no answers"
            ),
        ));
    }
    let mut answers = Vec::new();
    for prompt in &said.prompts {
        let text = prompt.text.trim_end();
        let text = text.strip_suffix(':').unwrap_or(text);
        match question::typed(&format!("{text}: "), prompt.echo)? {
            Typed::Line(answer) => answers.push(answer),
            Typed::Nothing => {
                return Err(Failure::Interrupted {
                    message: format!("the login to {cluster} was given up"),
                    hint: format!("begin again: crystalmath clusters login {cluster}"),
                });
            }
        }
    }
    Ok(answers)
}
