// Upstreams that stay connected and say nothing more: only comments, or a finish and then neither [DONE] nor an end.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_error, check_stream } from './chat_contract.mjs';
import { eventually, start_gateway } from './harness.mjs';
import { ask, post, stream_chat } from './http.mjs';
import { chunk, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kFinish = chunk({}, { finish_reason: 'stop' });
const kUsage = `data: ${JSON.stringify({
  id: 'up_1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})}\n\n`;
const kCall = (id) =>
  chunk({
    tool_calls: [
      { index: 0, id, type: 'function', function: { name: 'count', arguments: '{"input": "x"}' } },
    ],
  });

// Writes the frames, then `noise` every 20 ms until the other side leaves.
function speak(response, frames, noise) {
  response.writeHead(200, kEventStream);
  response.write(frames.join(''));
  if (!noise) return;
  const timer = setInterval(() => response.write(noise), 20);
  response.on('close', () => clearInterval(timer));
}

async function start(t, answer, row = {}) {
  let left = 0;
  const upstream = await start_upstream(t, (request, response, i) => {
    response.on('close', () => ++left);
    return answer(request, response, i);
  });
  const gateway = await start_gateway(t, {
    upstream: [{ name: 'main', url: upstream.v1, ...row }],
    model: [
      { name: 'm', upstream: 'main', retries: 0 },
      { name: 'looped', upstream: 'main', retries: 0, loop: true },
    ],
    tool: [{ name: 'count', kind: 'command', command: ['wc', '-c'] }],
  });
  return { upstream, gateway, left: () => left };
}

async function timed(work) {
  const begin = performance.now();
  const result = await work();
  return { ...result, ms: performance.now() - begin };
}

describe('bytes that say nothing are silence', () => {
  const kNoise = {
    comments: ': ping\n\n',
    'blank lines': '\n\n',
    'frames without content': chunk({}),
    'named frames': 'event: ping\ndata: {}\n\n',
  };
  for (const model of ['m', 'looped']) {
    for (const [what, noise] of Object.entries(kNoise)) {
      test(`${what}, ${model}`, async (t) => {
        const { gateway, left } = await start(
          t,
          (_, response) => speak(response, [kHead, say('hel')], noise),
          { idle_timeout: '400ms' },
        );
        const { data, ms } = await timed(() => stream_chat(gateway.url, ask('x', { model })));
        assert.equal(data.at(-1), '[DONE]');
        check_error(JSON.parse(data.at(-2)), { message: /main.*400 ms/ });
        assert.ok(ms > 350 && ms < 10_000, `${ms} ms`);
        await eventually('the upstream is left', () => left() === 1);
      });
    }
  }

  test('before anything was said the client gets a status', async (t) => {
    const { gateway } = await start(t, (_, response) => speak(response, [], ': wait\n\n'), {
      idle_timeout: '300ms',
    });
    const answer = await post(`${gateway.v1}/chat/completions`, ask('x', { stream: true }));
    assert.equal(answer.status, 504, answer.text);
    check_error(answer.json(), { message: /main.*300 ms/ });
  });

  test('an upstream that goes on between comments is not given up', async (t) => {
    const { gateway } = await start(
      t,
      async (_, response) => {
        speak(response, [kHead], ': ping\n\n');
        for (const letter of 'hello') {
          await new Promise((resolve) => setTimeout(resolve, 250));
          response.write(say(letter));
        }
        response.end(kFinish + 'data: [DONE]\n\n');
      },
      { idle_timeout: '700ms' },
    );
    const { data } = await stream_chat(gateway.url, ask('x'));
    assert.equal(check_stream(data).text, 'hello');
  });
});

describe('a turn ends soon after its finish', () => {
  const kEnds = {
    'and then silence': undefined,
    'and then comments': ': ping\n\n',
  };
  for (const model of ['m', 'looped']) {
    for (const [what, noise] of Object.entries(kEnds)) {
      test(`${what}, ${model}`, async (t) => {
        const { gateway, left } = await start(t, (_, response) =>
          speak(response, [kHead, say('hello'), kFinish, kUsage], noise),
        );
        const asked = ask('x', { model, stream_options: { include_usage: true } });
        const { data, ms } = await timed(() => stream_chat(gateway.url, asked));
        const turn = check_stream(data, { include_usage: true });
        assert.equal(turn.text, 'hello');
        assert.equal(turn.finish_reason, 'stop');
        assert.equal(turn.usage.total_tokens, 5);
        assert.ok(ms < 10_000, `${ms} ms`);
        await eventually('the upstream is left', () => left() === 1);
      });
    }
  }

  test('usage that comes within the grace counts', async (t) => {
    const { gateway } = await start(
      t,
      (_, response) => {
        speak(response, [kHead, say('hello'), kFinish]);
        setTimeout(() => response.write(kUsage), 200);
      },
      { finish_grace: '800ms' },
    );
    const asked = ask('x', { stream_options: { include_usage: true } });
    const { data } = await stream_chat(gateway.url, asked);
    assert.equal(check_stream(data, { include_usage: true }).usage.total_tokens, 5);
  });

  test('an upstream that goes on after a finish gets more time', async (t) => {
    const letter = (text) => chunk({ content: text }, { finish_reason: 'stop' });
    const { gateway } = await start(
      t,
      (_, response) => {
        speak(response, [kHead, letter('a')]);
        setTimeout(() => response.write(letter('b')), 60);
        setTimeout(() => response.write(letter('c')), 900);
      },
      { finish_grace: '300ms' },
    );
    const { data, ms } = await timed(() => stream_chat(gateway.url, ask('x')));
    assert.equal(check_stream(data).text, 'abc');
    assert.ok(ms > 3_000 && ms < 15_000, `${ms} ms`);
  });

  test('a whole answer is put together without waiting', async (t) => {
    const { gateway } = await start(t, (_, response) =>
      speak(response, [kHead, say('hello'), kFinish]),
    );
    const { status, text, ms } = await timed(() =>
      post(`${gateway.v1}/chat/completions`, ask('x')),
    );
    assert.equal(status, 200, text);
    assert.equal(JSON.parse(text).choices[0].message.content, 'hello');
    assert.ok(ms < 10_000, `${ms} ms`);
  });

  test('a round of a loop goes on with its tools', async (t) => {
    const { gateway, upstream } = await start(t, (_, response, i) =>
      i === 0
        ? speak(response, [kHead, kCall('c1'), chunk({}, { finish_reason: 'tool_calls' })])
        : speak(response, [kHead, say('done'), kFinish]),
    );
    const { data, ms } = await timed(() => stream_chat(gateway.url, ask('x', { model: 'looped' })));
    assert.match(data.join('\n'), /done/);
    assert.equal(upstream.requests.length, 2);
    assert.ok(ms < 10_000, `${ms} ms`);
  });
});
