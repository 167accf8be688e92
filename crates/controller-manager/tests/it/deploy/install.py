"""Installs a chart as Helm does: `install.py KUBECONFIG NAMESPACE CHART VALUES`, prints what was rendered."""

import asyncio
import json
import sys

import helm_sdkpy as helm

kubeconfig, namespace, chart, values = sys.argv[1:]
install = helm.Install(helm.Configuration(namespace=namespace, kubeconfig=kubeconfig))
release = install.run("endpoint-controller-manager", chart, values=json.loads(values), wait=False)
print(asyncio.run(release)["manifest"])
