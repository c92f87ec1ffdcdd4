//! Auto-start with stand-ins for `crystalmath-server`: shell scripts that keep to its ready pipe.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crystalmath::error::{IpcError, StartFailure};
use crystalmath::ipc::paths::Surroundings;
use crystalmath::ipc::{IpcClient, LaunchPlan, Options, Places};
use serde_json::json;
use tempfile::TempDir;

use crate::mock::{HANG, Peer, eventually, listen, quick};

/// A home of its own, with a stand-in for the daemon.
struct Home {
    dir: TempDir,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Home {
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let home = Self {
            dir,
            notes: Arc::default(),
        };
        if !script.is_empty() {
            let text = format!(
                "#!/bin/sh\necho run >> '{}'\n{script}\n",
                home.path("runs").display()
            );
            std::fs::write(home.server(), text).unwrap();
            std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn server(&self) -> PathBuf {
        self.path("crystalmath-server")
    }

    fn socket(&self) -> PathBuf {
        self.path("crystalmath.sock")
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path("runs")).map_or(0, |text| text.lines().count())
    }

    fn around(&self) -> Surroundings {
        let mut around = Surroundings::of_process();
        around.vars.clear();
        for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"] {
            around.vars.insert(name.into(), self.dir.path().into());
        }
        around
    }

    fn options(&self) -> Options {
        let notes = Arc::clone(&self.notes);
        Options {
            socket: None,
            start: true,
            surroundings: self.around(),
            launch: LaunchPlan {
                places: Places {
                    named: Some(self.server().into()),
                    ..Places::default()
                },
                environment: vec![("PYTHONPATH".into(), "/nowhere".into())],
                notice: Arc::new(move |text| notes.lock().unwrap().push(text.to_owned())),
            },
            timing: quick(),
        }
    }

    fn failure(&self) -> StartFailure {
        match IpcClient::connect_with(self.options())
            .map(drop)
            .unwrap_err()
        {
            IpcError::StartFailed(failure) => *failure,
            other => panic!("{other:?}"),
        }
    }
}

fn echo(_: usize, mut peer: Peer) {
    while let Some(request) = peer.request() {
        peer.reply(&request["id"], &request["params"]);
    }
}

/// The line a daemon that listens at `socket` writes when it is ready.
fn ready(socket: &Path) -> String {
    format!(
        "echo '{}' >&3",
        json!({"ready": {"socket": socket, "pid": 1, "instance": "i"}})
    )
}

