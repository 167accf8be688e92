"""Installs, upgrades, rolls back and uninstalls a chart with Helm's default driver, which keeps releases in Secrets.

Usage: helm.py KUBECONFIG NAMESPACE CHART. Every step asserts its result; the exit status is 0 if all hold.
"""

import asyncio
import sys

import helm_sdkpy as helm
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

kubeconfig, namespace, chart = sys.argv[1:]
config.load_kube_config(kubeconfig)
core, apps = client.CoreV1Api(), client.AppsV1Api()
release = helm.Configuration(namespace=namespace, kubeconfig=kubeconfig)


def port():
    return core.read_namespaced_service("shop", namespace).spec.ports[0].port


def extras():
    return [it.metadata.name for it in core.list_namespaced_config_map(namespace).items if "shop" in it.metadata.name]


def records():
    secrets = core.list_namespaced_secret(namespace, label_selector="owner=helm,name=shop").items
    assert all(it.type == "helm.sh/release.v1" for it in secrets)
    return {it.metadata.name: it.metadata.labels["status"] for it in secrets}


async def run():
    await helm.Install(release).run("shop", chart, create_namespace=True, wait=False)
    assert (port(), extras()) == (80, [])
    assert apps.read_namespaced_deployment("shop", namespace).spec.replicas == 1
    assert records() == {"sh.helm.release.v1.shop.v1": "deployed"}, records()

    await helm.Upgrade(release).run("shop", chart, values={"port": 81, "extra": True}, wait=False)
    assert (port(), extras()) == (81, ["shop-extra"])
    assert records() == {"sh.helm.release.v1.shop.v1": "superseded", "sh.helm.release.v1.shop.v2": "deployed"}, records()

    # An upgrade that the server refuses is rolled back. Helm waits for the Deployment, which no controller runs here.
    ready = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    ready["conditions"] = [
        {"type": "Available", "status": "True"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
    ]
    apps.patch_namespaced_deployment_status("shop", namespace, {"status": ready})
    try:
        upgrade = helm.Upgrade(release).run("shop", chart, values={"port": 70000}, timeout=30, rollback_on_failure=True)
        await upgrade
    except helm.UpgradeError as error:
        assert "has been rolled back" in str(error) and "70000" in str(error), error
    else:
        raise AssertionError("the port is not refused")
    assert (port(), extras()) == (81, ["shop-extra"])
    assert list(records().values()) == ["superseded", "superseded", "failed", "deployed"], records()
    assert len(await helm.History(release).run("shop")) == 4

    await helm.Uninstall(release).run("shop", wait=False)
    assert records() == {}, records()
    try:
        port()
    except ApiException as error:
        assert error.status == 404, error
    else:
        raise AssertionError("the Service is left")


asyncio.run(run())
