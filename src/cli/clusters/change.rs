//! Describing, changing and forgetting clusters.

use serde_json::{Map, Value};

use super::fields::{CLEARED, FieldArgs};
use super::list::{OneArgs, describe};
use crate::cli::output::{Failure, Outcome};
use crate::cli::params::Given;
use crate::cli::question;
use crate::cli::session::Session;
use crate::cli::wording::Commands;
use crate::rpc::fit;
use crate::rpc::types::{ClusterView, Reply, calls};
use crate::runtime::unix_now;

/// Arguments of `clusters add`.
#[derive(Debug, Clone, clap::Args)]
pub struct AddArgs {
    /// Name of the cluster, for people
    #[arg(value_name = "CLUSTER")]
    pub name: String,
    /// Host name, address, or a name of ssh's configuration; localhost is this machine itself
    #[arg(long, value_name = "HOST")]
    pub host: String,
    /// Where job directories are made: absolute, ~/…, or with $VAR, which is expanded there
    #[arg(long, value_name = "DIRECTORY")]
    pub workdir: String,
    /// The rest of the description.
    #[command(flatten)]
    pub fields: FieldArgs,
}

/// Arguments of `clusters edit`.
#[derive(Debug, Clone, clap::Args)]
pub struct EditArgs {
    /// Which cluster.
    #[command(flatten)]
    pub one: OneArgs,
    /// Another name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Another host
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Another directory for jobs; those under way keep theirs
    #[arg(long, value_name = "DIRECTORY")]
    pub workdir: Option<String>,
    /// What else changes.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// Make a field empty, named like its flag: port, user, account …; repeat for more
    #[arg(long, value_name = "FLAG", value_delimiter = ',', value_parser = clearable())]
    pub clear: Vec<String>,
}

fn clearable() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(CLEARED.map(|(flag, _)| flag))
}

/// Arguments of `clusters remove`.
#[derive(Debug, Clone, clap::Args)]
pub struct RemoveArgs {
    /// Which cluster.
    #[command(flatten)]
    pub one: OneArgs,
    /// Remove it without asking
    #[arg(long, short = 'y')]
    pub yes: bool,
}

pub(super) fn add(session: &Session, args: &AddArgs) -> Outcome {
    let mut given = Given::default();
    given.text("name", Some(&args.name));
    given.text("hostname", Some(&args.host));
    given.text("remote_workdir", Some(&args.workdir));
    args.fields.fill(&mut given, Map::new());
    let said = session.ask("clusters.create", given.object());
    let raw = said.map_err(|error| Failure::from(error).of(Commands::NewCluster))?;
    tell(session, &raw, "clusters.create")?;
    Ok(0)
}

pub(super) fn edit(session: &Session, args: &EditArgs) -> Outcome {
    let mut given = Given::default();
    given.text("id", Some(&args.one.cluster));
    given.text("name", args.name.as_ref());
    given.text("hostname", args.host.as_ref());
    given.text("remote_workdir", args.workdir.as_ref());
    // The codes are one field: those that are not named stay.
    let codes = if args.fields.codes.is_empty() || args.clear.iter().any(|flag| flag == "code") {
        Map::new()
    } else {
        let answer = session.call::<calls::ClustersGet>(&args.one.params())?;
        let codes = answer.read.data.codes.into_iter();
        codes.map(|(code, path)| (code, path.into())).collect()
    };
    for (flag, field) in CLEARED {
        let cleared = args.clear.iter().any(|named| named == flag);
        given.put(field, cleared.then_some(Value::Null));
    }
    let mut filled = Given::default();
    args.fields.fill(&mut filled, codes.clone());
    refuse_both(&filled.object(), &args.clear)?;
    args.fields.fill(&mut given, codes);
    let params = given.object();
    if params.as_object().is_none_or(|fields| fields.len() < 2) {
        return Err(Failure::usage(
            "nothing is to be changed",
            "say what: crystalmath clusters edit --help",
        ));
    }
    let raw = session.ask("clusters.update", params)?;
    tell(session, &raw, "clusters.update")?;
    Ok(0)
}

/// What is given and made empty at once is a mistake in one of both; codes may be replaced so.
fn refuse_both(filled: &Value, clear: &[String]) -> Result<(), Failure> {
    let both = CLEARED.iter().find(|(flag, field)| {
        *flag != "code" && filled.get(field).is_some() && clear.iter().any(|one| one == flag)
    });
    match both {
        Some((flag, _)) => Err(Failure::usage(
            format!("--{flag} is given and cleared at once"),
            format!("leave out --{flag}, or --clear {flag}"),
        )),
        None => Ok(()),
    }
}

/// Show the cluster as it is now.
fn tell(session: &Session, raw: &Value, method: &str) -> Result<(), Failure> {
    let reply: Reply<ClusterView> = fit(method, raw)?;
    session.print(raw, || {
        let cluster = &reply.data;
        let lines = describe(cluster, unix_now(), session.colour());
        let name = &cluster.name;
        session.warn(Commands::Clusters, &cluster.warnings);
        format!("{lines}\ntry it with: crystalmath clusters test {name}")
    })
}

pub(super) fn remove(session: &Session, args: &RemoveArgs) -> Outcome {
    let cluster = &args.one.cluster;
    if !args.yes {
        if !question::can_be_asked(session) {
            return Err(Failure::usage(
                format!("{cluster} would be forgotten, with its description"),
                format!("say so: crystalmath clusters remove {cluster} --yes"),
            ));
        }
        if !question::ask(&format!(
            "Forget the cluster {cluster}, with its description?"
        ))? {
            return Ok(1);
        }
    }
    let answer = session.call::<calls::ClustersDelete>(&args.one.params())?;
    let name = &answer.read.data.name;
    session.print(&answer.raw, || format!("{name} is forgotten"))?;
    Ok(0)
}