#[test]
fn a_daemon_that_is_down_is_started_and_met_where_it_says() {
    let home = Home::new("");
    let elsewhere = home.path("elsewhere.sock");
    listen(&elsewhere, echo);
    let script = format!(
        "echo \"$@\" > '{}'\nenv > '{}'\n{}",
        home.path("arguments").display(),
        home.path("environment").display(),
        ready(&elsewhere)
    );
    let text = format!("#!/bin/sh\n{script}\n");
    std::fs::write(home.server(), text).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let client = IpcClient::connect_with(home.options()).unwrap();
    let answer = client.send_request("mock.echo", json!({"n": 1})).unwrap();
    assert_eq!(answer["data"], json!({"n": 1}));
    let arguments = std::fs::read_to_string(home.path("arguments")).unwrap();
    assert_eq!(arguments.trim(), "start --ready-fd 3");
    let environment = std::fs::read_to_string(home.path("environment")).unwrap();
    assert!(!environment.contains("PYTHONPATH="), "{environment}");
    let lock = std::fs::metadata(home.path("crystalmath.sock.start.lock")).unwrap();
    assert_eq!(lock.permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_explicit_socket_is_handed_on() {
    let home = Home::new("echo \"$@\" >> runs; exit 1");
    let mut options = home.options();
    options.socket = Some(home.path("mine.sock"));
    let arguments = home.path("arguments");
    let text = format!("#!/bin/sh\necho \"$@\" > '{}'\n", arguments.display());
    std::fs::write(home.server(), text).unwrap();
    IpcClient::connect_with(options).map(drop).unwrap_err();
    let given = std::fs::read_to_string(arguments).unwrap();
    assert_eq!(
        given.trim(),
        format!(
            "start --ready-fd 3 --socket {}",
            home.path("mine.sock").display()
        )
    );
}

#[test]
fn no_executable_names_the_places_that_were_tried() {
    let home = Home::new("");
    let mut options = home.options();
    options.launch.places = Places {
        named: None,
        beside: Some(home.path("bin/crystalmath")),
        search: Some("/nowhere/a:/nowhere/b".into()),
    };
    let error = IpcClient::connect_with(options).map(drop).unwrap_err();
    let text = error.render();
    assert_eq!(error.kind(), "start_failed");
    for part in [
        "not found",
        "bin/crystalmath-server",
        "/nowhere/a:/nowhere/b",
        "server.log",
        "hint: ",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn a_wrong_variable_is_an_error_and_no_reason_to_run_another() {
    let home = Home::new("exit 0");
    let mut options = home.options();
    options.launch.places.named = Some(home.path("nothing").into());
    options.launch.places.search = Some(home.dir.path().into());
    let error = IpcClient::connect_with(options).map(drop).unwrap_err();
    assert!(error.to_string().contains("CRYSTALMATH_SERVER"), "{error}");
    assert_eq!(home.runs(), 0);
}

#[test]
fn the_daemons_own_error_is_shown() {
    let error = json!({"error": {"code": -32001, "message": "the database is newer than this program",
        "hint": "install the newer version", "log_path": "/x/server.log"}});
    let home = Home::new(&format!("echo '{error}' >&3; exit 1"));
    let failure = home.failure();
    assert_eq!(failure.cause, "the database is newer than this program");
    assert_eq!(failure.hint.as_deref(), Some("install the newer version"));
    assert_eq!(failure.log_path, Path::new("/x/server.log"));
    assert!(
        failure.tried[0].contains("crystalmath-server"),
        "{:?}",
        failure.tried
    );
}

#[test]
fn a_daemon_that_dies_without_a_word_shows_its_log_and_its_last_words() {
    let home = Home::new("");
    let log = home.path("crystalmath/server.log");
    let script = format!(
        "#!/bin/sh\nmkdir -p '{}'\nseq 1 50 > '{}'\necho 'no module named x' >&2\nexit 3\n",
        log.parent().unwrap().display(),
        log.display()
    );
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let failure = home.failure();
    assert!(
        failure.cause.contains("exit status: 3"),
        "{}",
        failure.cause
    );
    assert!(
        failure.cause.contains("no module named x"),
        "{}",
        failure.cause
    );
    assert_eq!(failure.log_path, log);
    assert_eq!(failure.tail.len(), 20);
    assert_eq!(
        (failure.tail[0].as_str(), failure.tail[19].as_str()),
        ("31", "50")
    );
}

#[test]
fn an_old_log_is_not_shown_as_the_cause() {
    let home = Home::new("exit 3");
    let log = home.path("crystalmath/server.log");
    std::fs::create_dir(log.parent().unwrap()).unwrap();
    std::fs::write(&log, "yesterday\n").unwrap();
    assert!(home.failure().tail.is_empty());
}

#[test]
fn a_file_that_cannot_be_run_is_said() {
    let home = Home::new("");
    std::fs::write(home.server(), "#!/nowhere/interpreter\n").unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(
        home.failure().cause.contains("cannot be run"),
        "{:?}",
        home.failure()
    );
}

#[test]
fn progress_renews_the_patience_and_is_shown() {
    let home = Home::new("");
    listen(&home.path("late.sock"), echo);
    let step = "echo '{\"progress\": \"migrating\"}' >&3; sleep 0.1";
    let steps = [step; 15].join("\n");
    let script = format!("#!/bin/sh\n{steps}\n{}\n", ready(&home.path("late.sock")));
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // The steps take longer than the patience for one.
    assert!(quick().start < Duration::from_millis(1500));
    IpcClient::connect_with(home.options()).unwrap();
    let notes = home.notes.lock().unwrap();
    assert!(
        notes[0].contains("starting the daemon") && notes[0].contains("CRYSTALMATH_SERVER"),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note == "migrating"), "{notes:?}");
}

#[test]
fn a_daemon_that_says_nothing_is_not_waited_for_for_ever() {
    let home = Home::new("exec sleep 20 >/dev/null 2>&1");
    let begun = Instant::now();
    let failure = home.failure();
    assert!(
        failure.cause.contains("not ready within"),
        "{}",
        failure.cause
    );
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}

#[test]
fn failing_starts_are_not_repeated_without_end() {
    let home = Home::new("");
    let gone = home.path("gone.sock");
    let stays = home.path("stays.sock");
    // The first start works, so that there is a client; then the daemon dies and stays dead.
    listen(&stays, |_, mut peer| {
        peer.request();
    });
    let script = format!(
        "#!/bin/sh\necho run >> '{runs}'\nif [ -e '{gone}' ]; then\necho broken >&2; exit 1\nfi\ntouch '{gone}'\n{ready}\n",
        runs = home.path("runs").display(),
        gone = gone.display(),
        ready = ready(&stays),
    );
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let client = IpcClient::connect_with(home.options()).unwrap();
    client.send_request("mock.die", json!({})).unwrap_err();
    for _ in 0..10 {
        let error = client.send_request("system.ping", json!({})).unwrap_err();
        assert!(matches!(error, IpcError::StartFailed(_)), "{error}");
    }
    assert_eq!(home.runs(), quick().spawns_max);
}

#[test]
fn without_a_call_nothing_is_started_again() {
    let home = Home::new("");
    let stays = home.path("stays.sock");
    listen(&stays, |_, mut peer| {
        peer.request();
    });
    let script = format!(
        "#!/bin/sh\necho run >> '{}'\n{}\n",
        home.path("runs").display(),
        ready(&stays)
    );
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let client = IpcClient::connect_with(home.options()).unwrap();
    client.send_request("mock.die", json!({})).unwrap_err();
    eventually("it was noticed", || {
        matches!(client.state(), crystalmath::ipc::ConnState::Down(_))
    });
    assert_eq!(home.runs(), 1);
}

#[test]
fn a_daemon_that_is_stopped_right_after_its_start_is_started_again() {
    let home = Home::new("");
    let stays = home.path("stays.sock");
    listen(&stays, echo);
    // The first start names a socket at which nobody listens any more.
    let script = format!(
        "#!/bin/sh\necho run >> '{runs}'\nif [ $(wc -l < '{runs}') = 1 ]; then\n{gone}\nelse\n{ready}\nfi\n",
        runs = home.path("runs").display(),
        gone = ready(&home.path("gone.sock")),
        ready = ready(&stays),
    );
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    IpcClient::connect_with(home.options()).unwrap();
    assert_eq!(home.runs(), 2);
}

#[test]
fn many_starters_start_one_daemon() {
    let home = Home::new("");
    let script = format!(
        "#!/bin/sh\necho run >> '{runs}'\nsleep 0.1\nln -s '{real}' '{socket}'\n{ready}\n",
        runs = home.path("runs").display(),
        real = home.path("real.sock").display(),
        socket = home.socket().display(),
        ready = ready(&home.socket()),
    );
    listen(&home.path("real.sock"), echo);
    std::fs::write(home.server(), script).unwrap();
    std::fs::set_permissions(home.server(), std::fs::Permissions::from_mode(0o755)).unwrap();
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| IpcClient::connect_with(home.options()).map(drop).unwrap());
        }
    });
    assert_eq!(home.runs(), 1);
}

