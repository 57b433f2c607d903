// Responses that are stored, run in the background, or come over WebSocket.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import WebSocket from 'ws';
import { eventually, file_scope, make_folder, start_gateway, start_mock } from './harness.mjs';

const kScript = `
model talker
model spoken

rule slow
  when model talker
  when user contains "slowly"
  text "One. "
  delay 300ms
  text "Two. "
  delay 300ms
  text "Three."
  finish stop

rule patch
  when model spoken
  when user contains "patch"
  text "<tool_call>{\\"name\\": \\"apply_patch\\", \\"arguments\\": {\\"input\\": \\"*** Begin Patch\\\\n+x\\\\n*** End Patch\\"}}</tool_call>"
  finish stop

rule rest
  text "Hello."
  finish stop
  usage prompt=3 completion=2 total=5
`;

const scope = file_scope();
let gateway;
let client;
before(async () => {
  const mock = await start_mock(scope, kScript);
  gateway = await start_gateway(scope, {
    store: { url: `sqlite:${join(make_folder(scope), 'callgate.db')}` },
    upstream: [{ name: 'scripted', url: mock.v1 }],
    model: ['talker', 'spoken'].map((name) => ({
      name,
      upstream: 'scripted',
      dialect: name === 'spoken' ? 'hermes' : 'native',
    })),
  });
  client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0, timeout: 20_000 });
});

describe('stored responses', () => {
  test('can be asked for again, listed, gone on from and deleted', async () => {
    const first = await client.responses.create({ model: 'talker', input: 'hi' });
    const again = await client.responses.retrieve(first.id);
    assert.deepEqual(again.output, first.output);
    const items = [];
    for await (const item of client.responses.inputItems.list(first.id)) items.push(item);
    assert.equal(items.length, 1);
    const next = await client.responses.create({
      model: 'talker',
      input: 'more',
      previous_response_id: first.id,
    });
    assert.equal(next.previous_response_id, first.id);
    await client.responses.delete(first.id);
    await assert.rejects(client.responses.retrieve(first.id), { status: 404 });
    await assert.rejects(
      client.responses.create({ model: 'talker', input: 'x', previous_response_id: first.id }),
      { code: 'previous_response_not_found' },
    );
  });

  test('a client that leaves a background response gets the rest later, byte for byte', async () => {
    const stream = await client.responses.create({
      model: 'talker',
      input: 'say it slowly',
      background: true,
      stream: true,
    });
    let id;
    let seen = -1;
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      seen = event.sequence_number;
      if (event.type === 'response.output_text.delta') break; // gone
    }
    const url = `${gateway.v1}/responses/${id}?stream=true`;
    const running = await (await fetch(`${url}&starting_after=${seen}`)).text();
    await eventually('the end', async () => {
      return (await client.responses.retrieve(id)).status === 'completed';
    });
    const whole = await (await fetch(url)).text();
    const rest = await (await fetch(`${url}&starting_after=${seen}`)).text();
    assert.ok(whole.endsWith(rest));
    assert.equal(running, rest);
    assert.match(rest, /Three\./);
    assert.equal((await client.responses.retrieve(id)).output[0].content[0].text, 'One. Two. Three.');
  });
});

describe('custom tools', () => {
  test('a model that writes its calls as text calls them', async () => {
    const events = [];
    const stream = await client.responses.create({
      model: 'spoken',
      input: 'please patch it',
      tools: [{ type: 'custom', name: 'apply_patch', description: 'Patches files.' }],
      stream: true,
    });
    for await (const event of stream) events.push(event);
    const deltas = events.filter((event) => event.type === 'response.custom_tool_call_input.delta');
    const input = '*** Begin Patch\n+x\n*** End Patch';
    assert.equal(deltas.map((event) => event.delta).join(''), input);
    const [call] = events.at(-1).response.output;
    assert.equal(call.type, 'custom_tool_call');
    assert.equal(call.input, input);
    assert.equal(call.name, 'apply_patch');
  });
});

describe('over WebSocket', () => {
  const sockets = [];
  after(() => sockets.forEach((socket) => socket.close()));

  function open_socket() {
    const socket = new WebSocket(gateway.v1.replace('http', 'ws') + '/responses');
    sockets.push(socket);
    const events = [];
    const waiting = [];
    socket.on('message', (data) => {
      events.push(JSON.parse(data));
      waiting.splice(0).forEach((wake) => wake());
    });
    const ended = (event) =>
      /^response\.(completed|incomplete|failed)$/.test(event.type) || event.type === 'error';
    let taken = 0;
    const next = async () => {
      for (;;) {
        const at = events.findIndex((event, i) => i >= taken && ended(event));
        if (at >= 0) {
          const turn = events.slice(taken, at + 1);
          taken = at + 1;
          return turn;
        }
        await new Promise((wake) => waiting.push(wake));
      }
    };
    return {
      ready: new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)),
      ask: (body) => {
        socket.send(JSON.stringify({ type: 'response.create', model: 'talker', ...body }));
        return next();
      },
      next,
      send: (text) => socket.send(text),
    };
  }

  test('a chain that is not stored stays warm on its socket alone', async () => {
    const socket = open_socket();
    await socket.ready;
    const first = await socket.ask({ input: 'hi', store: false });
    first.forEach((event, i) => assert.equal(event.sequence_number, i));
    const { id } = first.at(-1).response;
    const second = await socket.ask({ input: 'more', store: false, previous_response_id: id });
    assert.equal(second.at(-1).type, 'response.completed');

    const other = open_socket();
    await other.ready;
    const [lost] = await other.ask({ input: 'more', store: false, previous_response_id: id });
    assert.equal(lost.status, 400);
    assert.equal(lost.error.code, 'previous_response_not_found');
  });

  test('a continuation that fails is not gone on from', async () => {
    const socket = open_socket();
    await socket.ready;
    const first = await socket.ask({ input: 'hi', store: false });
    const previous_response_id = first.at(-1).response.id;
    const output = { type: 'function_call_output', call_id: 'nobody', output: 'x' };
    const [failed] = await socket.ask({ input: [output], store: false, previous_response_id });
    assert.equal(failed.type, 'error');
    const [evicted] = await socket.ask({ input: 'x', store: false, previous_response_id });
    assert.equal(evicted.error.code, 'previous_response_not_found');
  });

  test('a warm-up generates nothing and can be gone on from', async () => {
    const socket = open_socket();
    await socket.ready;
    const warm = await socket.ask({ input: 'hi', store: false, generate: false });
    assert.deepEqual(
      warm.map((event) => event.type),
      ['response.created', 'response.completed'],
    );
    const turn = await socket.ask({
      input: 'go',
      store: false,
      previous_response_id: warm[1].response.id,
    });
    assert.equal(turn.at(-1).type, 'response.completed');
  });

  test('lanes are named in every event', async () => {
    const socket = open_socket();
    await socket.ready;
    const turn = await socket.ask({ input: 'hi', stream_id: 'a.1' });
    assert.ok(turn.every((event) => event.stream_id === 'a.1'));
    socket.send('{"type":"nonsense"}');
    const [refused] = await socket.next();
    assert.equal(refused.status, 400);
  });

  test("the SDK's own client", async () => {
    const socket = new ResponsesWS(client);
    sockets.push({ close: () => socket.close() });
    const completed = new Promise((resolve, reject) => {
      socket.on('response.completed', resolve);
      socket.on('error', reject);
    });
    await new Promise((resolve) => socket.socket.once('open', resolve));
    socket.send({ type: 'response.create', model: 'talker', input: 'hi' });
    assert.equal((await completed).response.status, 'completed');
  });
});
