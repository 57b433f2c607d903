// JSON as a tree that opens and closes. Text that is not JSON is shown as it is.
import { useState } from 'preact/hooks';
import { visible, visible_lines } from '../lib/bytes';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const longest = 2000; // characters of one string before it is cut
const most = 200; // members of one object before the rest is behind a button

function Scalar({ value }: { value: Json }) {
  const [all, set_all] = useState(false);
  if (typeof value !== 'string') return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>;
  const cut = !all && value.length > longest;
  return (
    <span class="json-string">
      "{visible_lines(cut ? value.slice(0, longest) : value)}"
      {cut && (
        <button type="button" class="more" onClick={() => set_all(true)}>
          {value.length - longest} more characters
        </button>
      )}
    </span>
  );
}

function Node({ name, value, open, depth }: { name: string | null; value: Json; open: number; depth: number }) {
  const [shown, set_shown] = useState(most);
  const label = name !== null && <span class="json-key">{visible(name)}</span>;
  if (value === null || typeof value !== 'object') {
    return (
      <li>
        {label} <Scalar value={value} />
      </li>
    );
  }
  const members: [string, Json][] = Array.isArray(value) ? value.map((each, i) => [String(i), each]) : Object.entries(value);
  const size = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) {
    return (
      <li>
        {label} <span class="json-size">{size}</span>
      </li>
    );
  }
  return (
    <li>
      <details open={depth < open}>
        <summary>
          {label} <span class="json-size">{size}</span>
        </summary>
        <ul>
          {members.slice(0, shown).map(([key, each]) => (
            <Node key={key} name={key} value={each} open={open} depth={depth + 1} />
          ))}
        </ul>
        {members.length > shown && (
          <button type="button" class="more" onClick={() => set_shown(shown + most)}>
            {members.length - shown} more
          </button>
        )}
      </details>
    </li>
  );
}

export function JsonTree({ text, value, open = 3 }: { text?: string; value?: unknown; open?: number }) {
  let parsed = value as Json | undefined;
  if (text !== undefined) {
    try {
      parsed = JSON.parse(text);
    } catch {
      return <pre class="text">{visible_lines(text)}</pre>;
    }
  }
  return (
    <ul class="json">
      <Node name={null} value={parsed ?? null} open={open} depth={0} />
    </ul>
  );
}