#[test]
fn a_silent_listener_is_busy_and_nothing_is_started_or_signalled() {
    let home = Home::new("exit 1");
    listen(&home.socket(), |_, mut peer| while peer.next().is_some() {});
    let error = IpcClient::connect_with(home.options())
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, IpcError::Busy { .. }), "{error}");
    assert_eq!(home.runs(), 0);
}

#[test]
fn the_pointer_leads_to_a_daemon_at_another_path() {
    let home = Home::new("exit 1");
    let elsewhere = home.path("elsewhere.sock");
    listen(&elsewhere, echo);
    let machine = crystalmath::ipc::pointer::Machine::here();
    let note = json!({"socket": elsewhere, "host": machine.host, "boot_id": machine.boot_id});
    let file = home.path("crystalmath/server.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, note.to_string()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    for start in [true, false] {
        let mut options = home.options();
        options.start = start;
        IpcClient::connect_with(options).unwrap();
    }
    assert_eq!(home.runs(), 0);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    home.failure();
    assert_eq!(
        home.runs(),
        1,
        "a note that others can read may be forged, so it is ignored"
    );
}

#[test]
fn the_server_of_another_user_is_refused() {
    let home = Home::new("exit 1");
    listen(&home.path("theirs.sock"), echo);
    let mut options = home.options();
    options.surroundings.uid += 1;
    options.socket = Some(home.path("theirs.sock"));
    let error = IpcClient::connect_with(options).map(drop).unwrap_err();
    assert!(matches!(error, IpcError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("belongs to user"), "{error}");
    assert_eq!(home.runs(), 0);
}
