//! Requests of the controllers that the server denied.

use kube_dev_apiserver::LoggedRequest;

use crate::Writers;

/// Returns the requests of `writers` that were answered with 401 or 403, except creates in a namespace after its delete
/// was requested: Kubernetes answers 403 to those, whatever the rights of the user.
pub(crate) fn denied<'a>(requests: &'a [LoggedRequest], writers: &Writers) -> Vec<&'a LoggedRequest> {
    let is_denied = |it: &&LoggedRequest| match it.status {
        Some(401) => true,
        Some(403) => it.verb != "create" || !namespace_ends(it, requests),
        _ => false,
    };
    requests.iter().filter(|it| writers.include(&it.user_agent)).filter(is_denied).collect()
}

/// Returns whether the namespace of a request may have been deleted, and not created again, when the request was
/// processed. The log does not contain that time, which is between the arrival and the answer.
fn namespace_ends(request: &LoggedRequest, requests: &[LoggedRequest]) -> bool {
    let of_namespace = |it: &&LoggedRequest| {
        it.resource == "namespaces" && it.subresource.is_empty() && it.applied && it.object_name == request.namespace
    };
    let counts = |it: &&LoggedRequest| match it.verb.as_str() {
        "delete" => it.started <= request.answered,
        "create" => it.answered <= request.started,
        _ => false,
    };
    let last = requests.iter().filter(of_namespace).filter(counts).max_by_key(|it| it.started);
    last.is_some_and(|it| it.verb == "delete")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Method;
    use kube_controller_client::{Client, ClientOptions, Config};
    use kube_dev_apiserver::{Authorization, Fault, On, Server, User};
    use serde_json::{Value, json};

    use super::*;
    use crate::{cluster::server_config, writes::PLAYER};

    /// Time for a delete of a namespace while a create waits.
    const LATE: Duration = Duration::from_secs(3);
    const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

    fn client(server: &Server, user: User, user_agent: &str) -> Client {
        let config = Config::from_kubeconfig_text(&server.kubeconfig_for(user)).unwrap();
        Client::new(&config, ClientOptions { user_agent: user_agent.to_owned(), ..<_>::default() }).unwrap()
    }

    async fn send(client: &Client, method: Method, path: &str, body: Value) -> u16 {
        let sent = client.raw(method, path, Some("application/json"), body.to_string().into_bytes()).await;
        sent.unwrap().0.as_u16()
    }

    #[tokio::test]
    async fn a_missing_right_is_denied_and_a_create_in_an_ending_namespace_is_not() {
        let config = kube_dev_apiserver::Config { authorization: Authorization::Rbac, ..server_config(true) };
        let server = Server::start(config).await.unwrap();
        let admin = |user_agent| client(&server, User::new("admin").group("system:masters"), user_agent);
        let (player, controller) = (admin(PLAYER), admin("controller"));
        let without_rights = client(&server, User::new("nobody"), "without-rights");
        let map = |name: &str, finalizers: Value| json!({"metadata": {"name": name, "finalizers": finalizers}});

        let namespace = json!({"metadata": {"name": "shop"}});
        assert_eq!(send(&player, Method::POST, "/api/v1/namespaces", namespace).await, 201);
        // It keeps the namespace from ending.
        assert_eq!(send(&player, Method::POST, MAPS, map("kept", json!(["example.com/kept"]))).await, 201);
        assert_eq!(send(&without_rights, Method::POST, MAPS, map("a", Value::Null)).await, 403);
        assert_eq!(send(&player, Method::DELETE, "/api/v1/namespaces/shop", json!({})).await, 200);
        assert_eq!(send(&controller, Method::POST, MAPS, map("b", Value::Null)).await, 403);
        assert_eq!(send(&without_rights, Method::GET, MAPS, Value::Null).await, 403);

        // Requests that arrive before the delete and are processed after it.
        let another = json!({"metadata": {"name": "another"}});
        assert_eq!(send(&player, Method::POST, "/api/v1/namespaces", another).await, 201);
        let maps = MAPS.replace("shop", "another");
        assert_eq!(send(&player, Method::POST, &maps, map("kept", json!(["example.com/kept"]))).await, 201);
        let late = On::any().verb("create").resource("configmaps").user_agent("controller");
        server.faults().inject(Fault::delay_request(LATE, LATE).on(late).times(1));
        let (created, ()) = tokio::join!(send(&controller, Method::POST, &maps, map("c", Value::Null)), async {
            server.wait_until(LATE, || server.faults().unspent().is_empty().then_some(())).await.unwrap();
            assert_eq!(send(&player, Method::DELETE, "/api/v1/namespaces/another", json!({})).await, 200);
        });
        assert_eq!(created, 403);

        let requests = server.requests().all();
        let denied = denied(&requests, &Writers::all_but_the_player());
        let denied: Vec<_> = denied.iter().map(|it| format!("{} {}", it.user_agent, it.verb)).collect();
        assert_eq!(denied, ["without-rights create", "without-rights list"]);
        server.shutdown().await;
    }
}
