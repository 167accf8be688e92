"""Exercises the embedded API server with the official Python client.

Usage: client.py KUBECONFIG NAMESPACE. Every step asserts its result; the exit status is 0 if all hold.
"""

import queue
import sys

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.informer import SharedInformer

kubeconfig, namespace = sys.argv[1:]
config.load_kube_config(kubeconfig)
core, slices = client.CoreV1Api(), client.DiscoveryV1Api()


def pod(name, app):
    container = client.V1Container(name="app", image="app:1")
    metadata = client.V1ObjectMeta(name=name, labels={"app": app})
    return client.V1Pod(metadata=metadata, spec=client.V1PodSpec(containers=[container]))


def fails(status, reason, call):
    try:
        call()
    except ApiException as error:
        assert (error.status, reason in error.body) == (status, True), error
    else:
        raise AssertionError(f"expected {status} {reason}")


core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))

# An informer that starts before the objects exist.
events = queue.Queue()
informer = SharedInformer(core.list_namespaced_pod, namespace=namespace)
for kind in ("ADDED", "MODIFIED", "DELETED"):
    informer.add_event_handler(kind, lambda it, kind=kind: events.put((kind, it.metadata.name, it.metadata.labels)))
informer.start()

# Create, get and list.
created = core.create_namespaced_pod(namespace, pod("web-1", "web"))
assert created.metadata.uid and created.status.phase == "Pending", created
assert events.get(timeout=20) == ("ADDED", "web-1", {"app": "web"})
core.create_namespaced_pod(namespace, pod("api-1", "api"))
assert events.get(timeout=20)[:2] == ("ADDED", "api-1")
listed = core.list_namespaced_pod(namespace, label_selector="app in (web)")
assert [it.metadata.name for it in listed.items] == ["web-1"], listed
page = core.list_namespaced_pod(namespace, limit=1)
assert (len(page.items), page.metadata.remaining_item_count) == (1, 1), page.metadata
rest = core.list_namespaced_pod(namespace, limit=1, _continue=page.metadata._continue)
assert {it.metadata.name for it in page.items + rest.items} == {"api-1", "web-1"}
fails(409, "AlreadyExists", lambda: core.create_namespaced_pod(namespace, pod("web-1", "web")))
fails(404, "NotFound", lambda: core.read_namespaced_pod("missing", namespace))
fails(422, "Invalid", lambda: core.create_namespaced_pod(namespace, pod("Not_a_name", "web")))

# Patches: strategic merge, as this client sends them by default, and a JSON patch.
core.patch_namespaced_pod("web-1", namespace, {"metadata": {"labels": {"tier": "front"}}})
assert events.get(timeout=20) == ("MODIFIED", "web-1", {"app": "web", "tier": "front"})
core.patch_namespaced_pod("web-1", namespace, [{"op": "remove", "path": "/metadata/labels/tier"}])
assert events.get(timeout=20) == ("MODIFIED", "web-1", {"app": "web"})
status = {"status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "phase": "Running"}}
assert core.patch_namespaced_pod_status("web-1", namespace, status).status.pod_ip == "10.0.0.1"
assert events.get(timeout=20)[:2] == ("MODIFIED", "web-1")

# An update with an old resource version conflicts.
created.metadata.labels = {"app": "old"}
fails(409, "Conflict", lambda: core.replace_namespaced_pod("web-1", namespace, created))

# Server-side apply through the dynamic client, which reads discovery. A second manager conflicts until it forces.
services = DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="Service")
service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}


def apply(manager, port, **options):
    body = {**service, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": port}]}}
    return services.server_side_apply(body=body, namespace=namespace, field_manager=manager, **options)


applied = apply("first", 8080)
assert applied.metadata.managedFields[0].manager == "first", applied
fails(409, "conflict with \\\"first\\\"", lambda: apply("second", 9090))
assert apply("second", 9090, force_conflicts=True).spec.ports[0].targetPort == 9090

# A watch from a resource version sees each later event once.
ports = [client.DiscoveryV1EndpointPort(name="http", port=8080)]
version = slices.list_namespaced_endpoint_slice(namespace).metadata.resource_version
for address in ("10.0.0.1", "10.0.0.2"):
    metadata = client.V1ObjectMeta(generate_name="web-", labels={"kubernetes.io/service-name": "web"})
    endpoints = [client.V1Endpoint(addresses=[address], conditions=client.V1EndpointConditions(ready=True))]
    body = client.V1EndpointSlice(address_type="IPv4", endpoints=endpoints, metadata=metadata, ports=ports)
    slices.create_namespaced_endpoint_slice(namespace, body)
seen = []
watcher = watch.Watch()
for event in watcher.stream(slices.list_namespaced_endpoint_slice, namespace, resource_version=version, timeout_seconds=20):
    seen.append((event["type"], event["object"].endpoints[0].addresses[0]))
    if len(seen) == 2:
        watcher.stop()
assert seen == [("ADDED", "10.0.0.1"), ("ADDED", "10.0.0.2")], seen

# Deletes: one object, and a collection.
# A Pod is first marked as being deleted, even without a grace period.
core.delete_namespaced_pod("api-1", namespace, grace_period_seconds=0)
assert events.get(timeout=20)[:2] == ("MODIFIED", "api-1")
assert events.get(timeout=20)[:2] == ("DELETED", "api-1")
slices.delete_collection_namespaced_endpoint_slice(namespace, label_selector="kubernetes.io/service-name=web")
assert not slices.list_namespaced_endpoint_slice(namespace).items
assert informer.cache.list_keys() == [f"{namespace}/web-1"], informer.cache.list_keys()
informer.stop()
