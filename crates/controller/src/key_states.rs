//! State that a controller remembers about each key between syncs.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use educe::Educe;

use crate::locked;

/// State of a controller by key, which a sync takes and its end puts back.
///
/// [`forget`](Self::forget) drops all that is remembered about a key.
///
/// ```
/// use kube_controller::KeyStates;
///
/// let states: KeyStates<&str, u32> = KeyStates::default();
/// *states.take(&"web") += 1;
/// *states.take(&"web") += 1;
/// assert_eq!(states.forget(&"web"), Some(2));
/// ```
#[derive(Educe)]
#[educe(Default(bound(false)))]
pub struct KeyStates<K, S>(Mutex<HashMap<K, S>>);

impl<K: Clone + Eq + Hash, S: Default> KeyStates<K, S> {
    /// Takes the state of a key for one sync; the default state if there is none.
    ///
    /// The state is put back when the returned value is dropped. Until then, the key has no state for other callers, so
    /// that two syncs of a key must not overlap, which a work queue ensures.
    pub fn take<'a>(&'a self, key: &'a K) -> KeyState<'a, K, S> {
        let state = locked(&self.0).remove(key).unwrap_or_default();
        KeyState { states: self, key, state }
    }

    /// Removes the state of a key, and returns it.
    pub fn forget(&self, key: &K) -> Option<S> {
        locked(&self.0).remove(key)
    }
}

impl<K, S> fmt::Debug for KeyStates<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStates").field("keys", &locked(&self.0).len()).finish()
    }
}

/// State of one key during a sync; see [`KeyStates::take`].
#[derive(Debug)]
pub struct KeyState<'a, K: Clone + Eq + Hash, S: Default> {
    states: &'a KeyStates<K, S>,
    key: &'a K,
    state: S,
}

impl<K: Clone + Eq + Hash, S: Default> Deref for KeyState<'_, K, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<K: Clone + Eq + Hash, S: Default> DerefMut for KeyState<'_, K, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<K: Clone + Eq + Hash, S: Default> Drop for KeyState<'_, K, S> {
    fn drop(&mut self) {
        let state = std::mem::take(&mut self.state);
        locked(&self.states.0).insert(self.key.clone(), state);
    }
}
