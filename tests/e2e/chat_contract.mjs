// What every chat stream must keep to, so that all SDKs read it alike. check_stream() also folds the frames into
// what a client would have at the end.
import assert from 'node:assert/strict';

const kFinishReasons = ['stop', 'tool_calls', 'length', 'content_filter'];

class Choice {
  text = '';
  reasoning = '';
  calls = [];
  finish_reason = null;
  frames = 0;

  accept(delta, where) {
    const first = this.frames++ === 0;
    assert.equal(this.finish_reason, null, `${where}: a delta after the finish`);
    if (first) assert.equal(delta.role, 'assistant', `${where}: the first delta says the role`);
    else assert.ok(!('role' in delta), `${where}: the role comes once`);
    if (delta.content !== undefined && delta.content !== null) {
      assert.equal(typeof delta.content, 'string', `${where}: content is a string`);
      this.text += delta.content;
    }
    this.reasoning += delta.reasoning_content ?? '';
    if ('tool_calls' in delta) this.#accept_calls(delta.tool_calls, where);
  }

  #accept_calls(calls, where) {
    assert.ok(Array.isArray(calls) && calls.length === 1, `${where}: one call per delta`);
    const [call] = calls;
    assert.ok(Number.isInteger(call.index), `${where}: a call's index is an integer`);
    assert.equal(typeof call.function?.arguments, 'string', `${where}: arguments are a string`);
    if (call.index === this.calls.length) {
      assert.ok(typeof call.id === 'string' && call.id !== '', `${where}: a call has an id`);
      assert.ok(!this.calls.some((other) => other.id === call.id), `${where}: ids are unique`);
      assert.equal(call.type, 'function', `${where}: a call has a type`);
      assert.ok(
        typeof call.function.name === 'string' && call.function.name !== '',
        `${where}: a call has a name`,
      );
      this.calls.push({
        id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
      });
      return;
    }
    assert.equal(
      call.index,
      this.calls.length - 1,
      `${where}: calls are dense and never interleave`,
    );
    assert.deepEqual(
      Object.keys(call).sort(),
      ['function', 'index'],
      `${where}: id and type come once`,
    );
    assert.deepEqual(Object.keys(call.function), ['arguments'], `${where}: the name comes once`);
    this.calls.at(-1).arguments += call.function.arguments;
  }

  finish(reason, where) {
    assert.ok(kFinishReasons.includes(reason), `${where}: finish_reason ${reason}`);
    assert.equal(this.finish_reason, null, `${where}: one finish per choice`);
    this.finish_reason = reason;
    if (reason === 'stop')
      assert.deepEqual(this.calls, [], `${where}: calls finish with tool_calls`);
    if (reason === 'tool_calls')
      assert.ok(this.calls.length > 0, `${where}: tool_calls without a call`);
  }
}

function check_envelope(frame, first, where) {
  assert.equal(frame.object, 'chat.completion.chunk', where);
  assert.ok(typeof frame.id === 'string' && frame.id !== '', `${where}: id`);
  assert.ok(Number.isInteger(frame.created), `${where}: created`);
  for (const field of ['id', 'created', 'model']) {
    assert.equal(frame[field], first[field], `${where}: ${field} stays the same`);
  }
  assert.ok(Array.isArray(frame.choices), `${where}: choices is an array`);
}

function check_usage(frame, { include_usage, last }, where) {
  if (!include_usage) {
    assert.ok(!('usage' in frame), `${where}: usage although nobody asked`);
  } else if (last) {
    assert.deepEqual(frame.choices, [], `${where}: the usage frame has no choices`);
    for (const field of ['prompt_tokens', 'completion_tokens', 'total_tokens']) {
      assert.ok(Number.isInteger(frame.usage?.[field]), `${where}: usage.${field}`);
    }
  } else {
    assert.equal(frame.usage ?? null, null, `${where}: usage comes last`);
  }
}

// `data` is the data of all frames of one stream.
export function check_stream(data, { include_usage = false, n = 1 } = {}) {
  assert.equal(data.at(-1), '[DONE]', '[DONE] comes last');
  assert.equal(data.indexOf('[DONE]'), data.length - 1, 'nothing follows [DONE]');
  const frames = data.slice(0, -1).map((text) => JSON.parse(text));
  assert.ok(frames.length > 0, 'a stream has frames');
  const choices = Array.from({ length: n }, () => new Choice());
  frames.forEach((frame, i) => {
    const where = `frame ${i} ${JSON.stringify(frame)}`;
    assert.ok(!('error' in frame), `${where}: an error`);
    check_envelope(frame, frames[0], where);
    check_usage(frame, { include_usage, last: i === frames.length - 1 }, where);
    for (const choice of frame.choices) {
      assert.ok(
        Number.isInteger(choice.index) && choice.index >= 0 && choice.index < n,
        `${where}: choice index`,
      );
      assert.equal(typeof choice.delta, 'object', `${where}: delta is an object`);
      assert.ok('finish_reason' in choice, `${where}: finish_reason is always there`);
      choices[choice.index].accept(choice.delta, where);
      if (choice.finish_reason !== null) choices[choice.index].finish(choice.finish_reason, where);
    }
  });
  for (const choice of choices)
    assert.notEqual(choice.finish_reason, null, 'every choice is finished');
  const { id, model, created } = frames[0];
  return { id, model, created, choices, ...choices[0], usage: frames.at(-1).usage ?? null };
}

// The whole answer must be the fold of the stream.
export function check_whole(answer) {
  assert.equal(answer.object, 'chat.completion');
  for (const choice of answer.choices) {
    assert.equal(choice.message.role, 'assistant');
    assert.ok(
      kFinishReasons.includes(choice.finish_reason),
      `finish_reason ${choice.finish_reason}`,
    );
    assert.ok('logprobs' in choice && 'refusal' in choice.message && 'content' in choice.message);
    const ids = (choice.message.tool_calls ?? []).map((call) => call.id);
    assert.equal(new Set(ids).size, ids.length, 'ids are unique');
    assert.ok(ids.every((id) => typeof id === 'string' && id !== ''));
  }
  return answer;
}

// The error body of the OpenAI family: all four keys.
export function check_error(body, { type, param, code, message } = {}) {
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'param', 'type']);
  assert.ok(typeof body.error.message === 'string' && body.error.message !== '');
  if (type !== undefined) assert.equal(body.error.type, type);
  if (param !== undefined) assert.equal(body.error.param, param);
  if (code !== undefined) assert.equal(body.error.code, code);
  if (message !== undefined) assert.match(body.error.message, message);
  return body.error;
}
