//! Cards that were fetched before (RFC 9111, as far as a card needs it).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::HeaderMap;
use ::http::header::{
    CACHE_CONTROL, ETAG, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use bytes::Bytes;
use tokio::time::Instant;

/// Keeps cards over several connects, for as long as their agents allow it; a card that has grown old is asked for with a
/// condition, so that it comes again only if it is another. Cheap to clone; the clones share what they keep.
///
/// An agent may show each caller another card: clients of different callers need a cache each.
///
/// ```no_run
/// # async fn run() -> a2a_client::Result<()> {
/// use a2a_client::{CardCache, Client};
///
/// let cards = CardCache::new();
/// for _ in 0..2 {
///     let client = Client::builder().card_cache(&cards).connect("https://agent.example").await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CardCache {
    kept: Arc<Mutex<HashMap<String, Kept>>>,
    lifetime: Duration,
}

#[derive(Clone)]
struct Kept {
    card: Bytes,
    fresh_until: Instant,
    /// What a later request asks with.
    conditions: HeaderMap,
}

impl CardCache {
    /// A cache that holds nothing. A card of which its agent does not say how long it may be kept is kept for five minutes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kept: Arc::default(),
            lifetime: LIFETIME,
        }
    }

    /// Sets how long a card is kept of which its agent does not say it.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// A card that may still be used.
    pub(super) fn fresh(&self, url: &str) -> Option<Bytes> {
        let kept = self.lock();
        let kept = kept.get(url)?;
        (Instant::now() < kept.fresh_until).then(|| kept.card.clone())
    }

    /// What to ask with, where a card is kept that has grown old.
    pub(super) fn conditions(&self, url: &str) -> HeaderMap {
        let kept = self.lock();
        let conditions = kept.get(url).map(|kept| kept.conditions.clone());
        conditions.unwrap_or_default()
    }

    /// The card that is kept, since its agent says that it is still the same.
    pub(super) fn renewed(&self, url: &str, headers: &HeaderMap) -> Option<Bytes> {
        let lifetime = self.lifetime_of(headers).unwrap_or_default();
        let mut kept = self.lock();
        let kept = kept.get_mut(url)?;
        kept.fresh_until = Instant::now() + lifetime;
        Some(kept.card.clone())
    }

    /// Keeps a card, unless its agent forbids it.
    pub(super) fn keep(&self, url: &str, headers: &HeaderMap, card: &Bytes) {
        let Some(lifetime) = self.lifetime_of(headers) else {
            self.lock().remove(url);
            return;
        };
        let condition = |name: HeaderName, of: HeaderName| {
            let value = headers.get(of)?;
            Some((name, HeaderValue::clone(value)))
        };
        let conditions = [
            condition(IF_NONE_MATCH, ETAG),
            condition(IF_MODIFIED_SINCE, LAST_MODIFIED),
        ];
        let kept = Kept {
            card: card.clone(),
            fresh_until: Instant::now() + lifetime,
            conditions: conditions.into_iter().flatten().collect(),
        };
        let mut all = self.lock();
        if all.len() >= CARDS {
            let now = Instant::now();
            all.retain(|_, kept| now < kept.fresh_until);
        }
        if all.len() < CARDS {
            all.insert(url.to_owned(), kept);
        }
    }

    /// How long a card may be used without asking; `None` where it must not be kept at all.
    fn lifetime_of(&self, headers: &HeaderMap) -> Option<Duration> {
        let values = headers.get_all(CACHE_CONTROL).iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        let (mut told, mut asks_always) = (None, false);
        for directive in texts.flat_map(|text| text.split(',')) {
            let directive = directive.trim().to_ascii_lowercase();
            match directive.split_once('=') {
                None if directive == "no-store" => return None,
                None if directive == "no-cache" => asks_always = true,
                Some(("max-age", seconds)) => {
                    // What can't be read is taken for old.
                    let seconds = seconds.trim_matches('"').parse().unwrap_or(0);
                    told = Some(Duration::from_secs(seconds).min(LONGEST));
                }
                _ => {}
            }
        }
        Some(match asks_always {
            true => Duration::ZERO,
            false => told.unwrap_or(self.lifetime),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for CardCache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CardCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardCache")
            .field("cards", &self.lock().len())
            .finish_non_exhaustive()
    }
}

const LIFETIME: Duration = Duration::from_secs(300);
/// No agent's word is taken for longer.
const LONGEST: Duration = Duration::from_secs(86_400);
/// What a cache holds at most.
const CARDS: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetime(cache_control: &'static str) -> Option<Duration> {
        let headers =
            HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(cache_control))]);
        CardCache::new().lifetime_of(&headers)
    }

    #[test]
    fn card_13_an_agent_says_how_long_its_card_is_kept() {
        assert_eq!(
            CardCache::new().lifetime_of(&HeaderMap::new()),
            Some(LIFETIME)
        );
        assert_eq!(
            lifetime("public, Max-Age=60"),
            Some(Duration::from_secs(60))
        );
        assert_eq!(lifetime("max-age=999999999"), Some(LONGEST));
        assert_eq!(lifetime("max-age=soon"), Some(Duration::ZERO));
        assert_eq!(lifetime("max-age=60, no-cache"), Some(Duration::ZERO));
        assert_eq!(lifetime("private, no-store"), None);
        assert_eq!(lifetime("private"), Some(LIFETIME));
    }
}
