//! Bytes in, messages out.

use crystalmath::error::IpcError;
use crystalmath::ipc::codec::{Incoming, Line, LineBuffer, encode_request, parse};
use serde_json::{Value, json};

fn lines(buffer: &mut LineBuffer) -> Vec<Line> {
    std::iter::from_fn(|| buffer.next_line()).collect()
}

#[test]
fn the_same_messages_however_the_bytes_are_split() {
    let stream = "{\"id\":1}\n\r\n  \n{\"id\":2,\"x\":\"é\"}\r\n{\"id\":3}\n".as_bytes();
    let texts = ["{\"id\":1}", "{\"id\":2,\"x\":\"é\"}", "{\"id\":3}"];
    let wanted: Vec<Line> = texts
        .iter()
        .map(|text| Line::Text(text.as_bytes().to_vec()))
        .collect();
    for split in 0..=stream.len() {
        let mut buffer = LineBuffer::new(100);
        buffer.push(&stream[..split]);
        let mut found = lines(&mut buffer);
        buffer.push(&stream[split..]);
        found.extend(lines(&mut buffer));
        assert_eq!(found, wanted, "split at {split}");
    }
    let mut buffer = LineBuffer::new(100);
    let found: Vec<Line> = stream
        .iter()
        .flat_map(|byte| {
            buffer.push(&[*byte]);
            lines(&mut buffer)
        })
        .collect();
    assert_eq!(found, wanted, "byte by byte");
}

#[test]
fn a_line_over_the_limit_is_dropped_and_the_next_one_is_read() {
    let stream = [
        b"x".repeat(11),
        b"\n".to_vec(),
        b"y".repeat(10),
        b"\n".to_vec(),
    ]
    .concat();
    for step in 1..=stream.len() {
        let mut buffer = LineBuffer::new(10);
        let found: Vec<Line> = stream
            .chunks(step)
            .flat_map(|chunk| {
                buffer.push(chunk);
                lines(&mut buffer)
            })
            .collect();
        assert_eq!(
            found,
            [Line::TooLong, Line::Text(b"y".repeat(10))],
            "steps of {step}"
        );
    }
}

#[test]
fn an_endless_line_takes_no_memory_and_spoils_nothing() {
    let mut buffer = LineBuffer::new(10);
    for _ in 0..1000 {
        buffer.push(&b"z".repeat(9));
        assert_eq!(buffer.next_line(), None);
    }
    buffer.push(b"zzzzzzzzzzzzzzzzzzzzzzz\nok\n");
    assert_eq!(
        lines(&mut buffer),
        [Line::TooLong, Line::Text(b"ok".to_vec())]
    );
}

#[test]
fn reading_is_tolerant() {
    let reply = |text: &str| match parse(text.as_bytes()) {
        Incoming::Reply { id, outcome } => (id, outcome),
        other => panic!("{text} is read as {other:?}"),
    };
    assert_eq!(
        reply(r#"{"id": 7, "result": 1, "new": {}}"#),
        (7, Ok(json!(1)))
    );
    assert_eq!(
        reply(r#"{"jsonrpc": "2.0", "id": "7", "result": null}"#),
        (7, Ok(Value::Null))
    );
    assert_eq!(
        reply(r#"{"id": 7, "result": 2, "error": null}"#),
        (7, Ok(json!(2)))
    );
    let (_, outcome) = reply(r#"{"id": 7, "error": {"code": -32000, "message": "no"}}"#);
    let data = Value::Null;
    assert_eq!(
        outcome,
        Err(IpcError::Rpc {
            code: -32000,
            message: "no".into(),
            data
        })
    );
    assert!(matches!(
        reply(r#"{"id": 7}"#).1,
        Err(IpcError::Protocol(_))
    ));
    assert!(matches!(
        reply(r#"{"id": 7, "error": {}}"#).1,
        Err(IpcError::Rpc { .. })
    ));
}

#[test]
fn integers_keep_every_digit() {
    let text =
        r#"{"id": 1, "result": [9223372036854775807, -9223372036854775808, 18446744073709551615]}"#;
    let Incoming::Reply { outcome, .. } = parse(text.as_bytes()) else {
        panic!("no reply")
    };
    assert_eq!(outcome.unwrap(), json!([i64::MAX, i64::MIN, u64::MAX]));
}

#[test]
fn what_belongs_to_no_call_is_told_apart() {
    let refused =
        br#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32011, "message": "full"}}"#;
    assert!(matches!(
        parse(refused),
        Incoming::Orphan(IpcError::Rpc { code: -32011, .. })
    ));
    let event = br#"{"jsonrpc": "2.0", "method": "events.notify", "params": {"seq": 3}}"#;
    let params = json!({"seq": 3});
    assert_eq!(
        parse(event),
        Incoming::Notification {
            method: "events.notify".into(),
            params
        }
    );
    for garbage in [
        "",
        "[]",
        "5",
        "{",
        "{}",
        "\u{feff}{}",
        r#"{"id": -1, "result": 0}"#,
        r#"{"id": true, "result": 0}"#,
        r#"{"id": null, "result": 0}"#,
        r#"{"id": 1.5, "result": 0}"#,
    ] {
        assert_eq!(parse(garbage.as_bytes()), Incoming::Garbage, "{garbage}");
    }
    assert_eq!(parse(&[0xff, 0xfe, b'{', b'}']), Incoming::Garbage);
}

#[test]
fn a_request_is_one_strict_line() {
    let bytes = encode_request(u64::MAX, "jobs.get", &json!({"text": "a\nb\r\u{0}"})).unwrap();
    assert_eq!(
        bytes.iter().position(|byte| *byte == b'\n'),
        Some(bytes.len() - 1)
    );
    let read: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        read,
        json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "jobs.get",
                            "params": {"text": "a\nb\r\u{0}"}})
    );
    for wrong in [json!([]), json!(1), json!("x"), json!(true), Value::Null] {
        assert!(
            matches!(encode_request(1, "m", &wrong), Err(IpcError::Protocol(_))),
            "{wrong}"
        );
    }
}

#[test]
fn golden_requests_and_responses_pass_the_wire() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden");
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let vector: Value = serde_json::from_str(&text).unwrap();
        for size in ["minimal", "full"] {
            let request = &vector["requests"][size];
            let (id, method) = (request["id"].as_u64(), request["method"].as_str());
            let line = encode_request(id.unwrap(), method.unwrap(), &request["params"]).unwrap();
            assert_eq!(&serde_json::from_slice::<Value>(&line).unwrap(), request);
        }
        let response = &vector["response"];
        let id = response["id"].as_u64().unwrap();
        let outcome = Ok(response["result"].clone());
        assert_eq!(
            parse(response.to_string().as_bytes()),
            Incoming::Reply { id, outcome }
        );
    }
}
