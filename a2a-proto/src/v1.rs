//! The messages of `lf.a2a.v1`, generated from `proto/lf/a2a/v1/a2a.proto`.

#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    deprecated,
    unused_variables,
    unreachable_pub,
    unused_qualifications
)]
mod generated {
    include!("generated/lf.a2a.v1.rs");
    include!("generated/lf.a2a.v1.serde.rs");
    include!("generated/lf.a2a.v1.validate.rs");
}
mod card;
mod event;
mod message;
mod part_content;
mod request;
mod secret;
mod task;

pub use card::{AgentCardBuilder, DecodedCard, InvalidCard};
pub use generated::*;
pub use message::UnknownName;
pub use part_content::FileError;
