// Models without native tools: tools, calls and results travel in the prompt, and the client sees none of it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { one_upstream, start_gateway } from './harness.mjs';
import { ask, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kTools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Tells the weather.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const kCall = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';

// Answers with these texts in turn, in small pieces, and keeps the bodies that it got.
async function start_model(t, texts) {
  const bodies = [];
  const upstream = await start_upstream(t, async (request, response) => {
    bodies.push(JSON.parse(request.text));
    const text = texts[Math.min(bodies.length, texts.length) - 1];
    response.writeHead(200, kEventStream);
    response.write(kHead);
    for (let i = 0; i < text.length; i += 5) response.write(say(text.slice(i, i + 5)));
    response.end(kEnd);
  });
  return { upstream, bodies };
}

const gateway_for = (t, upstream, model) =>
  start_gateway(t, one_upstream(upstream.v1, { model: { tools: 'prompt', ...model } }));

describe('tools = "prompt"', () => {
  test('holds a conversation with a call, streamed', async (t) => {
    const { upstream, bodies } = await start_model(t, [`Let me look.\n${kCall}`, 'It is sunny.']);
    const gateway = await gateway_for(t, upstream, { dialect: 'hermes' });
    const first = check_stream((await stream_chat(gateway.url, ask('x', { tools: kTools }))).data);
    assert.equal(first.text, 'Let me look.');
    assert.deepEqual(first.calls.map((made) => made.arguments), ['{"city": "Paris"}']);
    assert.equal(first.finish_reason, 'tool_calls');

    const id = first.calls[0].id;
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: first.text,
        tool_calls: [
          {
            id,
            type: 'function',
            function: { name: 'get_weather', arguments: first.calls[0].arguments },
          },
        ],
      },
      { role: 'tool', tool_call_id: id, content: 'sun' },
    ];
    const second = check_stream(
      (await stream_chat(gateway.url, { model: 'm', messages, tools: kTools })).data,
    );
    assert.equal(second.text, 'It is sunny.');

    assert.ok(!('tools' in bodies[0]), 'no native tools');
    assert.match(bodies[0].messages[0].content, /^# Tools[^]*get_weather[^]*<tool_call>/);
    const [, user, assistant, result] = bodies[1].messages;
    assert.equal(user.content, 'x');
    assert.equal(assistant.content, `Let me look.\n\n${kCall}`);
    assert.equal(result.role, 'user');
    assert.equal(
      result.content,
      `<tool_response>\n{"name":"get_weather","tool_call_id":"${id}","content":"sun"}\n</tool_response>`,
    );
  });

  for (const stream of [true, false]) {
    test(`asks once more for a call that must be made, stream ${stream}`, async (t) => {
      const { upstream, bodies } = await start_model(t, ['I would rather not.', kCall]);
      const gateway = await gateway_for(t, upstream, { dialect: 'hermes' });
      const body = ask('x', { tools: kTools, tool_choice: 'required' });
      if (stream) {
        const turn = check_stream((await stream_chat(gateway.url, body)).data);
        assert.equal(turn.text, '');
        assert.equal(turn.calls.length, 1);
      } else {
        const answer = await post(`${gateway.url}/v1/chat/completions`, body);
        assert.equal(answer.json().choices[0].message.tool_calls.length, 1);
        assert.equal(answer.headers['x-callgate-warning'], undefined);
      }
      assert.equal(bodies.length, 2);
      assert.match(bodies[0].messages[0].content, /You must use a tool in this answer/);
    });
  }

  test('passes a turn on with a warning when the model refuses twice', async (t) => {
    const { upstream, bodies } = await start_model(t, ['No.']);
    const gateway = await gateway_for(t, upstream, {});
    const body = ask('x', { tools: kTools, tool_choice: 'required' });
    const { data, headers } = await stream_chat(gateway.url, body);
    assert.equal(check_stream(data).text, 'No.');
    assert.match(headers['x-callgate-warning'], /made no call/);
    assert.equal(bodies.length, 2);
  });
});

test('aliases, forced parameters and system prompts', async (t) => {
  const { upstream, bodies } = await start_model(t, ['Hi.']);
  const gateway = await start_gateway(
    t,
    one_upstream(upstream.v1, {
      model: { aliases: ['other'], system: 'drop', params: { temperature: 0.6, stop: ['x'] } },
    }),
  );
  const messages = [
    { role: 'system', content: 's' },
    { role: 'user', content: 'u' },
  ];
  const answer = await post(`${gateway.url}/v1/chat/completions`, {
    model: 'other',
    messages,
    temperature: 1,
  });
  assert.equal(answer.json().model, 'other');
  assert.deepEqual(bodies[0].messages, [{ role: 'user', content: 'u' }]);
  assert.equal(bodies[0].temperature, 0.6);
  assert.deepEqual(bodies[0].stop, ['x']);
});
