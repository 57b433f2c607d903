// Clients that hold random conversations with an upstream that keeps them: turns, calls, retries, branches, and leaving in
// the middle. In the end the upstream's own account of every chat must hold, for each request, exactly the conversation
// that its client had: no turn lost, no chain forked. A client that left may have missed the end of an answer that was sent
// whole; what it says then is told to a new chat, and nothing else is.
import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatStream, fetch_text, post } from './http.mjs';

export const kChatScript = `
rule slow
  when user contains "SLOW"
  cut 3
  pace 1ms
  text "one two three four five six seven eight nine ten, and so on until the end of it"
rule tools
  when user contains "TOOLS"
  text "Let me look."
  call find {"q": "tea & more"}
  call add {"a": 19, "b": 23}
rule tool
  when user contains "TOOL"
  call find {"q": "tea"}
rule twin
  when user contains "twin"
  text "What twins are told."
rule rest
  cut 9
  text "This is what I think of it."
`;

const kTools = ['find', 'add'].map((name) => ({ type: 'function', function: { name } }));

// The same numbers in every run.
export class Random {
  #state;
  constructor(seed) {
    this.#state = seed;
  }
  below(n) {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * n);
  }
  pick(list) {
    return list[this.below(list.length)];
  }
}

export class Client {
  #agent = new http.Agent({ keepAlive: true });
  #url;
  #tries;
  requests = []; // {marker, messages, seen, how, id, ended}
  parts = new WeakSet(); // answers that were left before their end

  // `tries` is how often a request that fails is asked again.
  constructor(url, { tries = 1 } = {}) {
    this.#url = url;
    this.#tries = tries;
  }

  async ask(messages, marker, stream) {
    for (let tried = 1; ; ++tried) {
      const record = { marker, messages: [...messages], seen: true };
      this.requests.push(record);
      try {
        const message = await this.#ask_once(record, stream);
        record.ended = Date.now();
        return message;
      } catch (error) {
        record.seen = false;
        if (tried >= this.#tries) throw error;
        await sleep(20 * tried);
      }
    }
  }

  async #ask_once(record, stream) {
    const body = { model: 'm', messages: record.messages, tools: kTools };
    const options = { agent: this.#agent };
    if (stream) {
      const answer = await ChatStream.open(this.#url, body, options);
      assert.equal(answer.status, 200, record.marker);
      this.#note(record, answer);
      const data = await answer.data();
      assert.equal(data.at(-1), '[DONE]', record.marker);
      return fold(data.slice(0, -1));
    }
    const answer = await post(`${this.#url}/v1/chat/completions`, body, options);
    assert.equal(answer.status, 200, answer.text);
    this.#note(record, answer);
    return answer.json().choices[0].message;
  }

  #note(record, { headers }) {
    record.how = headers['x-callgate-session-state'];
    record.id = headers['x-request-id'];
  }

  // Leaves when `most` characters were seen. Gives what was seen.
  async ask_and_leave(messages, marker, most) {
    const record = { marker, messages: [...messages], seen: false };
    this.requests.push(record);
    const body = { model: 'm', messages, tools: kTools };
    let text = '';
    let answer;
    try {
      answer = await ChatStream.open(this.#url, body);
      record.how = answer.headers['x-callgate-session-state'];
      for await (const frame of answer) {
        if (frame.data === '[DONE]') break;
        text += JSON.parse(frame.data).choices[0].delta.content ?? '';
        if (text.length >= most) break;
      }
    } catch (error) {
      if (this.#tries === 1) throw error;
    }
    record.seen = text !== '';
    answer?.leave();
    const part = { role: 'assistant', content: text };
    this.parts.add(part);
    return part;
  }

  close() {
    this.#agent.destroy();
  }
}

function fold(data) {
  const message = { role: 'assistant', content: '' };
  for (const text of data) {
    const frame = JSON.parse(text);
    assert.ok(frame.choices, text);
    const delta = frame.choices[0]?.delta ?? {};
    message.content += delta.content ?? '';
    for (const call of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      message.tool_calls[call.index] ??= { ...call, function: { ...call.function, arguments: '' } };
      message.tool_calls[call.index].function.arguments += call.function.arguments;
    }
  }
  return message;
}

let markers = 0;

export async function hold_conversation(client, random) {
  let messages = random.below(3) === 0 ? [{ role: 'system', content: 'Be brief.' }] : [];
  const points = [messages]; // where somebody could go on
  let last = null; // the request that could be asked again
  const ask = async (marker) => {
    const stream = random.below(2) === 0;
    last = { messages, marker };
    messages = [...messages, await client.ask(messages, marker, stream)];
  };
  for (let steps = 2 + random.below(4); steps > 0; --steps) {
    if (last && random.below(5) === 0) {
      await client.ask(last.messages, last.marker, random.below(2) === 0);
      continue;
    }
    if (random.below(6) === 0) messages = random.pick(points);
    const marker = `#${++markers}#`;
    const kind = random.pick(['plain', 'plain', 'TOOL', 'TOOLS', 'SLOW']);
    const before = messages;
    messages = [...messages, { role: 'user', content: `${kind} ${marker}` }];
    if (kind === 'SLOW') {
      // Goes on from the part that it got, or as if it had never asked.
      const part = await client.ask_and_leave(messages, marker, random.below(60));
      last = null;
      messages = part.content !== '' && random.below(3) > 0 ? [...messages, part] : before;
    } else {
      await ask(marker);
    }
    while (messages.at(-1)?.tool_calls) {
      const results = messages.at(-1).tool_calls.map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: `#${++markers}#`,
      }));
      messages = [...messages, ...results];
      await ask(results[0].content);
    }
    points.push(messages);
  }
}

