//! Messages and tasks as text, for models and for people.

use a2a_proto::v1::part::Content;
use a2a_proto::v1::{Message, Part, Task};

/// What a model is to read of a message: texts as they are, links as text, data as JSON, the text of files that hold
/// text, and of others a note; one part a paragraph.
///
/// ```
/// use kagent_ext::a2a_proto::v1::{Message, Part};
/// use kagent_ext::text::prompt_text;
///
/// let message = Message::user("What is in these?")
///     .with_part(Part::raw("a,b").with_media_type("text/csv").with_filename("t.csv"))
///     .with_part(Part::raw("...").with_media_type("image/png").with_filename("p.png"));
/// assert_eq!(
///     prompt_text(&message),
///     "What is in these?\na,b\n[The file p.png (image/png) can't be read as text.]",
/// );
/// ```
#[must_use]
pub fn prompt_text(message: &Message) -> String {
    let texts: Vec<String> = message.parts.iter().filter_map(part_text).collect();
    texts.join("\n")
}

/// What an agent replied: the text of the artifacts, or without any that of the status (kagent contract 6).
#[must_use]
pub fn reply_text(task: &Task) -> String {
    task.text()
}

fn part_text(part: &Part) -> Option<String> {
    match part.content.as_ref()? {
        Content::Text(text) => Some(text.clone()),
        Content::Url(url) => Some(url.clone()),
        Content::Data(data) => Some(data.to_string()),
        Content::Raw(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(text) if holds_text(&part.media_type) => text.to_owned(),
            _ => unreadable(part),
        }),
    }
}

/// Whether a file of that type is text. One that does not say what it is may be.
fn holds_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    essence.is_empty()
        || essence.starts_with("text/")
        || ["+json", "+xml", "+yaml"]
            .iter()
            .any(|suffix| essence.ends_with(suffix))
        || TEXT_TYPES.contains(&essence.as_str())
}

fn unreadable(part: &Part) -> String {
    let name = match part.filename.as_str() {
        "" => String::new(),
        name => format!(" {name}"),
    };
    let media_type = match part.media_type.as_str() {
        "" => String::new(),
        media_type => format!(" ({media_type})"),
    };
    format!("[The file{name}{media_type} can't be read as text.]")
}

const TEXT_TYPES: [&str; 12] = [
    "application/json",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/typescript",
    "application/sql",
    "application/graphql",
    "application/x-sh",
    "application/csv",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(bytes: &'static [u8], media_type: &str, name: &str) -> Message {
        let part = Part::raw(bytes)
            .with_media_type(media_type)
            .with_filename(name);
        Message::new(a2a_proto::v1::Role::User, [part])
    }

    #[test]
    fn texts_links_and_data_are_read_as_they_are() {
        let message = Message::user("see")
            .with_part(Part::url("https://example.com/a"))
            .with_part(Part::data(json!({"b": [1, null]})))
            .with_part(Part::text(""));
        assert_eq!(
            prompt_text(&message),
            "see\nhttps://example.com/a\n{\"b\":[1,null]}\n"
        );
        assert_eq!(
            prompt_text(&Message::new(a2a_proto::v1::Role::User, [])),
            ""
        );
    }

    #[test]
    fn files_of_text_are_decoded_whatever_their_type_is_called() {
        for media_type in [
            "text/plain; charset=utf-8",
            "TEXT/Markdown",
            "application/json",
            "application/problem+json",
            "image/svg+xml",
            "application/x-yaml",
            "",
        ] {
            let message = file("gr\u{fc}n".as_bytes(), media_type, "f");
            assert_eq!(prompt_text(&message), "gr\u{fc}n", "{media_type}");
        }
    }

    #[test]
    fn other_files_are_named() {
        assert_eq!(
            prompt_text(&file(b"%PDF", "application/pdf", "r.pdf")),
            "[The file r.pdf (application/pdf) can't be read as text.]"
        );
        assert_eq!(
            prompt_text(&file(b"\xff\xfe", "text/plain", "")),
            "[The file (text/plain) can't be read as text.]"
        );
        assert_eq!(
            prompt_text(&file(b"\xff\xfe", "", "")),
            "[The file can't be read as text.]"
        );
    }
}
