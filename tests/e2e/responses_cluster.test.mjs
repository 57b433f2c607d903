// Responses in the background with three gateways on one PostgreSQL: a client that was killed gets the rest, byte for byte, from the
// gateway that runs the response, and from any of them afterwards. One whose gateway dies fails, and says why.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Postgres } from './cluster.mjs';
import { eventually, file_scope, make_folder, one_upstream, start_gateway } from './harness.mjs';
import { fetch_text, open, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kWords = Array.from({ length: 40 }, (_, i) => `word${i} – 🧭 `);

// A model that says one half, and the other when it is let go on. `stuck` is never let.
class Model {
  #gates = new Set();
  static async start(scope) {
    const model = new Model();
    const upstream = await start_upstream(scope, async (request, response) => {
      response.writeHead(200, kEventStream);
      const half = kWords.length / 2;
      response.write(kHead + kWords.slice(0, half).map(say).join(''));
      const { messages } = JSON.parse(request.text);
      if (messages.at(-1).content === 'and?') return response.end(kEnd);
      await new Promise((resolve) => {
        model.#gates.add(resolve);
        response.on('close', () => model.#gates.delete(resolve));
      });
      for (const word of kWords.slice(half)) response.write(say(word));
      response.end(kEnd);
    });
    model.v1 = upstream.v1;
    return model;
  }
  get waiting() {
    return this.#gates.size;
  }
  go_on() {
    for (const open_gate of this.#gates) open_gate();
    this.#gates.clear();
  }
}

const scope = file_scope();
let model;
let postgres;
before(async () => {
  model = await Model.start(scope);
  postgres = await Postgres.start(scope);
});

const start_node = (t) =>
  start_gateway(
    t,
    one_upstream(model.v1, {
      store: { url: postgres.url, journal: join(make_folder(t), 'callgate.journal') },
    }),
  );
const start_nodes = (t) => Promise.all([1, 2, 3].map(() => start_node(t)));

const show = (node, id, query = '') => fetch_text(`${node.v1}/responses/${id}${query}`);
const status_at = async (node, id) => (await show(node, id)).json().status;

// A client that asks for a stream and is killed after `count` events. Gives what it had read: whole events.
async function ask_and_die(node, input, count) {
  const asked = await open(`${node.v1}/responses`, {
    method: 'POST',
    body: { model: 'm', input, background: true, stream: true },
  });
  assert.equal(asked.status, 200);
  asked.response.setEncoding('utf8');
  let text = '';
  for await (const piece of asked.response) {
    text += piece;
    if (text.split('\n\n').length > count) break;
  }
  asked.request.destroy();
  const read = text.split('\n\n').slice(0, count).map((frame) => `${frame}\n\n`);
  assert.equal(read.length, count);
  const events = read.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)));
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), [...read.keys()]);
  return { read: read.join(''), id: events[0].response.id };
}

describe('responses in the background on three gateways', () => {
  test('a client that was killed gets the rest, byte for byte', async (t) => {
    const nodes = await start_nodes(t);
    const [owner, ...others] = nodes;
    const { read, id } = await ask_and_die(owner, 'slow', 7);

    // While it runs: every gateway shows that it does, its own has the rest of the stream.
    for (const node of nodes) assert.equal(await status_at(node, id), 'in_progress');
    for (const node of others) {
      const elsewhere = await show(node, id, '?stream=true');
      assert.equal(elsewhere.status, 409);
      assert.match(elsewhere.json().error.message, /runs on another gateway/);
      assert.equal((await post(`${node.v1}/responses/${id}/cancel`, {})).status, 409);
    }
    const following = await open(`${owner.v1}/responses/${id}?stream=true&starting_after=6`);
    assert.equal(following.status, 200);
    model.go_on();
    let all = read;
    for await (const piece of following.response.setEncoding('utf8')) all += piece;

    // Once it is over: the same from all of them, from any event on.
    const frames = all.split('\n\n').slice(0, -1).map((frame) => `${frame}\n\n`);
    assert.match(frames.at(-1), /^event: response\.completed\n/);
    await eventually('the end in the store', async () => {
      const statuses = await Promise.all(nodes.map((node) => status_at(node, id)));
      return statuses.every((status) => status === 'completed');
    });
    const bodies = await Promise.all(nodes.map(async (node) => (await show(node, id)).text));
    assert.equal(JSON.parse(bodies[0]).output[0].content[0].text, kWords.join(''));
    assert.deepEqual(new Set(bodies).size, 1);
    for (const node of nodes) {
      assert.equal((await show(node, id, '?stream=true')).text, all);
      for (const after of [0, 6, frames.length - 2, frames.length - 1]) {
        const part = await show(node, id, `?stream=true&starting_after=${after}`);
        assert.equal(part.text, frames.slice(after + 1).join(''));
      }
    }
    const end = JSON.parse(frames.at(-1).split('data: ')[1]);
    assert.deepEqual(end.response, JSON.parse(bodies[0]));
  });

  test('one whose gateway dies fails everywhere, and says why', async (t) => {
    const [owner, ...others] = await start_nodes(t);
    const { id } = await ask_and_die(owner, 'stuck', 4);
    for (const node of others) assert.equal(await status_at(node, id), 'in_progress');
    await owner.kill();
    for (const node of others) {
      await eventually('the failure', async () => (await status_at(node, id)) === 'failed', 30_000);
    }
    const again = await start_node(t);
    for (const node of [...others, again]) {
      const shown = (await show(node, id)).json();
      assert.equal(shown.status, 'failed');
      assert.equal(shown.error.code, 'server_error');
      assert.match(shown.error.message, /the gateway that ran this response ended/);
      assert.equal(shown.background, true);
      const rest = await show(node, id, '?stream=true&starting_after=3');
      assert.equal(rest.status, 200);
      const [frame, ...more] = rest.text.split('\n\n').filter((each) => each !== '');
      assert.deepEqual(more, []);
      assert.match(frame, /^event: response\.failed\n/);
      const event = JSON.parse(frame.split('data: ')[1]);
      assert.equal(event.sequence_number, 4);
      assert.deepEqual(event.response, shown);
      assert.equal((await post(`${node.v1}/responses/${id}/cancel`, {})).status, 400);
    }
    const deleted = await fetch_text(`${others[0].v1}/responses/${id}`, { method: 'DELETE' });
    assert.equal(deleted.json().deleted, true);
    assert.equal((await show(others[1], id)).status, 404);
  });

  test('one that is asked for whole is queued, then runs, then is complete on every gateway', async (t) => {
    const nodes = await start_nodes(t);
    const asked = await post(`${nodes[1].v1}/responses`, { model: 'm', input: 'slow', background: true });
    const { id, status } = asked.json();
    assert.equal(status, 'queued');
    for (const node of nodes) assert.equal(await status_at(node, id), 'in_progress');
    await eventually('the model is asked', () => model.waiting > 0);
    model.go_on();
    for (const node of nodes) {
      await eventually('the end', async () => (await status_at(node, id)) === 'completed', 30_000);
    }
    // Any of them goes on from it.
    const next = await post(`${nodes[2].v1}/responses`, { model: 'm', input: 'and?', previous_response_id: id });
    assert.equal(next.json().status, 'completed', next.text);
  });
});
