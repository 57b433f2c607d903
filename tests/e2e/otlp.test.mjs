// Traces: spans reach a receiver over OTLP, belong together, hold no secrets, and never hold a stream up.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { eventually, one_upstream, sleep, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post, stream_chat } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
const kCaller = '00f067aa0ba902b7';
const kParent = `00-${kTrace}-${kCaller}-01`;
const kSecrets = ['key-of-the-client', 'key-of-the-upstream', 'key-of-the-receiver'];

function plain(value) {
  const [[kind, inner]] = Object.entries(value);
  if (kind === 'intValue') return Number(inner);
  return kind === 'arrayValue' ? inner.values.map(plain) : inner;
}

// A receiver that answers with `status(n)` and keeps the spans of good answers.
async function start_receiver(scope, status = () => 200) {
  const receiver = { spans: [], resources: [], bodies: '', requests: [] };
  const server = await start_upstream(scope, async (request, response, n) => {
    receiver.requests.push({ path: request.url, headers: request.headers, at: performance.now() });
    const code = status(n);
    if (code === 'hang') return;
    if (code === 200) {
      receiver.bodies += request.text;
      for (const { resource, scopeSpans } of JSON.parse(request.text).resourceSpans) {
        receiver.resources.push(resource);
        for (const span of scopeSpans.flatMap((each) => each.spans)) {
          const attributes = span.attributes.map(({ key, value }) => [key, plain(value)]);
          receiver.spans.push({ ...span, attributes: Object.fromEntries(attributes) });
        }
      }
    }
    response.writeHead(code, code === 429 ? { 'retry-after': '60' } : {}).end('{}');
  });
  receiver.url = server.url;
  receiver.server = server.server;
  receiver.named = (name) => receiver.spans.filter((span) => span.name === name);
  return receiver;
}

const kCallStream = [
  kHead,
  say('Let me look.'),
  chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"q":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"private"}' } }] }),
  chunk({}, { finish_reason: 'tool_calls' }),
  'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}\n\n',
  'data: [DONE]\n\n',
].join('');

const answer_call = (_, response) => response.writeHead(200, kEventStream).end(kCallStream);

function config(upstream, receiver, { otlp = {}, ...more } = {}) {
  return {
    ...one_upstream(upstream.v1, more),
    otlp: { endpoint: receiver.url ?? receiver, interval: '20ms', ...otlp },
  };
}

async function metric(gateway, name) {
  const { text } = await fetch_text(`${gateway.url}/metrics`);
  return Number(text.match(new RegExp(`^callgate_otlp_${name} (\\d+)$`, 'm'))[1]);
}

