//! HTTP server of the probes and the metrics of a controller.

use kube_controller_serving::{Routes, Server, ServingMetrics};
use tokio::net::TcpListener;

use crate::Controller;

impl<X: 'static> Controller<X> {
    /// Serves the [health checks](Self::health) at `/livez`, `/readyz` and `/healthz` and, if the controller was built with
    /// `with_metrics`, the metrics of its registry at `/metrics`, from [`run`](Self::run) on. Standbys serve them too.
    ///
    /// It is plain HTTP/1.1 without authentication, for the kubelet and for Prometheus in a trusted network: bind the
    /// listener accordingly. The crate `kube-controller-serving`, which has its limits, also serves over HTTPS with
    /// authentication and authorization: pass it [`health`](Self::health), and run it as a [`task`](Self::task).
    pub fn serve(self, listener: TcpListener) -> Self {
        let routes = Routes::new(self.health());
        #[cfg(feature = "prometheus")]
        let routes = match self.registry() {
            Some(registry) => routes.metrics(registry.clone()),
            None => routes,
        };
        let server = Server::plain(listener, routes, ServingMetrics::default());
        self.task("http", async move |stop| {
            stop.run_until_cancelled(server.run()).await;
        })
    }
}
