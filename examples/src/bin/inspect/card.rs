//! An agent card as a person wants to read it.

use kagent_ext::a2a_proto::v1::DecodedCard;

use crate::message::{compact, labelled};

pub(crate) fn view(card: &DecodedCard) -> String {
    let mut out = format!(
        "Agent card: {} {}\n  {}\n",
        card.name, card.version, card.description
    );
    if let Some(provider) = &card.provider {
        out += &format!("  by {} ({})\n", provider.organization, provider.url);
    }
    for interface in &card.supported_interfaces {
        let (binding, version) = (&interface.protocol_binding, &interface.protocol_version);
        out += &format!("  speaks {binding} {version} at {}", interface.url);
        out += &labelled(" for tenant ", &interface.tenant);
        out += "\n";
    }
    if let Some(url) = card.legacy_url() {
        out += &format!("  speaks A2A 0.3 at {url}\n");
    }
    for (can, what) in [
        (card.supports_streaming(), "streams"),
        (
            card.supports_push_notifications(),
            "sends push notifications",
        ),
        (
            card.has_extended_card(),
            "has another card for known callers",
        ),
    ] {
        out += &format!("  {}{what}\n", if can { "yes: " } else { "no:  " });
    }
    out += &labelled("  takes ", &card.default_input_modes.join(", "));
    out += &labelled("\n  gives ", &card.default_output_modes.join(", "));
    out += "\n";
    for skill in &card.skills {
        let tags = skill.tags.join(", ");
        out += &format!(
            "  skill {}: {} [{tags}]\n    {}\n",
            skill.id, skill.name, skill.description
        );
    }
    for extension in card.extensions() {
        let required = if extension.required {
            " (required)"
        } else {
            ""
        };
        out += &format!(
            "  extension {}{required}{}\n",
            extension.uri,
            labelled(": ", &extension.description)
        );
    }
    for (name, scheme) in &card.security_schemes {
        out += &format!("  security scheme {name}: {}\n", compact(scheme));
    }
    for requirement in &card.security_requirements {
        let schemes: Vec<&str> = requirement.schemes.keys().map(String::as_str).collect();
        out += &format!("  callers need {}\n", schemes.join(" and "));
    }
    out + match card.signatures.len() {
        0 => "  not signed",
        _ => "  signed (not verified here)",
    }
}