describe('spans', () => {
  test('of a request, its upstream and its call belong together', async (t) => {
    const receiver = await start_receiver(t);
    const upstream = await start_upstream(t, answer_call);
    const full = config(upstream, receiver, {
      upstream: { key: kSecrets[1] },
      model: { id: 'vendor/model' },
      otlp: { headers: { authorization: 'Basic ${RECEIVER_KEY}' }, service_name: 'gate-1' },
      key: [{ name: 'team', secret: kSecrets[0] }],
      log: { level: 'debug' },
    });
    const gateway = await start_gateway(t, full, { env: { RECEIVER_KEY: kSecrets[2] } });
    const headers = {
      authorization: `Bearer ${kSecrets[0]}`,
      traceparent: kParent,
      tracestate: 'congo=1',
      'x-request-id': 'r-1',
    };
    const { data } = await stream_chat(gateway.url, ask('find it'), { headers });
    check_stream(data);
    await eventually('three spans', () => receiver.spans.length === 3);

    const [server] = receiver.named('chat m');
    const [client] = receiver.named('chat vendor/model');
    const [call] = receiver.named('execute_tool find');
    assert.deepEqual([server.kind, client.kind, call.kind], [2, 3, 1]);
    for (const span of receiver.spans) {
      assert.equal(span.traceId, kTrace);
      assert.match(span.spanId, /^(?!0{16})[0-9a-f]{16}$/);
      assert.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano));
      assert.equal(span.status, undefined);
    }
    assert.equal(server.parentSpanId, kCaller);
    assert.equal(server.traceState, 'congo=1');
    assert.equal(client.parentSpanId, server.spanId);
    assert.equal(call.parentSpanId, server.spanId);
    assert.ok(Math.abs(Number(BigInt(server.startTimeUnixNano) / 1_000_000n) - Date.now()) < 60_000);

    const first = server.attributes['gen_ai.response.time_to_first_chunk'];
    assert.ok(first >= 0 && first < 10);
    assert.deepEqual(server.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'm',
      'gen_ai.response.id': JSON.parse(data[0]).id,
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.response.time_to_first_chunk': first,
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 5,
      'http.response.status_code': 200,
      'callgate.request_id': 'r-1',
      'callgate.key': 'team',
      'callgate.dialect': 'auto',
      'callgate.upstream': 'main',
      'callgate.attempts': 1,
      'callgate.calls': 1,
      'callgate.repairs': 0,
    });
    assert.deepEqual(client.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'vendor/model',
      'http.request.resend_count': 0,
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'callgate.upstream': 'main',
    });
    assert.deepEqual(call.attributes, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'find',
      'gen_ai.tool.call.id': 'call_1',
      'gen_ai.tool.type': 'function',
      'callgate.tool_call_index': 0,
      'callgate.delta_position': 1,
      'callgate.bytes': 15,
      'callgate.outcome': 'complete',
      'callgate.usage_emitted': false,
      'callgate.dialect': 'native',
    });

    // The upstream's part hangs below the span of the try.
    assert.equal(upstream.requests[0].headers.traceparent, `00-${kTrace}-${client.spanId}-01`);
    assert.equal(upstream.requests[0].headers.tracestate, 'congo=1');

    const [request] = receiver.requests;
    assert.equal(request.path, '/v1/traces');
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers.authorization, `Basic ${kSecrets[2]}`);
    assert.deepEqual(receiver.resources[0].attributes[0], {
      key: 'service.name',
      value: { stringValue: 'gate-1' },
    });
    for (const secret of [...kSecrets, 'private', 'find it', 'Let me look']) {
      assert.ok(!receiver.bodies.includes(secret), `${secret} is in a span`);
      assert.ok(!gateway.log.includes(secret), `${secret} is in the log`);
    }
    const line = (text) => eventually(text, () => new RegExp(`${text}\\n`).test(gateway.stderr));
    await line(`call_started request=r-1 trace=${kTrace} tool_call_index=0 choice=0 tool=find delta_position=1 dialect=native`);
    await line(
      `call_finished request=r-1 trace=${kTrace} tool_call_index=0 choice=0 delta_position=4 bytes=15 ` +
        'outcome=complete usage_emitted=false dialect=native',
    );
  });

  test('tell of tries, failures, refusals and clients that leave', async (t) => {
    const receiver = await start_receiver(t);
    const upstream = await start_upstream(t, (request, response) => {
      if (request.text.includes('leave')) {
        response.writeHead(200, kEventStream);
        return response.write(kHead + say('a') + kCallStream.split('\n\n')[2] + '\n\n');
      }
      const error = { error: { message: 'Incorrect API key: key-of-the-upstream' } };
      response.writeHead(503).end(JSON.stringify(error));
    });
    const model = { retries: 1, retry_backoff: '1ms' };
    const gateway = await start_gateway(t, config(upstream, receiver, { model }));
    const url = `${gateway.v1}/chat/completions`;
    assert.equal((await post(url, ask('x'))).status, 503);
    await eventually('three spans', () => receiver.spans.length === 3);
    const [server, ...tries] = receiver.spans;
    assert.equal(server.parentSpanId, undefined);
    assert.equal(server.attributes['callgate.attempts'], 2);
    assert.equal(server.attributes['error.type'], 'unavailable');
    assert.deepEqual(server.status, { code: 2 });
    for (const [n, span] of tries.entries()) {
      assert.equal(span.traceId, server.traceId);
      assert.equal(span.parentSpanId, server.spanId);
      assert.equal(span.attributes['http.response.status_code'], 503);
      assert.equal(span.attributes['http.request.resend_count'], n);
      assert.equal(span.attributes['error.type'], 'unavailable');
      assert.equal(upstream.requests[n].headers.traceparent, `00-${server.traceId}-${span.spanId}-01`);
    }
    assert.ok(!receiver.bodies.includes('key-of-the-upstream'));

    receiver.spans.length = 0;
    await post(url, ask('x', { model: 'nothing' }), { headers: { traceparent: kParent } });
    const [refused] = await eventually('a span', () => receiver.named('chat').length && receiver.spans);
    assert.equal(refused.traceId, kTrace);
    assert.equal(refused.attributes['error.type'], 'not_found');
    assert.equal(refused.attributes['http.response.status_code'], 404);

    receiver.spans.length = 0;
    const stream = await ChatStream.open(gateway.url, ask('leave'));
    for await (const frame of stream) if (frame.data?.includes('find')) break;
    stream.leave();
    await eventually('three spans', () => receiver.spans.length === 3);
    assert.equal(receiver.named('chat m')[0].attributes['error.type'], 'client_disconnected');
    assert.equal(receiver.named('execute_tool find')[0].attributes['callgate.outcome'], 'interrupted');
  });

  test('leave at the end, however long the interval', async (t) => {
    const receiver = await start_receiver(t);
    const upstream = await start_upstream(t, answer_call);
    const gateway = await start_gateway(t, config(upstream, receiver, { otlp: { interval: '1h' } }));
    await stream_chat(gateway.url, ask('x'));
    assert.equal(receiver.spans.length, 0);
    await gateway.stop();
    assert.equal(receiver.spans.length, 3);
  });
});

