// Policies of a model that need a clock or a connection: turns that are cut after their calls.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { one_upstream, sleep, start_gateway, within } from './harness.mjs';
import { ask, stream_chat } from './http.mjs';
import { chunk, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const call = (index, name) =>
  chunk({
    tool_calls: [
      { index, id: `call_${index}`, type: 'function', function: { name, arguments: '{"a": 1}' } },
    ],
  });

// Writes `first`, then with every beat what `beat` gives, until the other side leaves. `left` resolves then.
async function start_talker(t, first, beat = () => '') {
  let leave;
  const left = new Promise((resolve) => (leave = resolve));
  const upstream = await start_upstream(t, async (_, response) => {
    response.on('close', leave);
    response.writeHead(200, kEventStream);
    response.write(kHead + first);
    for (let i = 0; !response.destroyed && i < 400; ++i) {
      await sleep(20);
      const bytes = beat(i);
      if (bytes && !response.destroyed) response.write(bytes);
    }
  });
  return { upstream, left };
}

const gateway_for = (t, upstream, policy) =>
  start_gateway(t, one_upstream(upstream.v1, { model: policy }));

describe('stop_after_tools', () => {
  test('first ends the turn at the first call and stops the upstream', async (t) => {
    const { upstream, left } = await start_talker(t, call(0, 'find'), () => say('talk'));
    const gateway = await gateway_for(t, upstream, { stop_after_tools: 'first' });
    const { data } = await stream_chat(gateway.url, ask('x'));
    const turn = check_stream(data);
    assert.deepEqual(turn.calls.map((made) => made.name), ['find']);
    assert.equal(turn.text, '');
    assert.equal(turn.finish_reason, 'tool_calls');
    await within(2_000, 'the upstream is left', left);
  });

  test('burst waits for calls, not for text', async (t) => {
    const { upstream, left } = await start_talker(t, call(0, 'find'), (i) =>
      i === 2 ? call(1, 'add') : say('talk'),
    );
    const gateway = await gateway_for(t, upstream, {
      stop_after_tools: 'burst',
      stop_after_tools_grace: '1s',
      suppress_tail_after_tools: true,
    });
    const { data } = await stream_chat(gateway.url, ask('x'));
    const turn = check_stream(data);
    assert.deepEqual(turn.calls.map((made) => made.name), ['find', 'add']);
    assert.equal(turn.text, 'talktalk', 'text between calls passes, the tail does not');
    await within(2_000, 'the upstream is left', left);
  });

  test('burst ends an upstream that falls silent', async (t) => {
    const { upstream, left } = await start_talker(t, call(0, 'find'));
    const gateway = await gateway_for(t, upstream, {
      stop_after_tools: 'burst',
      stop_after_tools_grace: '100ms',
    });
    const { data } = await stream_chat(gateway.url, ask('x'));
    assert.equal(check_stream(data).finish_reason, 'tool_calls');
    await within(2_000, 'the upstream is left', left);
  });
});
