// What the tests of the wire formats share: a recorder in front of the mock, and turns as a client sees them.
import assert from 'node:assert/strict';
import { check_stream, check_whole } from './chat_contract.mjs';
import { ChatStream, open, post } from './http.mjs';
import { start_upstream } from './upstream.mjs';

// Passes everything on to the mock and keeps what the gateway sends.
export async function start_recorder(scope, mock) {
  return start_upstream(scope, async (request, response) => {
    const { 'content-length': _, connection: __, host: ___, ...headers } = request.headers;
    const answer = await open(mock.url + request.url, {
      method: request.method,
      headers,
      body: request.text,
    });
    response.writeHead(answer.status, answer.headers);
    answer.response.pipe(response);
  });
}

// {index, id?, name?, arguments?} of a delta with a call, any other as it is.
function to_delta({ tool_calls, ...rest }) {
  if (tool_calls === undefined) return rest;
  const [{ index, id, function: made }] = tool_calls;
  return id === undefined ? { index, ...made } : { index, id, ...made };
}

// Every delta, the one with the role first and that of the finish reason last.
export async function ask_streamed(gateway, body) {
  const stream = await ChatStream.open(gateway.url, {
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const _ of stream);
  const data = stream.frames.map((frame) => frame.data);
  const folded = check_stream(data, { include_usage: true });
  const frames = data.slice(0, -1).map((each) => JSON.parse(each));
  const deltas = frames.flatMap((frame) => frame.choices).map((choice) => to_delta(choice.delta));
  return { deltas, finish: folded.finish_reason, usage: folded.usage };
}

export async function ask_whole(url, body) {
  const answer = check_whole((await post(url, body)).json());
  const [{ message, finish_reason: finish }] = answer.choices;
  return { message, finish, usage: answer.usage };
}

const ids_of = (answer) =>
  (answer.message?.tool_calls ?? answer.deltas ?? []).flatMap(({ id }) => (id ? [id] : []));

// A conversation of `turns`, each {asks, deltas, message, finish, usage, sent}: new messages, what the client gets, and what
// is new in what the upstream gets. Turns may be made from the ids of the calls so far. `body` are the other fields of the
// requests; check_request(request, sent, i) looks at what reached the upstream; `plain` takes out of an answer what no test
// can know. Gives the ids of all calls.
export async function hold_turns(pair, turns, { stream, body, check_request, plain = (x) => x }) {
  const { gateway, url, requests } = pair;
  const make_turns = typeof turns === 'function' ? turns : () => turns;
  const ids = [];
  const messages = [];
  const sent = [];
  for (let i = 0; i < make_turns(ids).length; ++i) {
    const { asks, sent: told } = make_turns(ids)[i];
    messages.push(...asks);
    sent.push(...told);
    const asked = { ...body, messages };
    const answer = stream ? await ask_streamed(gateway, asked) : await ask_whole(url, asked);
    ids.push(...ids_of(answer));
    const turn = make_turns(ids)[i];
    if (stream) {
      const wanted = [{ role: 'assistant', content: '' }, ...turn.deltas, {}];
      assert.deepEqual(plain(answer.deltas), wanted);
    } else {
      const wanted = { role: 'assistant', refusal: null, ...turn.message };
      assert.deepEqual(plain(answer.message), wanted);
    }
    assert.equal(answer.finish, turn.finish);
    assert.deepEqual(answer.usage, turn.usage);
    messages.push({ role: 'assistant', ...turn.message });
    assert.equal(requests.length, i + 1);
    check_request(requests[i], sent, i);
  }
  return ids;
}