describe('trace context', () => {
  test('that is wrong or missing begins a new trace', async (t) => {
    const receiver = await start_receiver(t);
    const upstream = await start_upstream(t, answer_call);
    const gateway = await start_gateway(t, config(upstream, receiver));
    for (const traceparent of [undefined, kParent.toUpperCase(), `${kParent}-x`, 'nonsense']) {
      const headers = traceparent === undefined ? {} : { traceparent, tracestate: 'congo=1' };
      await stream_chat(gateway.url, ask('x'), { headers });
    }
    const servers = () => receiver.spans.filter((span) => span.kind === 2);
    await eventually('four traces', () => servers().length === 4);
    const traces = new Set(servers().map((span) => span.traceId));
    assert.equal(traces.size, 4);
    assert.ok(!traces.has(kTrace));
    for (const request of upstream.requests) {
      assert.ok(traces.has(request.headers.traceparent.split('-')[1]));
      assert.equal(request.headers.tracestate, undefined);
    }
  });

  test("says whether a trace is recorded; without one, the ratio does", async (t) => {
    const receiver = await start_receiver(t);
    const upstream = await start_upstream(t, answer_call);
    const gateway = await start_gateway(t, config(upstream, receiver, { otlp: { sample_ratio: 0 } }));
    await stream_chat(gateway.url, ask('x'));
    const headers = { traceparent: kParent.replace(/01$/, '00') };
    await stream_chat(gateway.url, ask('x'), { headers });
    await stream_chat(gateway.url, ask('x'), { headers: { traceparent: kParent } });
    await eventually('the recorded trace', () => receiver.spans.length === 3);
    await sleep(50);
    assert.equal(receiver.spans.length, 3);
    const sent = upstream.requests.map((request) => request.headers.traceparent);
    assert.match(sent[0], /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    assert.match(sent[1], new RegExp(`^00-${kTrace}-(?!${kCaller})[0-9a-f]{16}-00$`));
    assert.match(sent[2], new RegExp(`^00-${kTrace}-(?!${kCaller})[0-9a-f]{16}-01$`));
  });

  test('passes through a gateway that records nothing', async (t) => {
    const upstream = await start_upstream(t, answer_call);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    await stream_chat(gateway.url, ask('x'), { headers: { traceparent: kParent } });
    await stream_chat(gateway.url, ask('x'), { headers: { traceparent: 'nonsense' } });
    const sent = upstream.requests.map((request) => request.headers.traceparent);
    assert.deepEqual(sent, [kParent, undefined]);
  });
});

describe('a receiver that', () => {
  const kRounds = 20;
  // Many streams, each of three spans; the slowest must not feel the receiver.
  async function run_streams(gateway) {
    for (let i = 0; i < kRounds; ++i) {
      const start = performance.now();
      check_stream((await stream_chat(gateway.url, ask('x'))).data);
      assert.ok(performance.now() - start < 5000, 'a stream waited for the receiver');
    }
  }
  const small = { queue: 12, batch: 3, timeout: '60s' };

  for (const [what, status] of [
    ['hangs', 'hang'],
    ['is busy', 429],
  ]) {
    test(`${what} costs spans, not streams`, async (t) => {
      let code = status;
      const receiver = await start_receiver(t, () => code);
      const upstream = await start_upstream(t, answer_call);
      const gateway = await start_gateway(t, config(upstream, receiver, { otlp: small }));
      await run_streams(gateway);
      await eventually('a request', () => receiver.requests.length === 1);
      await eventually('all are counted', async () => (await metric(gateway, 'dropped_total')) === 3 * kRounds - 12);
      assert.equal(await metric(gateway, 'queue_depth'), 12);
      assert.equal(await metric(gateway, 'sent_total'), 0);
      assert.equal(receiver.requests.length, 1, 'a busy receiver is left alone as long as it says');
      code = 200;
      receiver.server.closeAllConnections();
      await gateway.stop();
      assert.ok(receiver.spans.length >= 9, 'what waited leaves at the end');
    });
  }

  test('is down costs spans, not streams, and gets the next ones when it is back', async (t) => {
    let down = true;
    const receiver = await start_receiver(t, () => (down ? 503 : 200));
    const upstream = await start_upstream(t, answer_call);
    const nowhere = await start_gateway(t, config(upstream, 'http://127.0.0.1:1', { otlp: small }));
    await run_streams(nowhere);
    await eventually('spans are dropped', async () => (await metric(nowhere, 'dropped_total')) >= 3 * kRounds - 12);
    await eventually('a failure', async () => (await metric(nowhere, 'failures_total')) >= 1);
    await eventually('a line', () => /spans were not taken receiver=127.0.0.1:1 error=/.test(nowhere.stderr));

    const gateway = await start_gateway(t, config(upstream, receiver, { otlp: small }));
    await run_streams(gateway);
    await eventually('a failure', async () => (await metric(gateway, 'failures_total')) >= 1);
    down = false;
    await eventually('the queue is sent', async () => (await metric(gateway, 'sent_total')) === 12);
    assert.equal(receiver.spans.length, 12);
    await eventually('an empty queue', async () => (await metric(gateway, 'queue_depth')) === 0);
  });
});
