// The cases of the Open Responses suite over HTTP and WebSocket, and those that Codex depends on, with an upstream that speaks
// Chat Completions: what it was sent shows whether history survived.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { file_scope, one_upstream, start_gateway } from './harness.mjs';
import { chunk, kEventStream, start_upstream, whole_answer } from './upstream.mjs';

// Every member that a response object must have, null or not.
const kResponseKeys = (
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools ' +
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning ' +
  'usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key'
).split(' ');
const kPixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const kWeather = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const scope = file_scope();
let upstream;
let gateway;
let plan = {}; // what the model says next: calls, thinking
before(async () => {
  upstream = await start_upstream(scope, (request, response) => {
    const asked = JSON.parse(request.text);
    const { calls = [], thinks } = plan;
    plan = {};
    if (!asked.stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const answer = JSON.parse(whole_answer(calls.length ? null : 'Hello.'));
      const [choice] = answer.choices;
      if (thinks) choice.message.reasoning_content = thinks;
      if (calls.length) {
        choice.finish_reason = 'tool_calls';
        choice.message.tool_calls = calls.map(([name, args], i) => ({
          id: `call_${i}`,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        }));
      }
      return response.end(JSON.stringify(answer));
    }
    response.writeHead(200, kEventStream);
    response.write(chunk({ role: 'assistant', content: '' }));
    if (thinks) response.write(chunk({ reasoning_content: thinks }));
    if (!calls.length) response.write(chunk({ content: 'Hel' }) + chunk({ content: 'lo.' }));
    calls.forEach(([name, args], index) => {
      const text = JSON.stringify(args);
      const piece = (arguments_, more = {}) =>
        chunk({ tool_calls: [{ index, ...more, function: { ...(more.id ? { name } : {}), arguments: arguments_ } }] });
      response.write(piece('', { id: `call_${index}`, type: 'function' }));
      response.write(piece(text.slice(0, 7)) + piece(text.slice(7)));
    });
    response.write(chunk({}, { finish_reason: calls.length ? 'tool_calls' : 'stop' }));
    response.end('data: [DONE]\n\n');
  });
  gateway = await start_gateway(scope, one_upstream(upstream.v1));
});

const sent = () => JSON.parse(upstream.requests.at(-1).text);

function check_response(response, status = 'completed') {
  for (const key of kResponseKeys) assert.ok(key in response, `${key} is missing`);
  assert.equal(response.object, 'response');
  assert.equal(response.status, status);
  assert.ok(Array.isArray(response.output));
  assert.ok(['low', 'medium', 'high'].includes(response.text.verbosity));
  if (status !== 'completed') return;
  assert.ok(Number.isInteger(response.usage.input_tokens_details.cached_tokens));
  assert.ok(Number.isInteger(response.usage.output_tokens_details.reasoning_tokens));
}

// Numbers from 0, one id per item, and the end repeats what was done.
function check_events(events) {
  events.forEach((event, i) => assert.equal(event.sequence_number, i, event.type));
  assert.equal(events[0].type, 'response.created');
  assert.equal(events[1].type, 'response.in_progress');
  check_response(events[0].response, 'in_progress');
  check_response(events.at(-1).response);
  const done = events.filter((event) => event.type === 'response.output_item.done');
  assert.deepEqual(
    events.at(-1).response.output,
    done.map((event) => event.item),
  );
  const added = events.filter((event) => event.type === 'response.output_item.added');
  assert.deepEqual(
    added.map((event) => [event.output_index, event.item.id]),
    done.map((event) => [event.output_index, event.item.id]),
  );
  for (const event of events.filter((event) => 'item_id' in event)) {
    assert.equal(event.item_id, added[event.output_index].item.id, event.type);
  }
}

