//! Rules 1, 3 and 9: nothing is shown that is not stored, and nothing acknowledged is lost.
mod cut;
mod store;
