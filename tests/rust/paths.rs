//! The path rule against the table that the daemon's rule is tested against too, and `server.json`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crystalmath::error::IpcError;
use crystalmath::ipc::paths::rule::{Facts, Platform, Vars, data_directory, socket_path};
use crystalmath::ipc::paths::{Surroundings, resolve};
use crystalmath::ipc::pointer::{Machine, follow};
use serde_json::{Value, json};

fn table() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/socket_paths.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn vars(case: &Value) -> Vars {
    let env = case["env"].as_object().unwrap();
    env.iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().into()))
        .collect()
}

fn facts(case: &Value) -> BTreeMap<PathBuf, Facts> {
    let found = case["facts"].as_object().unwrap();
    found
        .iter()
        .map(|(path, fact)| {
            let facts = Facts {
                is_dir: fact["kind"] == "dir",
                uid: u32::try_from(fact["uid"].as_u64().unwrap()).unwrap(),
                mode: u32::from_str_radix(fact["mode"].as_str().unwrap(), 8).unwrap(),
                writable: fact["writable"].as_bool().unwrap_or(true),
            };
            (PathBuf::from(path), facts)
        })
        .collect()
}

#[test]
fn every_socket_case_of_the_shared_table() {
    let table = table();
    let cases = table["cases"].as_array().unwrap();
    assert!(cases.len() > 40, "the table is cut short");
    for case in cases {
        let facts = facts(case);
        let platform = if case["platform"] == "macos" {
            Platform::MacOs
        } else {
            Platform::Linux
        };
        let uid = u32::try_from(case["uid"].as_u64().unwrap()).unwrap();
        let flag = case["flag"].as_str().map(Path::new);
        let probe = |path: &Path| facts.get(path).copied();
        let found = match socket_path(flag, &vars(case), uid, &probe, platform) {
            Ok(chosen) => {
                let mut found = json!({"path": chosen.path, "origin": chosen.origin.word()});
                if let Some(wanted) = chosen.shortened_from {
                    found["shortened_from"] = json!(wanted);
                }
                found
            }
            Err(refused) => json!({"refused": refused.word()}),
        };
        assert_eq!(found, case["expect"], "{}", case["name"]);
    }
}

#[test]
fn every_data_directory_case_of_the_shared_table() {
    let table = table();
    for case in table["data_dirs"].as_array().unwrap() {
        let found = match data_directory(case["flag"].as_str().map(Path::new), &vars(case)) {
            Ok(path) => json!({"path": path}),
            Err(refused) => json!({"refused": refused.word()}),
        };
        assert_eq!(found, case["expect"], "{}", case["name"]);
    }
}

#[test]
fn a_path_that_is_not_text_is_shortened_by_its_bytes() {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = b"/".to_vec();
    bytes.resize(120, 0xff);
    bytes.extend_from_slice(b"/cm.sock");
    let wanted = PathBuf::from(OsString::from_vec(bytes));
    let nothing = |_: &Path| None;
    let chosen = socket_path(Some(&wanted), &Vars::new(), 7, &nothing, Platform::Linux).unwrap();
    assert!(
        chosen.path.starts_with("/tmp/crystalmath-7"),
        "{:?}",
        chosen.path
    );
    assert_eq!(chosen.shortened_from, Some(wanted));
}

#[test]
fn the_session_directory_on_disk_counts_only_when_it_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let mut around = Surroundings::of_process();
    around.vars.remove("CRYSTALMATH_SOCKET");
    around
        .vars
        .insert("XDG_RUNTIME_DIR".into(), dir.path().into());
    let open = |mode| {
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(0o700);
    assert_eq!(
        resolve(None, &around).unwrap().path,
        dir.path().join("crystalmath.sock")
    );
    open(0o755);
    assert_ne!(
        resolve(None, &around).unwrap().path,
        dir.path().join("crystalmath.sock")
    );
    let refused = resolve(Some(Path::new("cm.sock")), &around).unwrap_err();
    assert!(matches!(refused, IpcError::Refused { .. }), "{refused}");
}

#[test]
fn the_pointer_is_followed_only_when_it_is_ours_and_of_this_boot() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.json");
    let machine = Machine {
        host: "here".into(),
        boot_id: Some("boot".into()),
    };
    let uid = Surroundings::of_process().uid;
    let good = json!({"socket": "/x/cm.sock", "host": "here", "boot_id": "boot", "pid": 1});
    let write = |note: &Value, mode: u32| {
        std::fs::write(&file, note.to_string()).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let changed = |name: &str, value: Value| {
        let mut note = good.clone();
        note[name] = value;
        note
    };
    assert_eq!(follow(dir.path(), uid, &machine), None, "no file");
    write(&good, 0o600);
    assert_eq!(follow(dir.path(), uid, &machine), Some("/x/cm.sock".into()));
    assert_eq!(
        follow(dir.path(), uid + 1, &machine),
        None,
        "another user's"
    );
    let elsewhere = Machine {
        boot_id: None,
        ..machine.clone()
    };
    assert_eq!(
        follow(dir.path(), uid, &elsewhere),
        None,
        "a system without boot ids"
    );
    for (note, why) in [
        (changed("host", json!("there")), "another host"),
        (changed("boot_id", json!("earlier")), "another boot"),
        (changed("boot_id", Value::Null), "no boot id"),
        (changed("socket", json!("cm.sock")), "a relative path"),
        (changed("socket", json!(5)), "no path"),
        (json!([]), "no object"),
    ] {
        write(&note, 0o600);
        assert_eq!(follow(dir.path(), uid, &machine), None, "{why}");
    }
    for mode in [0o644, 0o660, 0o700] {
        write(&good, mode);
        assert_eq!(follow(dir.path(), uid, &machine), None, "mode {mode:o}");
    }
    write(&good, 0o600);
    std::fs::rename(&file, dir.path().join("real.json")).unwrap();
    std::os::unix::fs::symlink("real.json", &file).unwrap();
    assert_eq!(follow(dir.path(), uid, &machine), None, "a link");
}
