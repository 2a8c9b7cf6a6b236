use proptest::prelude::*;

use super::*;

/// Reads a stream that comes in these chunks.
fn read<'a>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<(String, String)>, SseError> {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    let mut keep = |event: Event<'_>| events.push((event.name.to_owned(), event.data.to_owned()));
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(event) = decoder.next(&mut chunk)? {
            keep(event);
        }
        assert!(chunk.is_empty());
    }
    if let Some(event) = decoder.finish()? {
        keep(event);
    }
    assert_eq!(decoder.finish(), Ok(None));
    Ok(events)
}

fn data(stream: &str) -> Vec<String> {
    let events = read(1024, [stream.as_bytes()]).unwrap();
    events.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn sse_03_the_corpus() {
    let cases: [(&str, &[&str]); 24] = [
        ("data: a\n\n", &["a"]),
        ("data:a\n\n", &["a"]),
        ("data:  a\n\n", &[" a"]),
        ("data: a \n\n", &["a "]),
        ("data\n\n", &[""]),
        ("data:\n\n", &[""]),
        ("data: a\ndata: b\n\n", &["a\nb"]),
        ("data: a\ndata\n\n", &["a\n"]),
        ("data\ndata: a\n\n", &["\na"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\r\rdata: b\r\r", &["a", "b"]),
        (
            "data: a\n\r\ndata: b\r\n\ndata: c\r\n\rdata: d\n\r",
            &["a", "b", "c", "d"],
        ),
        ("\u{feff}data: a\n\n", &["a"]),
        ("\u{feff}\ndata: a\n\n\u{feff}data: b\n\n", &["a"]),
        (
            ": hello\n\n:\n:x\ndata: a\n: in between\ndata: b\n\n",
            &["a\nb"],
        ),
        ("id: 7\ndata: a\nretry: 5\n\nretry: 5\n\nid\n\n", &["a"]),
        ("event: ping\n\ndata: a\n\n", &["a"]),
        (
            "datas: no\ndat: no\n data: no\nDATA: no\ndata : no\ndata: a\n\n",
            &["a"],
        ),
        ("data: a\n\ndata: b", &["a", "b"]),
        ("data: a\n\ndata: b\n", &["a", "b"]),
        ("data: a\n\n\n\n\ndata: b\n\n", &["a", "b"]),
        ("{\"jsonrpc\":\"2.0\"}", &[]),
        ("data: a:b: c\n\n", &["a:b: c"]),
        ("", &[]),
    ];
    for (stream, expected) in cases {
        assert_eq!(data(stream), expected, "{stream:?}");
    }
}

#[test]
fn names_belong_to_one_event() {
    let stream =
        b"event: error\ndata: a\n\ndata: b\n\nevent: lost\n\nevent:x\nevent: y\ndata: c\n\n";
    let events = read(64, [&stream[..]]).unwrap();
    let events: Vec<_> = events
        .iter()
        .map(|(n, d)| (n.as_str(), d.as_str()))
        .collect();
    assert_eq!(events, [("error", "a"), ("", "b"), ("y", "c")]);
}

#[test]
fn what_is_written_is_read() {
    let mut out = BytesMut::new();
    write_comment(&mut out, "keep-alive");
    write_event(&mut out, &[b"{\"id\":1,\"result\":", b"{}", b"}"]);
    write_error(&mut out, &[b"{}"]);
    assert_eq!(
        &out[..],
        b": keep-alive\n\ndata: {\"id\":1,\"result\":{}}\n\nevent: error\ndata: {}\n\n"
    );
    let events = read(64, [&out[..]]).unwrap();
    assert_eq!(
        events[0],
        (String::new(), "{\"id\":1,\"result\":{}}".to_owned())
    );
    assert_eq!(events[1], ("error".to_owned(), "{}".to_owned()));
}

#[test]
fn sse_04_endless_lines_and_endless_events_end_at_the_limit() {
    let limit = Err(SseError::TooLarge { limit: 1024 });
    let no_newline = [b'a'; 100];
    assert_eq!(
        read(1024, std::iter::repeat_n(&no_newline[..], 1000)),
        limit
    );
    assert_eq!(
        read(1024, std::iter::repeat_n(&b"data:x\n"[..], 1000)),
        limit
    );
    assert_eq!(read(1024, std::iter::repeat_n(&b":"[..], 2000)), limit);
    let one_line = [b"data: ".to_vec(), vec![b'a'; 2000], b"\n\n".to_vec()].concat();
    assert_eq!(read(1024, [&one_line[..]]), limit);
    let text = SseError::TooLarge { limit: 1024 }.to_string();
    assert!(text.contains("1024"), "{text}");
}

#[test]
fn sse_04_an_error_is_final() {
    let mut decoder = Decoder::new(8);
    let mut chunk = Bytes::from_static(b"data: 123456789\n\ndata: 1\n\n");
    let error = SseError::TooLarge { limit: 8 };
    assert_eq!(decoder.next(&mut chunk), Err(error));
    assert_eq!(
        decoder.next(&mut Bytes::from_static(b"data: 1\n\n")),
        Err(error)
    );
    assert_eq!(decoder.finish(), Err(error));
}

#[test]
fn sse_04_eight_mebibytes_in_small_chunks_are_read_once() {
    let text = "x".repeat(8 << 20);
    let stream = format!("data: {text}\n\n");
    let mut decoder = Decoder::new(16 << 20);
    let mut found = 0;
    for chunk in stream.as_bytes().chunks(1024) {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(event) = decoder.next(&mut chunk).unwrap() {
            found += usize::from(event.data == text);
        }
    }
    assert_eq!(found, 1);
    assert_eq!(decoder.position(), stream.len() as u64);
}

#[test]
fn ten_thousand_events_of_one_chunk_all_arrive() {
    let stream: String = (0..10_000)
        .map(|n| format!(": ping\n\ndata: {n}\n\n"))
        .collect();
    let events = read(64, [stream.as_bytes()]).unwrap();
    assert!(
        events
            .iter()
            .enumerate()
            .all(|(n, (_, data))| *data == n.to_string())
    );
    assert_eq!(events.len(), 10_000);
}

#[test]
fn invalid_utf8_is_an_error_and_split_utf8_is_not() {
    assert_eq!(read(64, [&b"data: \xc3\n\n"[..]]), Err(SseError::Utf8));
    let events = read(64, [&b"data: \xc3"[..], &b"\xa9\n\n"[..]]).unwrap();
    assert_eq!(events[0].1, "\u{e9}");
}

#[test]
fn comments_move_the_position() {
    let mut decoder = Decoder::new(64);
    assert_eq!(
        decoder.next(&mut Bytes::from_static(b": ping\n\n")),
        Ok(None)
    );
    assert_eq!(decoder.position(), 8);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(data|event|id|retry|)(: ?[a-z\u{e9}\u{1f469}:{}\" ]{0,12})?",
        1 => Just(String::new()),
    ]
}

proptest! {
    /// However the bytes are cut, and whatever ends the lines, the same events come out.
    #[test]
    fn sse_03_cuts_and_line_ends_change_nothing(
        lines in prop::collection::vec(line(), 0..20),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n"]), 20),
        cuts in prop::collection::vec(0usize..300, 0..8),
        bom in any::<bool>(),
    ) {
        let plain: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let expected = read(4096, [plain.as_bytes()]).unwrap();
        let mut stream = if bom { "\u{feff}".to_owned() } else { String::new() };
        for (line, end) in lines.iter().zip(&ends) {
            stream.push_str(line);
            // A blank line that ends in LF, right behind CR, would be read as the rest of CRLF.
            let joins = line.is_empty() && stream.ends_with('\r') && end.starts_with('\n');
            stream.push_str(if joins { "\r\n" } else { end });
        }
        let stream = stream.as_bytes();
        prop_assert_eq!(&read(4096, [stream]).unwrap(), &expected);
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&read(4096, single).unwrap(), &expected);
        for cut in 0..=stream.len() {
            let (head, tail) = stream.split_at(cut);
            prop_assert_eq!(&read(4096, [head, tail]).unwrap(), &expected);
        }
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts {
            chunks.push(&stream[from..cut]);
            from = cut;
        }
        chunks.push(&stream[from..]);
        prop_assert_eq!(&read(4096, chunks).unwrap(), &expected);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(128, bytes.chunks(7));
    }
}
