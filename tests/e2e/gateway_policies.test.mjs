// Policies of a model that need a clock or a connection: turns that are cut after their calls.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { one_upstream, sleep, start_gateway, within } from './harness.mjs';
import { ask, post, stream_chat } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

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

describe('what a request asks for by headers', () => {
  const whole_turn = kHead + say('Look. ') + call(0, 'find') + say('tail') + kEnd;
  const answering = (t) =>
    start_upstream(t, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.end(whole_turn);
    });

  test('output, counters and timing hold for that request alone', async (t) => {
    const gateway = await gateway_for(t, await answering(t), {});
    const asked = { ...ask('x'), stream_options: { include_usage: true } };
    const plain = await stream_chat(gateway.url, asked);
    const asking = await stream_chat(gateway.url, asked, {
      headers: {
        'x-callgate-output': 'xml_only',
        'x-callgate-trailing-counters': '1',
        'x-callgate-timing': '1',
      },
    });
    assert.equal(check_stream(plain.data, { include_usage: true }).calls.length, 1);
    const turn = check_stream(asking.data, { include_usage: true });
    assert.equal(turn.calls.length, 0);
    assert.equal(turn.finish_reason, 'stop');
    assert.equal(
      turn.text,
      'Look. <use_tool>\n  <name>find</name>\n  <a>1</a>\n</use_tool>tail',
    );
    const comment = asking.stream.frames.find((frame) => frame.comment)?.comment;
    assert.equal(JSON.parse(comment).tool_call_count, 0);
    const usage = JSON.parse(asking.data.at(-2)).usage;
    assert.equal(usage.estimated, true);
    assert.ok(usage.total_duration_ms >= usage.time_to_first_token_ms);
  });

  test('a whole answer tells counters and estimates in its headers', async (t) => {
    const gateway = await gateway_for(t, await answering(t), { tool_call_max: 4 });
    const response = await post(`${gateway.url}/v1/chat/completions`, ask('x'));
    assert.equal(response.headers['x-callgate-usage'], 'estimated');
    assert.equal(response.headers['x-callgate-tool-call-count'], '1');
    assert.equal(response.headers['x-callgate-tool-call-truncated'], 'false');
    assert.equal(response.headers['x-callgate-stop-after-tools-mode'], 'off');
    assert.equal(response.json().usage.estimated, true);
  });

  test('a value that is not known is refused by name', async (t) => {
    const gateway = await gateway_for(t, await answering(t), {});
    const response = await post(`${gateway.url}/v1/chat/completions`, ask('x'), {
      headers: { 'x-callgate-output': 'yaml' },
    });
    assert.equal(response.status, 400);
    assert.match(response.json().error.message, /x-callgate-output: "yaml", expected/);
  });
});

test('coalesced reasoning leaves when its time is over, though the upstream is silent', async (t) => {
  const { upstream } = await start_talker(t, chunk({ reasoning_content: 'a' }), (i) =>
    i < 3 ? chunk({ reasoning_content: 'b' }) : i === 30 ? say('x') + kEnd : '',
  );
  const gateway = await gateway_for(t, upstream, { reasoning_coalesce: '200ms' });
  const { data } = await stream_chat(gateway.url, ask('x'));
  const pieces = data
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line).choices[0]?.delta.reasoning_content)
    .filter(Boolean);
  assert.deepEqual(pieces, ['abbb']);
});

describe('split = sentences', () => {
  const kPieces = ['Dr. Who pa', 'id it all. Th', 'en he left. ', 'O', 'k'];
  const kSentences = ['Dr. Who paid it all. ', 'Then he left. ', 'Ok'];
  const texts = (data, choice = 0) =>
    data
      .filter((line) => line !== '[DONE]')
      .flatMap((line) => JSON.parse(line).choices)
      .filter((part) => part.index === choice)
      .map((part) => part.delta.content)
      .filter(Boolean);
  const start = async (t, model = {}) => {
    const upstream = await start_upstream(t, async (request, response) => {
      const { n } = JSON.parse(request.text);
      response.writeHead(200, kEventStream);
      for (const piece of kPieces)
        for (let index = 0; index < (n ?? 1); ++index)
          response.write(chunk({ content: piece }, { index }));
      for (let index = 0; index < (n ?? 1); ++index)
        response.write(chunk({}, { index, finish_reason: 'stop' }));
      response.end('data: [DONE]\n\n');
    });
    return gateway_for(t, upstream, model);
  };
  const kAsked = { callgate: { split: 'sentences' } };

  test('is asked for in the body, the query, a header or by the model', async (t) => {
    const gateway = await start(t);
    const plain = await stream_chat(gateway.url, ask('x'));
    assert.deepEqual(texts(plain.data).length, kPieces.length);
    const by_body = await stream_chat(gateway.url, ask('x', kAsked));
    assert.deepEqual(texts(by_body.data), kSentences);
    const header = { headers: { 'x-callgate-split': 'sentences' } };
    assert.deepEqual(texts((await stream_chat(gateway.url, ask('x'), header)).data), kSentences);
    const url = `${gateway.v1}/chat/completions?split=`;
    const by_query = await post(`${url}sentences`, ask('x', { stream: true }));
    assert.match(by_query.text, /"Dr\. Who paid it all\. "/);
    const wrong = await post(`${url}words`, ask('x'));
    assert.equal(wrong.status, 400);
    assert.match(wrong.json().error.message, /query split: "words", expected none or sentences/);
    const by_model = await start(t, { split: 'sentences', split_min_characters: 3 });
    assert.deepEqual(texts((await stream_chat(by_model.url, ask('x'))).data), kSentences);
    const none = ask('x', { callgate: { split: 'none' } });
    assert.deepEqual(texts((await stream_chat(by_model.url, none)).data).length, kPieces.length);
  });

  test('splits each choice, and leaves a whole answer alone', async (t) => {
    const gateway = await start(t);
    const { data } = await stream_chat(gateway.url, ask('x', { n: 2, ...kAsked }));
    for (const choice of [0, 1]) assert.deepEqual(texts(data, choice), kSentences);
    const whole = await post(`${gateway.v1}/chat/completions`, ask('x', kAsked));
    assert.equal(whole.json().choices[0].message.content, kPieces.join(''));
  });
});
