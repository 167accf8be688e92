// Exercises the embedded API server with the official JavaScript client.
//
// Usage: client.mjs KUBECONFIG NAMESPACE. Every step asserts its result; the exit status is 0 if all hold.

import assert from 'node:assert/strict';
import { once, EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The client is installed in a folder apart, which NODE_PATH names; `import` itself does not read it.
const require = createRequire(import.meta.url);
const k8s = await import(pathToFileURL(require.resolve('@kubernetes/client-node')).href);

const [kubeconfig, namespace] = process.argv.slice(2);
const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(k8s.CoreV1Api);
const slices = config.makeApiClient(k8s.DiscoveryV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const pod = (name, app) => ({
  metadata: { name, labels: { app } },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
});
const fails = (code, reason, call) =>
  assert.rejects(call, (error) => error.code === code && error.body.includes(reason));

await core.createNamespace({ body: { metadata: { name: namespace } } });

// An informer that starts before the objects exist.
const events = new EventEmitter();
const next = async (kind) => (await once(events, kind, { signal: AbortSignal.timeout(20_000) }))[0];
const list = () => core.listNamespacedPod({ namespace });
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, list);
for (const kind of ['add', 'update', 'delete']) {
  informer.on(kind, (it) => events.emit(kind, it.metadata));
}
// Stopping aborts the watch, which this client reports as an error.
informer.on('error', (error) => error.type === 'aborted' || events.emit('error', error));
await informer.start();

// Create, get and list.
let event = next('add');
const created = await core.createNamespacedPod({ namespace, body: pod('web-1', 'web') });
assert.equal(created.status.phase, 'Pending');
assert.equal((await event).name, 'web-1');
event = next('add');
await core.createNamespacedPod({ namespace, body: pod('api-1', 'api') });
assert.equal((await event).name, 'api-1');
const listed = await core.listNamespacedPod({ namespace, labelSelector: 'app in (web)' });
assert.deepEqual(listed.items.map((it) => it.metadata.name), ['web-1']);
const page = await core.listNamespacedPod({ namespace, limit: 1 });
assert.deepEqual([page.items.length, page.metadata.remainingItemCount], [1, 1]);
const rest = await core.listNamespacedPod({ namespace, limit: 1, _continue: page.metadata._continue });
assert.deepEqual([...page.items, ...rest.items].map((it) => it.metadata.name), ['api-1', 'web-1']);
await fails(409, 'AlreadyExists', () => core.createNamespacedPod({ namespace, body: pod('web-1', 'web') }));
await fails(404, 'NotFound', () => core.readNamespacedPod({ namespace, name: 'missing' }));
await fails(422, 'Invalid', () => core.createNamespacedPod({ namespace, body: pod('Not_a_name', 'web') }));

// Patches: strategic merge, and a JSON patch, which this client sends by default.
event = next('update');
await core.patchNamespacedPod(
  { namespace, name: 'web-1', body: { metadata: { labels: { tier: 'front' } } } },
  k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.StrategicMergePatch),
);
assert.deepEqual((await event).labels, { app: 'web', tier: 'front' });
event = next('update');
await core.patchNamespacedPod({
  namespace,
  name: 'web-1',
  body: [{ op: 'remove', path: '/metadata/labels/tier' }],
});
assert.deepEqual((await event).labels, { app: 'web' });

// An update with an old resource version conflicts.
created.metadata.labels = { app: 'old' };
await fails(409, 'Conflict', () => core.replaceNamespacedPod({ namespace, name: 'web-1', body: created }));

// Server-side apply through the object API, which reads discovery. A second manager conflicts until it forces.
const apply = (manager, targetPort, force) =>
  objects.patch(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort }] },
    },
    undefined,
    undefined,
    manager,
    force,
    k8s.PatchStrategy.ServerSideApply,
  );
const applied = await apply('first', 8080);
assert.equal(applied.metadata.managedFields[0].manager, 'first');
await fails(409, 'conflict with \\"first\\"', () => apply('second', 9090));
assert.equal((await apply('second', 9090, true)).spec.ports[0].targetPort, 9090);

// A watch from a resource version sees each later event once.
const { metadata } = await slices.listNamespacedEndpointSlice({ namespace });
for (const address of ['10.0.0.1', '10.0.0.2']) {
  await slices.createNamespacedEndpointSlice({
    namespace,
    body: {
      metadata: { generateName: 'web-', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 8080 }],
    },
  });
}
const seen = [];
await new Promise((resolve, reject) => {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const options = { resourceVersion: metadata.resourceVersion, timeoutSeconds: 20 };
  const receive = (kind, slice) => seen.push([kind, slice.endpoints[0].addresses[0]]) === 2 && resolve();
  new k8s.Watch(config).watch(path, options, receive, reject).then((request) => {
    events.once('end', () => request.abort());
  }, reject);
});
events.emit('end');
assert.deepEqual(seen, [['ADDED', '10.0.0.1'], ['ADDED', '10.0.0.2']]);

// Deletes: one object, and a collection.
event = next('delete');
await core.deleteNamespacedPod({ namespace, name: 'api-1', gracePeriodSeconds: 0 });
assert.equal((await event).name, 'api-1');
await slices.deleteCollectionNamespacedEndpointSlice({ namespace, labelSelector: 'kubernetes.io/service-name=web' });
assert.equal((await slices.listNamespacedEndpointSlice({ namespace })).items.length, 0);
assert.deepEqual(informer.list().map((it) => it.metadata.name), ['web-1']);
await informer.stop();
