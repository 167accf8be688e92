//! Prometheus metrics of a client.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, PrometheusMetrics, WatchParams};
use kube_dev_apiserver::{Fault, On};
use prometheus::{Registry, TextEncoder};

use crate::cluster::{PODS, cluster, config_map};

#[tokio::test]
async fn request_metrics_match_client_go() {
    let (server, _) = cluster().await;
    let (registry, config) = (Registry::new(), Config::from_url(&server.url()).expect("valid URL"));
    let metrics = PrometheusMetrics::register(&registry).expect("register metrics");
    assert!(PrometheusMetrics::register(&registry).is_err(), "registered twice");
    let client = Client::with_metrics(&config, ClientOptions::default(), &metrics).expect("create client");

    // Rejected with 429 once, then retried.
    server.faults().inject(Fault::too_many_requests(Duration::ZERO).on(On::writes()).times(1));
    client.create(&config_map("a")).await.expect("create");
    client.get::<ConfigMap>("default", "nobody").await.expect_err("object exists");
    drop(client.watch(&PODS, None, &WatchParams::default()).await.expect("watch"));
    let url = server.url();
    let shutdown = server.shutdown();
    shutdown.await;
    client.without_retries().get::<ConfigMap>("default", "a").await.expect_err("server is still running");

    let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("encode metrics");
    let host = url.strip_prefix("http://").expect("http URL");
    for line in [
        r#"rest_client_requests_total{code="429",host="HOST",method="POST"} 1"#,
        r#"rest_client_requests_total{code="201",host="HOST",method="POST"} 1"#,
        r#"rest_client_requests_total{code="404",host="HOST",method="GET"} 1"#,
        // The watch.
        r#"rest_client_requests_total{code="200",host="HOST",method="GET"} 1"#,
        r#"rest_client_requests_total{code="<error>",host="HOST",method="GET"} 1"#,
        r#"rest_client_request_retries_total{code="429",host="HOST",verb="POST"} 1"#,
        // Durations are per request including retries, and exclude watches.
        r#"rest_client_request_duration_seconds_count{host="HOST",verb="POST"} 1"#,
        r#"rest_client_request_duration_seconds_count{host="HOST",verb="GET"} 2"#,
        r#"rest_client_rate_limiter_duration_seconds_count{host="HOST",verb="POST"} 2"#,
        r#"rest_client_rate_limiter_duration_seconds_count{host="HOST",verb="GET"} 2"#,
        r#"rest_client_request_size_bytes_count{host="HOST",verb="POST"} 2"#,
        r#"rest_client_response_size_bytes_count{host="HOST",verb="POST"} 1"#,
        r#"rest_client_transport_create_calls_total{result="uncacheable"} 1"#,
    ] {
        let line = line.replace("HOST", host);
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
}
