//! The bounded queue between the handlers and the recorder.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kube_endpoints_history::recorder::Message;
use tokio::sync::Notify;

/// Maximum number of messages that wait, which is also that of the outdated objects that they keep in memory.
const CAPACITY: usize = 8_192;
/// Number of messages with which the recorder does not wait for the next second.
const MANY: usize = CAPACITY / 4;

/// Messages that are to be recorded.
#[derive(Debug, Default)]
pub(super) struct Queue {
    messages: Mutex<Vec<Message>>,
    /// Whether a message was dropped since the last [`restart`](Self::restart).
    has_overflown: AtomicBool,
    many: Notify,
}

impl Queue {
    /// Adds a message, or drops it if the queue is full. Never waits for the recorder.
    pub(super) fn push(&self, message: Message) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() >= CAPACITY {
            drop(messages);
            self.has_overflown.store(true, Ordering::Release);
            return;
        }
        messages.push(message);
        let count = messages.len();
        drop(messages);
        if count == MANY {
            self.many.notify_one();
        }
    }

    /// Takes all messages; `None` if some were dropped since the last [`restart`](Self::restart).
    pub(super) fn take(&self) -> Option<Vec<Message>> {
        let messages = std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner));
        (!self.has_overflown.load(Ordering::Acquire)).then_some(messages)
    }

    /// Drops all messages. Those that come later are newer than a state that is read after this call, or are contained in it.
    pub(super) fn restart(&self) {
        self.has_overflown.store(false, Ordering::Release);
        drop(std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner)));
    }

    /// Waits until a quarter of the queue is used.
    pub(super) async fn many(&self) {
        self.many.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use kube_endpoint_model::Pod;

    use super::*;

    fn message() -> Message {
        Message::put(Timestamp::UNIX_EPOCH, None, Arc::new(Pod::default()).into(), false)
    }

    #[test]
    fn an_overflow_is_known_until_the_restart() {
        let queue = Queue::default();
        for _ in 0..CAPACITY {
            queue.push(message());
        }
        assert_eq!(queue.take().map(|messages| messages.len()), Some(CAPACITY));
        for _ in 0..=CAPACITY {
            queue.push(message());
        }
        assert!(queue.messages.lock().unwrap().len() == CAPACITY && queue.take().is_none());
        queue.push(message());
        assert!(queue.take().is_none(), "what follows a dropped message is of no use");
        queue.push(message());
        queue.restart();
        assert_eq!(queue.take().map(|messages| messages.len()), Some(0));
    }
}
