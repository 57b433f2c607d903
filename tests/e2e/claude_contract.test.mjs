// The contract that Claude Code has with gateways, line by line, over raw HTTP: what it sends and what it acts on.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { file_scope, start_gateway } from './harness.mjs';
import { fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kBody = { model: 'claude-m', max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] };
const kHeaders = {
  authorization: 'Bearer the-key-of-a-developer',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,something-new-2027-01-01',
  'x-app': 'cli',
  'x-stainless-lang': 'js',
  'x-stainless-retry-count': '0',
  'x-claude-code-session-id': 'e1d6f9f0',
};
// What Anthropic tells an organisation about its own quota.
const kQuota = { 'anthropic-ratelimit-unified-status': 'allowed_warning', 'anthropic-ratelimit-requests-remaining': '3' };
const kMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
  safeguard_results: { verdict: 'allow' },
};
const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const kStream =
  event('message_start', { message: { ...kMessage, content: [], stop_reason: null } }) +
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello.' } }) +
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } }) +
  event('message_stop', {});

const scope = file_scope();
let chat;
let anthropic;
let gateway;
before(async () => {
  chat = await start_upstream(scope, (request, response) => {
    const asked = JSON.parse(request.text).messages.at(-1).content;
    if (asked === 'broke') {
      response.writeHead(429, { 'content-type': 'application/json' });
      return response.end('{"error":{"message":"You ran out of credit.","type":"insufficient_quota","code":"insufficient_quota"}}');
    }
    response.writeHead(200, { ...kEventStream, ...kQuota });
    response.end(kHead + say('Hello.') + kEnd);
  });
  anthropic = await start_upstream(scope, (request, response) => {
    const { stream } = JSON.parse(request.text);
    response.writeHead(200, { ...(stream ? kEventStream : { 'content-type': 'application/json' }), ...kQuota });
    response.end(stream ? kStream : JSON.stringify(kMessage));
  });
  gateway = await start_gateway(scope, {
    upstream: [
      { name: 'chat', url: chat.v1 },
      { name: 'anthropic', url: anthropic.v1, wire: 'anthropic_messages' },
    ],
    model: [
      { name: 'claude-m', upstream: 'chat', retries: 0 },
      { name: 'claude-native', upstream: 'anthropic', retries: 0 },
    ],
    key: [{ name: 'dev', secret: 'the-key-of-a-developer' }],
  });
});

const ask = (body, headers = {}, path = '/v1/messages?beta=true') =>
  post(gateway.url + path, { ...kBody, ...body }, { headers: { ...kHeaders, ...headers } });

describe("Claude Code's contract with gateways", () => {
  test('it looks whether anybody is there', async () => {
    assert.equal((await fetch_text(gateway.url, { method: 'HEAD' })).status, 200);
  });

  test('unknown fields, betas and headers never fail a request', async () => {
    for (const stream of [true, false]) {
      const answer = await ask({ stream, invention_of_2027: { a: [1] } });
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.headers['x-callgate-dropped'], /invention_of_2027/);
    }
  });

  test('an upstream of the same format gets fields, betas and version unchanged', async () => {
    const answer = await ask({ model: 'claude-native', invention_of_2027: { a: [1] } });
    assert.equal(answer.status, 200, answer.text);
    const request = anthropic.requests.at(-1);
    assert.equal(request.headers['anthropic-beta'], kHeaders['anthropic-beta']);
    assert.equal(request.headers['anthropic-version'], '2023-06-01');
    assert.deepEqual(JSON.parse(request.text).invention_of_2027, { a: [1] });
  });

  test('safeguards pass in both directions, or are refused by name and then left out', async () => {
    const safeguards = { type: 'auto' };
    for (const stream of [true, false]) {
      const answer = await ask({ model: 'claude-native', stream, safeguards });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(JSON.parse(anthropic.requests.at(-1).text).safeguards, safeguards);
      assert.match(answer.text, /"safeguard_results":\{"verdict":"allow"\}/);
      const refused = await ask({ stream, safeguards });
      assert.equal(refused.status, 400);
      assert.equal(refused.json().error.type, 'invalid_request_error');
      assert.match(refused.json().error.message, /safeguards/);
      assert.equal((await ask({ stream })).status, 200);
    }
  });

  test('a wrong key is an end, not a reason to try again', async () => {
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const answer = await ask({}, { authorization: 'Bearer of-nothing' }, path);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers['x-should-retry'], 'false');
      assert.equal(answer.json().type, 'error');
      assert.equal(answer.json().error.type, 'authentication_error');
    }
  });

  test('a quota that is used up is a billing error, not a reason to try again', async () => {
    const answer = await ask({ messages: [{ role: 'user', content: 'broke' }] });
    assert.equal(answer.status, 429, answer.text);
    assert.equal(answer.headers['x-should-retry'], 'false');
    assert.equal(answer.json().error.type, 'billing_error');
  });

  test("the upstream's own rate limits do not reach the client", async () => {
    for (const model of ['claude-m', 'claude-native']) {
      for (const stream of [true, false]) {
        const { headers } = await ask({ model, stream });
        const leaked = Object.keys(headers).filter((name) => name.startsWith('anthropic-ratelimit'));
        assert.deepEqual(leaked, []);
      }
    }
  });

  test('tokens are counted without max_tokens', async () => {
    const body = { model: 'claude-m', messages: kBody.messages, system: 'Be brief.' };
    const answer = await post(`${gateway.v1}/messages/count_tokens?beta=true`, body, { headers: kHeaders });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.json().input_tokens > 0);
  });

  test('models have an id and a name for people', async () => {
    const answer = await fetch_text(`${gateway.v1}/models?limit=1000`, { headers: kHeaders });
    assert.equal(answer.status, 200);
    const { data } = answer.json();
    assert.deepEqual(data.map(({ id }) => id).sort(), ['claude-m', 'claude-native']);
    for (const { display_name } of data) assert.equal(typeof display_name, 'string');
  });

  test('what is not served is 404 at once', async () => {
    for (const path of ['/managed/settings', '/api/oauth/usage', '/.well-known/oauth-authorization-server'])
      assert.equal((await fetch_text(gateway.url + path, { headers: kHeaders })).status, 404, path);
  });
});
