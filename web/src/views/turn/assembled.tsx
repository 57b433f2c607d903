// The request and the answer as a person reads them.
import { Badge, Empty } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { assemble, type Part, type Round, type TurnEvent } from '../../lib/anatomy';
import { visible, visible_lines } from '../../lib/bytes';
import { duration, plural } from '../../lib/format';
import type { Logged } from './turn';

interface Said {
  role: string;
  text: string;
  extra?: unknown;
}

function text_of_content(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null || content === undefined ? '' : JSON.stringify(content);
  return content.map((part) => (typeof part === 'string' ? part : (part?.text ?? part?.content ?? `[${part?.type ?? 'part'}]`))).join('\n');
}

// What was asked, in whichever protocol.
function messages_of(received: unknown): Said[] {
  if (received === null || typeof received !== 'object') return typeof received === 'string' ? [{ role: 'body', text: received }] : [];
  const body = received as Record<string, any>;
  const said: Said[] = [];
  const system = body.system ?? body.instructions ?? body.systemInstruction?.parts;
  if (system) said.push({ role: 'system', text: text_of_content(system) });
  const list = body.messages ?? body.contents ?? body.input ?? body.prompt;
  if (typeof list === 'string') said.push({ role: 'user', text: list });
  else if (Array.isArray(list)) {
    for (const message of list) {
      const text = text_of_content(message?.content ?? message?.parts ?? message?.output ?? message?.arguments ?? '');
      said.push({ role: String(message?.role ?? message?.type ?? 'message'), text, extra: message?.tool_calls });
    }
  }
  return said;
}

function tools_of(received: unknown): unknown[] {
  const tools = (received as Record<string, unknown> | null)?.tools;
  return Array.isArray(tools) ? tools : [];
}

// Events of the log, in the page's words.
function logged_parts(events: unknown): { parts: Part[]; results: Map<string, any> } {
  const parts: Part[] = [];
  const results = new Map<string, any>();
  if (!Array.isArray(events)) return { parts, results };
  for (const event of events) {
    if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') parts.push({ type: event.type, text: event.text });
    if (event.type === 'call') {
      parts.push({ type: 'call', call: { name: event.name, id: event.id, arguments: event.arguments, outcome: event.outcome, in_text: false } });
    }
    if (event.type === 'result') results.set(event.id, event);
  }
  return { parts, results };
}

export function PartView({ part, result }: { part: Part; result?: any }) {
  if (part.type !== 'call') {
    return (
      <div class={`part ${part.type}`}>
        <Badge tone={part.type === 'reasoning' ? 'think' : part.type === 'refusal' ? 'warn' : 'info'}>{part.type}</Badge>
        <pre class="text">{visible_lines(part.text)}</pre>
      </div>
    );
  }
  const { call } = part;
  return (
    <div class="part call">
      <div class="part-head">
        <Badge tone="call">call</Badge> <strong class="mono">{visible(call.name)}</strong>
        <Badge tone={call.outcome === 'complete' ? 'good' : 'warn'}>{call.outcome}</Badge>
        {call.in_text && <Badge tone="think">found in text</Badge>}
        <span class="faint mono">{visible(call.id)}</span>
      </div>
      <JsonTree text={call.arguments} />
      {result && (
        <div class="result">
          <Badge tone={result.is_error ? 'bad' : 'good'}>result</Badge> <span class="faint">{duration(result.duration_ms)}</span>
          <pre class="text">{visible_lines(result.text ?? '')}</pre>
        </div>
      )}
    </div>
  );
}

export function Assembled({ rounds, logged }: { rounds: Round[]; logged: Logged | null }) {
  const asked = messages_of(logged?.received);
  const tools = tools_of(logged?.received);
  const events: TurnEvent[] = rounds.flatMap((round) => round.steps.flatMap((step) => step.events));
  const log = logged_parts(logged?.events);
  const parts = events.length > 0 ? assemble(events.filter((event) => !event.choice)) : log.parts;
  if (asked.length === 0 && parts.length === 0) return <Empty title="Nothing is known yet">The log keeps content unless log_content is off.</Empty>;
  return (
    <div class="assembled">
      <section aria-labelledby="asked-title">
        <h2 id="asked-title">Request</h2>
        {asked.length === 0 && <p class="faint">The log has the request when the turn is over, unless content is off.</p>}
        {asked.map((message, i) => (
          <div key={i} class={`part said ${message.role}`}>
            <Badge tone={message.role === 'user' ? 'info' : message.role === 'tool' ? 'call' : 'plain'}>{visible(message.role)}</Badge>
            {message.text && <pre class="text">{visible_lines(message.text)}</pre>}
            {message.extra !== undefined && <JsonTree value={message.extra} open={4} />}
          </div>
        ))}
        {tools.length > 0 && (
          <details class="tools">
            <summary>{plural(tools.length, 'tool')} declared</summary>
            <JsonTree value={tools} open={2} />
          </details>
        )}
      </section>
      <section aria-labelledby="answer-title">
        <h2 id="answer-title">Answer</h2>
        {parts.map((part, i) => (
          <PartView key={i} part={part} result={part.type === 'call' ? log.results.get(part.call.id) : undefined} />
        ))}
        {logged?.error && (
          <div class="part error">
            <Badge tone="bad">{logged.error.code}</Badge> <pre class="text">{visible_lines(logged.error.message)}</pre>
          </div>
        )}
      </section>
    </div>
  );
}
