use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::Part;
use super::part::Content;
use crate::{Struct, Value};

impl Part {
    /// A part with text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// A part with bytes.
    #[must_use]
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Content::Raw(bytes.into()).into()
    }

    /// A part that points to a resource.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Content::Url(url.into()).into()
    }

    /// A part with any JSON value.
    #[must_use]
    pub fn data(value: impl Into<Value>) -> Self {
        Content::Data(value.into()).into()
    }

    /// A part with the content of a file, its name, and the media type that its extension tells.
    ///
    /// Reads the whole file and blocks meanwhile.
    ///
    /// # Errors
    ///
    /// When the file can't be read.
    pub fn file(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let content = fs::read(path).map_err(|source| FileError {
            path: path.to_owned(),
            source,
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self::raw(content)
            .with_filename(name)
            .with_media_type(media_type(path)))
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = media_type.into();
        self
    }

    /// Sets the name of the file that the content is, or would be.
    #[must_use]
    pub fn with_filename(mut self, name: impl Into<String>) -> Self {
        self.filename = name.into();
        self
    }

    /// Sets a metadata entry.
    #[must_use]
    pub fn with_metadata(
        mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.metadata
            .get_or_insert_with(Struct::new)
            .insert(key, value);
        self
    }

    /// The text, if it is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Some(Content::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The bytes, if it is a part with bytes.
    #[must_use]
    pub fn as_raw(&self) -> Option<&Bytes> {
        match &self.content {
            Some(Content::Raw(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The address, if the part points to a resource.
    #[must_use]
    pub fn as_url(&self) -> Option<&str> {
        match &self.content {
            Some(Content::Url(url)) => Some(url),
            _ => None,
        }
    }

    /// The value, if it is a data part.
    #[must_use]
    pub fn as_data(&self) -> Option<&serde_json::Value> {
        match &self.content {
            Some(Content::Data(value)) => Some(value),
            _ => None,
        }
    }
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        Self {
            content: Some(content),
            ..Self::default()
        }
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Why [`Part::file`] failed.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    source: io::Error,
}

impl FileError {
    /// The file that can't be read.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't read the file {}", self.path.display())
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// The media type of a file by its extension: what people attach to messages, and bytes for anything else.
fn media_type(path: &Path) -> &'static str {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    MEDIA_TYPES
        .iter()
        .find(|(known, _)| *known == extension)
        .map_or("application/octet-stream", |(_, media_type)| media_type)
}

const MEDIA_TYPES: [(&str, &str); 36] = [
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tiff", "image/tiff"),
    ("toml", "application/toml"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_name_and_gets_a_media_type() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        let part = Part::file(&path).unwrap();
        assert_eq!(part.filename, "README.md");
        assert_eq!(part.media_type, "text/markdown");
        assert_eq!(part.as_raw().unwrap(), &fs::read(path).unwrap());
        assert_eq!(media_type(Path::new("a.PNG")), "image/png");
        assert_eq!(media_type(Path::new("a")), "application/octet-stream");

        let error = Part::file("no/such/file").unwrap_err();
        assert_eq!(error.to_string(), "can't read the file no/such/file");
        assert!(error.source().is_some());
    }
}