// What the upstream is told of messages: a single one of the user as it is, others under headings.
function told(messages, earlier) {
  if (messages.length === 1 && messages[0].role === 'user') return messages[0].content;
  const calls = [...earlier, ...messages].flatMap((message) => message.tool_calls ?? []);
  const sections = messages.map(({ role, content, tool_call_id: id, tool_calls: made }) => {
    const name = calls.find((call) => call.id === id)?.function.name;
    const lines = [role === 'tool' ? `[tool ${name} ${id}]` : `[${role}]`];
    if (content) lines.push(content);
    for (const {
      id,
      function: { name, arguments: text },
    } of made ?? [])
      lines.push(`(called ${name} ${id}: ${text})`);
    return lines.join('\n');
  });
  const replay = messages.some(({ role }) => role === 'assistant');
  return (
    (replay ? 'This is a conversation so far. Answer its last message.\n\n' : '') +
    sections.join('\n\n')
  );
}

// From the message that was told last up to the root of its chat.
function check_path(node, nodes, { messages, marker, how }, { parts, may_retell }, was_sent_whole) {
  for (let end = messages.length; ;) {
    const news = messages.slice(0, end).findLastIndex(({ role }) => role === 'assistant') + 1;
    assert.equal(node.role, 'user', marker);
    if (node.parent_id === null) {
      assert.equal(node.content, told(messages.slice(0, end), []), marker);
      assert.ok(
        news === 0 ||
          may_retell ||
          (parts.has(messages[news - 1]) && was_sent_whole(messages[news - 2])),
        `${marker} ${how}: was not known`,
      );
      return;
    }
    assert.ok(news > 0, `${marker}: the chat began earlier than the conversation`);
    assert.equal(node.content, told(messages.slice(news, end), messages.slice(0, news)), marker);
    const answer = nodes.get(node.parent_id);
    const { content, tool_calls: calls } = messages[news - 1];
    assert.equal(answer.role, 'assistant', marker);
    if (parts.has(messages[news - 1])) assert.ok(answer.content.startsWith(content), marker);
    else if (!calls) assert.equal(answer.content, content, marker);
    for (const call of calls ?? []) assert.ok(answer.content.includes(`<${call.function.name}>`));
    node = nodes.get(answer.parent_id);
    end = news - 1;
  }
}

export async function read_chats(mock) {
  const { data } = (await fetch_text(`${mock.url}/api/v2/chats`)).json();
  const chats = [];
  for (const { id } of data)
    chats.push((await fetch_text(`${mock.url}/api/v2/chats/${id}`)).json().data.messages);
  return chats;
}

// The first thing that a message says after the last answer that it tells of.
const marker_of = (text) => text.slice(text.lastIndexOf('[assistant]\n') + 1).match(/#\d+#/)?.[0];

// `may_retell`: nodes die, and what nobody knows any more is told to a new chat.
export function check_requests({ requests, parts }, chats, { may_retell = false } = {}) {
  const found = new Map();
  for (const chat of chats) {
    const nodes = new Map(chat.map((node) => [node.id, node]));
    for (const node of chat) {
      const marker = node.role === 'user' && marker_of(node.content);
      if (marker) found.set(marker, [...(found.get(marker) ?? []), { node, nodes }]);
    }
  }
  const expected = new Map();
  for (const request of requests)
    expected.set(request.marker, [...(expected.get(request.marker) ?? []), request]);
  const was_sent_whole = ({ content }) =>
    found
      .get(marker_of(content))
      .some(({ node, nodes }) =>
        [...nodes.values()].some(
          ({ parent_id, status }) => parent_id === node.id && status === 'finished',
        ),
      );
  for (const [marker, asked] of expected) {
    const told = found.get(marker) ?? [];
    if (asked.some(({ seen }) => !seen)) assert.ok(told.length <= asked.length, marker);
    else assert.equal(told.length, asked.length, `${marker} was told so often`);
    for (const { node, nodes } of told) 
      check_path(node, nodes, asked[0], { parts, may_retell }, was_sent_whole);
  }
  for (const marker of found.keys()) assert.ok(expected.has(marker), `nobody asked ${marker}`);
}

// Conversations that say the same, at the same time: they must not grow into one another.
export async function hold_twin(client, steps) {
  const messages = [];
  for (let i = 0; i < steps; ++i) {
    messages.push({ role: 'user', content: `twin ${i}` });
    messages.push(await client.ask(messages, 'twin', i % 2 === 0));
  }
}

export function check_twins(chats, count, steps) {
  const twins = chats.filter(([first]) => first.content === 'twin 0');
  assert.equal(twins.length, count);
  for (const chat of twins) {
    assert.equal(chat.length, 2 * steps);
    chat.forEach((node, i) => assert.equal(node.parent_id, i === 0 ? null : chat[i - 1].id));
  }
}