async function post(path, body) {
  const answer = await fetch(`${gateway.v1}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

async function over_http(body) {
  const { status, text } = await post('/responses', { model: 'm', stream: true, ...body });
  assert.equal(status, 200, text);
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('event: '));
  return frames.map((frame) => {
    const [event, data] = frame.split('\n');
    const read = JSON.parse(data.slice('data: '.length));
    assert.equal(event, `event: ${read.type}`);
    return read;
  });
}

const sockets = [];
after(() => sockets.forEach((socket) => socket.terminate()));
async function open_socket() {
  const socket = new WebSocket(`${gateway.v1.replace('http', 'ws')}/responses`);
  sockets.push(socket);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ask = (body) =>
    new Promise((resolve, reject) => {
      const events = [];
      const take = (text) => {
        const event = JSON.parse(text);
        events.push(event);
        if (!/^(error|response\.(completed|incomplete|failed))$/.test(event.type)) return;
        socket.off('message', take);
        resolve(events);
      };
      socket.on('message', take);
      socket.once('close', () => reject(new Error('the socket was closed')));
      socket.send(JSON.stringify({ type: 'response.create', model: 'm', ...body }));
    });
  return { ask, close: () => socket.close() };
}

async function over_socket(body) {
  return (await open_socket()).ask(body);
}

const user = (content) => ({ type: 'message', role: 'user', content });

for (const [way, ask] of Object.entries({ HTTP: over_http, WebSocket: over_socket })) {
  describe(`Open Responses over ${way}`, () => {
    test('basic-response, streaming-response', async () => {
      const events = await ask({ input: [user('Say hello.')] });
      check_events(events);
      assert.equal(events.at(-1).response.output[0].content[0].text, 'Hello.');
    });

    test('assistant-phase', async () => {
      const said = { type: 'message', role: 'assistant', phase: 'commentary', content: 'Thinking aloud.' };
      check_events(await ask({ input: [user('Hi.'), said, user('Go on.')] }));
      assert.deepEqual(
        sent().messages.map((message) => message.role),
        ['user', 'assistant', 'user'],
      );
    });

    test('system-prompt, developer messages', async () => {
      const system = { type: 'message', role: 'system', content: 'Be a pirate.' };
      const developer = { type: 'message', role: 'developer', content: 'Be brief.' };
      check_events(await ask({ instructions: 'Be kind.', input: [system, developer, user('Hi.')] }));
      const text = JSON.stringify(sent().messages);
      for (const words of ['Be kind.', 'Be a pirate.', 'Be brief.']) assert.ok(text.includes(words));
    });

    test('tool-calling', async () => {
      plan = { calls: [['get_weather', { city: 'Paris' }]] };
      const events = await ask({ input: [user('Weather?')], tools: [kWeather] });
      check_events(events);
      const [call] = events.at(-1).response.output;
      assert.equal(call.type, 'function_call');
      assert.equal(call.name, 'get_weather');
      assert.deepEqual(JSON.parse(call.arguments), { city: 'Paris' });
    });

    test('image-input', async () => {
      const content = [
        { type: 'input_text', text: 'What is it?' },
        { type: 'input_image', image_url: kPixel },
      ];
      check_events(await ask({ input: [user(content)] }));
      assert.equal(sent().messages.at(-1).content[1].image_url.url, kPixel);
    });

    test('multi-turn', async () => {
      const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello, Ann.' }] };
      check_events(await ask({ input: [user('I am Ann.'), said, user('Who am I?')] }));
      assert.equal(sent().messages.length, 3);
    });

    test('compact-response, compact-new-chain, compaction replay', async () => {
      const compacted = JSON.parse((await post('/responses/compact', { model: 'm', input: [user('Long.')] })).text);
      assert.equal(compacted.object, 'response.compaction');
      assert.equal(compacted.output.filter((item) => item.type === 'compaction').length, 1);
      check_events(await ask({ input: [...compacted.output, user('Go on.')], store: false }));
      assert.match(JSON.stringify(sent().messages[0]), /Summary of the conversation so far:\\nHello\./);
      // The newer form: an item in the input, and one item in the answer.
      const events = await ask({ input: [user('Long.'), { type: 'compaction_trigger' }], store: false });
      check_events(events);
      assert.deepEqual(
        events.at(-1).response.output.map((item) => item.type),
        ['compaction'],
      );
    });

    test('parallel_tool_calls, parallel_tool_roundtrip', async () => {
      plan = { calls: [['get_weather', { city: 'Paris' }], ['get_weather', { city: 'Rome' }]] };
      const input = [user('Weather?')];
      const events = await ask({ input, tools: [kWeather], parallel_tool_calls: true, store: false });
      check_events(events);
      const { output } = events.at(-1).response;
      assert.deepEqual(
        output.map((item) => JSON.parse(item.arguments).city),
        ['Paris', 'Rome'],
      );
      assert.notEqual(output[0].call_id, output[1].call_id);
      const results = output.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: `sunny ${call_id}` }));
      check_events(await ask({ input: [...input, ...output, ...results.reverse()], tools: [kWeather], store: false }));
      const { messages } = sent();
      assert.equal(messages[1].tool_calls.length, 2);
      for (const message of messages.filter((each) => each.role === 'tool')) {
        assert.equal(message.content, `sunny ${message.tool_call_id}`);
      }
    });

    test('custom tools', async () => {
      plan = { calls: [['apply_patch', { input: '*** Begin\n"x"' }]] };
      const tools = [{ type: 'custom', name: 'apply_patch', description: 'Patches.' }];
      const events = await ask({ input: [user('Patch it.')], tools, store: false });
      check_events(events);
      const [call] = events.at(-1).response.output;
      assert.equal(call.type, 'custom_tool_call');
      assert.equal(call.input, '*** Begin\n"x"');
      const deltas = events.filter((event) => event.type === 'response.custom_tool_call_input.delta');
      assert.equal(deltas.map((event) => event.delta).join(''), call.input);
      const result = { type: 'custom_tool_call_output', call_id: call.call_id, output: 'done' };
      check_events(await ask({ input: [user('Patch it.'), call, result], tools, store: false }));
      assert.deepEqual(JSON.parse(sent().messages[1].tool_calls[0].function.arguments), { input: call.input });
    });

    test('encrypted reasoning replay', async () => {
      plan = { thinks: 'Hm.', calls: [['get_weather', { city: 'Paris' }]] };
      const include = ['reasoning.encrypted_content'];
      const input = [user('Weather?')];
      const events = await ask({ input, tools: [kWeather], include, store: false });
      check_events(events);
      const { output } = events.at(-1).response;
      assert.deepEqual(
        output.map((item) => item.type),
        ['reasoning', 'function_call'],
      );
      // Somebody else's blob fails nothing, and does not reach this upstream.
      const foreign = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA_foreign' };
      const result = { type: 'function_call_output', call_id: output[1].call_id, output: 'sunny' };
      check_events(await ask({ input: [...input, foreign, ...output, result], tools: [kWeather], include, store: false }));
      assert.equal(sent().messages[1].tool_calls.length, 1);
      assert.ok(!upstream.requests.at(-1).text.includes('gAAAA_foreign'));
    });
  });
}

describe('Open Responses', () => {
  test('response-output-phase-schema: a whole response has every member', async () => {
    const { status, text } = await post('/responses', { model: 'm', input: 'Hi.' });
    assert.equal(status, 200);
    check_response(JSON.parse(text));
  });

  test('compact-missing-model, model validation', async () => {
    const missing = await post('/responses/compact', { input: [user('Hi.')] });
    assert.equal(missing.status, 400);
    assert.equal(JSON.parse(missing.text).error.param, 'model');
    const unknown = await post('/responses', { model: 'nobody', input: 'Hi.' });
    assert.equal(unknown.status, 404);
    assert.equal(JSON.parse(unknown.text).error.code, 'model_not_found');
    const [event] = await over_socket({ model: 'nobody', input: 'Hi.' });
    assert.equal(event.type, 'error');
    assert.equal(event.status, 404);
    assert.equal(event.error.code, 'model_not_found');
  });

  test('websocket-sequential, websocket-continuation', async () => {
    const socket = await open_socket();
    const first = await socket.ask({ input: [user('I am Ann.')], store: false });
    check_events(first);
    const previous_response_id = first.at(-1).response.id;
    check_events(await socket.ask({ input: [user('Who am I?')], store: false, previous_response_id }));
    assert.deepEqual(
      sent().messages.map((message) => message.content),
      ['I am Ann.', 'Hello.', 'Who am I?'],
    );
  });

  test('websocket-reconnect-store-false-recovery, previous-response-not-found', async () => {
    const socket = await open_socket();
    const first = await socket.ask({ input: [user('Hi.')], store: false });
    socket.close();
    const again = await open_socket();
    const lost = { input: [user('More.')], store: false, previous_response_id: first.at(-1).response.id };
    const [error] = await again.ask(lost);
    assert.equal(error.error.code, 'previous_response_not_found');
    check_events(await again.ask({ input: [user('Hi.'), user('More.')], store: false }));
  });

  test('websocket-failed-continuation-evicts-cache', async () => {
    const socket = await open_socket();
    const first = await socket.ask({ input: [user('Hi.')], store: false });
    const previous_response_id = first.at(-1).response.id;
    const orphan = { type: 'function_call_output', call_id: 'call_nobody', output: 'x' };
    const [failed] = await socket.ask({ input: [orphan], store: false, previous_response_id });
    assert.equal(failed.type, 'error');
    const [evicted] = await socket.ask({ input: [user('Hi.')], store: false, previous_response_id });
    assert.equal(evicted.error.code, 'previous_response_not_found');
  });

  test('a WebSocket has no background responses', async () => {
    const [error] = await over_socket({ input: 'Hi.', background: true });
    assert.equal(error.error.param, 'background');
  });
});
