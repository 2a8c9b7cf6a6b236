//! Which parts the agent takes.

use a2a_proto::A2aError;
use a2a_proto::v1::Message;

use crate::execution::Engine;

impl Engine {
    pub(super) fn check_input_modes(&self, message: &Message) -> Result<(), A2aError> {
        let Some(modes) = &self.0.settings.input_modes else {
            return Ok(());
        };
        let refused = message.parts.iter().enumerate().find(|(_, part)| {
            !part.media_type.is_empty() && !modes.iter().any(|mode| takes(mode, &part.media_type))
        });
        match refused {
            None => Ok(()),
            Some((index, part)) => Err(A2aError::content_type_not_supported(format!(
                "the agent does not take {} (message.parts[{index}])",
                part.media_type
            ))),
        }
    }
}

/// Whether a pattern such as `text/*` takes a media type; parameters do not count.
fn takes(pattern: &str, media_type: &str) -> bool {
    let essence = |text: &str| {
        text.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let (pattern, media_type) = (essence(pattern), essence(media_type));
    match pattern.as_str() {
        "*" | "*/*" => true,
        // Cards of kagent say `text` for all text.
        kind if !kind.contains('/') => media_type.split('/').next() == Some(kind),
        _ => match pattern.strip_suffix("/*") {
            Some(kind) => media_type.split('/').next() == Some(kind),
            None => pattern == media_type,
        },
    }
}
